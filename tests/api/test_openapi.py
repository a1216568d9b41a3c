"""The OpenAPI document says what the server does: every route, and nothing else."""

from pathlib import Path

import pytest
from openapi_spec_validator import validate

from agentui import __version__
from agentui.api.ops.openapi import build_openapi, first_sentence
from agentui.jsonio import Json
from agentui.serving.application import create_app
from agentui.settings import Settings
from tests.api.chats.forms import DOCUMENT
from tests.api.editor_client import editing, say
from tests.conftest import StartServer

PAGES = ("/", "/ui", "/favicon.ico")


def settings_in(folder: Path, **fields: Json) -> Settings:
    return Settings(pipelines=folder / "pipelines", presets=folder / "presets", data=folder / "data", **fields)


def test_the_document_is_valid_with_and_without_a_token(tmp_path: Path) -> None:
    closed = build_openapi(settings_in(tmp_path, token="a-long-access-token"))
    validate(closed)
    # Without a token it is the same, but for what asks for one; so it is valid too.
    assert closed.pop("security") == [{"bearer": []}, {"token": []}]
    assert [closed["paths"][path]["get"].pop("security") for path in ("/health", "/ready", "/version")] == [[], [], []]
    assert closed == DOCUMENT
    # What accounts may be shown by, and what needs nothing of it.
    shared = build_openapi(settings_in(tmp_path, auth_mode="api_key", auth_api_keys="an-operators-key"))
    assert [*map(list, shared.pop("security"))] == [["bearer"], ["token"], ["client_key"], ["sign_in"]]
    public = {path for path, each in shared["paths"].items() for operation in each.values() if "security" in operation}
    assert public == {"/health", "/ready", "/version", "/openapi.json", "/auth/ways", "/auth/sign-in", "/auth/sign-in/begin"}


async def test_the_documents_routes_are_the_servers_routes(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    app = create_app(settings)
    served = {
        (route.method, route.resource.canonical)
        for route in app.router.routes()
        if route.resource is not None and route.method != "HEAD" and not _is_left_out(route.resource.canonical)
    }
    described = {(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert described == served


def _is_left_out(path: str) -> bool:
    return path in PAGES or path.startswith("/ui/") or "/s/{session}" in path


def test_every_operation_has_a_sentence_and_a_name_of_its_own() -> None:
    operations = [operation for methods in DOCUMENT["paths"].values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert all(operation["summary"].endswith(".") for operation in operations)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two.", "One."),
        ("Over\n    two lines.\n\n    More.", "Over two lines."),
        ("Of v1.2 and e.g.x it says much. More", "Of v1.2 and e.g.x it says much."),
        ("No end", "No end"),
        ("", ""),
    ],
)
def test_a_summary_is_the_first_sentence(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


async def test_the_editors_answers_have_the_fields_that_the_document_promises(start_server: StartServer) -> None:
    server = await start_server({"default": say()})
    async with editing(server) as editor:
        document = (await editor.get("/openapi.json")).body
        schemas = document["components"]["schemas"]
        await editor.chat()
        run = await editor.only_run()
        pairs = [
            ("DocumentState", (await editor.get("/api/pipelines/default")).body),
            ("DocumentLine", (await editor.get("/api/pipelines")).body[0]),
            ("Version", (await editor.get("/api/pipelines/default/versions")).body[0]),
            ("VersionState", (await editor.get("/api/pipelines/default/versions/1")).body),
            ("NodeType", (await editor.get("/api/node-types")).body[0]),
            ("Verdict", (await editor.post("/api/validate", {"document": {}})).body),
            ("Problem", (await editor.post("/api/validate", {"document": {}})).body["problems"][0]),
            ("RunSummary", run),
            ("Template", (await editor.get("/api/templates")).body[0]),
            ("SampleRequest", (await editor.get(f"/api/runs/{run['id']}/request")).body),
            ("SettingsState", (await editor.get("/api/settings")).body),
            ("ContextNames", (await editor.get("/api/context-names")).body),
            ("Preview", (await editor.post("/api/preview", {"node": "n1", "run_id": run["id"]})).body),
            ("Health", (await editor.get("/health")).body),
            ("ServerVersion", (await editor.get("/version")).body),
        ]
    tried = document["paths"]["/api/try"]["post"]["responses"]["200"]["content"]
    assert set(tried) == {"application/json", "text/event-stream"}
    for name, body in pairs:
        assert set(body) == set(schemas[name]["properties"]), name


async def test_the_version_is_told_to_anybody_and_nothing_of_what_it_runs_on(start_server: StartServer) -> None:
    async with editing(await start_server()) as editor:
        assert (await editor.get("/version")).body == {"version": __version__, "service": "agentui"}
