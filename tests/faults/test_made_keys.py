"""What filters make of a key is a key: it goes upstream as it was made, and is shown nowhere."""

from collections.abc import AsyncIterator

import pytest

from agentui.jsonio import Json
from agentui.templating.hadtavern.filters import FILTERS
from tests.api.editor_client import Editor, editing
from tests.conftest import StartServer, call
from tests.upstreams.server import API_KEY, Mock

KEY = "sk-Caller-aBcDeF-0123456789"
STORED = "sk-Stored-gHiJkL-9876543210"
DIGITS = "271828182845904"
BODY = '{"model": "text", "messages": [{"role": "user", "content": "MACRO"}]}'
HEADERS = {"authorization": f"Bearer {KEY}", "x-api-key": DIGITS}

MAKES: dict[str, tuple[str, str]] = {
    "json": ("|json", f'"{KEY}"'),
    "string": ("|string", KEY),
    "add": ("|replace(incoming.api_keys.authorization, incoming.headers.x-api-key)", KEY),
    "trim": ("|trim", KEY),
    "upper": ("|upper", KEY.upper()),
    "lower": ("|lower", KEY.lower()),
    "join": ('|join("+")', KEY),
    "replace": ('|replace("-", "_")', KEY.replace("-", "_")),
    "truncate": ("|truncate(14)", KEY[:14]),
    "truncate, marked": ('|truncate(14, "...")', KEY[:11] + "..."),
    "several": ('|upper|replace("-", ":")|truncate(20)', KEY.upper().replace("-", ":")[:20]),
    "default": ('|default("")', KEY),
}
"""Filters behind a key, and what they make of it."""
HARMLESS = {"length", "first", "last", "int", "float"}
"""Filters that make one character or a number."""


def test_every_filter_is_asked_here() -> None:
    assert FILTERS.keys() <= MAKES.keys() | HARMLESS


def chain(base_url: str, rows: list[Json], **config: Json) -> Json:
    """A pipeline that sets variables, and asks a model with them."""
    variables = {"id": "n1", "type": "SetVars", "config": {"variables": rows}}
    [asking] = call("openai", base_url, model="text", **config)["nodes"]
    edges = [{"from": "n1", "to": "n2"}]
    return {"format": 1, "name": "chain", "nodes": [variables, {**asking, "id": "n2"}], "edges": edges}


def row(value: str, name: str = "MADE", **more: Json) -> Json:
    """A variable."""
    return {"name": name, "mode": "string", "value": value, **more}


def asking(text: str) -> list[Json]:
    """A block."""
    return [{"role": "user", "text": text}]


@pytest.fixture
async def editor(start_server: StartServer, mock: Mock) -> AsyncIterator[Editor]:
    server = await start_server({"default": call("openai", mock.origin)})
    async with editing(server) as editor:
        yield editor


def sample(text: str = "Hello!") -> Json:
    """A caller's request."""
    return {"headers": HEADERS, "body": {"model": "text", "messages": [{"role": "user", "content": text}]}}


async def everything_shown(editor: Editor, document: Json, asked: Json) -> str:
    """All that the editor shows of a document and of a run of it."""
    texts = []
    for node in document["nodes"]:
        shown = await editor.post("/api/preview", {"document": document, "node": node["id"], "request": asked})
        texts.append(shown.text)
    answer = await editor.post("/api/try", {"document": document, "request": asked})
    run = answer.headers["x-agentui-run"]
    texts.append((await editor.get(f"/api/runs/{run}")).text)
    events = (await editor.get(f"/api/runs/{run}")).body["events"]
    texts += [(await editor.get(f"/api/runs/{run}/events/{number}")).text for number in range(len(events))]
    return "\n".join(texts)


@pytest.mark.parametrize("form", MAKES)
@pytest.mark.parametrize("place", ["block", "template", "header", "variable"])
async def test_what_a_filter_makes_of_a_key_goes_upstream_and_is_shown_nowhere(
    editor: Editor, mock: Mock, form: str, place: str
) -> None:
    filters, made = MAKES[form]
    macro = f"{{{{ incoming.api_keys.authorization|replace('Bearer ', ''){filters} }}}}"
    if form == "add":
        macro, made = "{{ incoming.headers.x-api-key|add(1) }}", str(int(DIGITS) + 1)
    documents = {
        "block": chain(mock.origin, [], blocks=asking(f"It is {macro}!")),
        "template": chain(mock.origin, [], template=BODY.replace("MACRO", macro)),
        "header": chain(mock.origin, [], headers={"openai-organization": macro}),
        "variable": chain(mock.origin, [row(macro)], blocks=asking("It is [[MADE]]! And {{ MADE|lower }}, {{ [MADE]|json }}.")),
    }
    if place == "template" and '"' in filters + macro:
        documents["template"] = chain(mock.origin, [row(macro)], template=BODY.replace("MACRO", "[[MADE]]"))
    shown = await everything_shown(editor, documents[place], sample())
    sent = mock.last
    assert made.replace('"', "").lower() in f"{sent.headers} {sent.body}".replace("\\", "").replace('"', "").lower()
    assert made.strip('"').lower() not in shown.lower(), shown
    assert KEY not in shown


async def test_a_key_in_a_long_text_is_found_in_what_filters_make_of_it(editor: Editor, mock: Mock) -> None:
    document = chain(
        mock.origin, [row("{{ chat.last_user|replace('KEY', incoming.api_key)|upper }}")], blocks=asking("[[MADE]]")
    )
    shown = await everything_shown(editor, document, sample("My KEY. " * 4000))
    assert DIGITS not in shown
    body = {**sample()["body"], "padding": "x" * 40_000}
    document = chain(mock.origin, [row("{{ incoming|json|upper }}")], blocks=asking("[[MADE]]"))
    shown = await everything_shown(editor, document, {**sample(), "body": body})
    assert KEY.upper() not in shown and DIGITS not in shown


async def test_an_error_of_a_preview_shows_no_key_of_its_sample(editor: Editor) -> None:
    editor.server.state.services.secrets.set("mine", STORED, ["https://api.example.com"])
    config = {"headers": {"authorization": "[[SECRET:mine]]"}, "model": "text"}
    document = call("openai", "http://{{ incoming.api_keys.authorization|replace('Bearer ', '')|upper }}.test", **config)
    answer = await editor.post("/api/preview", {"document": document, "node": "n1", "request": sample()})
    assert answer.status == 403 and KEY.lower() not in answer.text.lower() and STORED not in answer.text


@pytest.mark.parametrize("tier", ["global", "chat", "branch"])
async def test_a_key_is_stored_in_no_tier(editor: Editor, mock: Mock, tier: str) -> None:
    rows = [
        row("{{ incoming.headers.authorization|upper }}", "kept", tier=tier),
        {"name": "deep", "mode": "json", "value": '{"a": ["[[VAR:incoming.headers.authorization]]", 1]}', "tier": tier},
        row("{{ incoming.api_key }}", "deep.b", tier=tier),
    ]
    own = {"authorization": f"Bearer {API_KEY}"}
    document = chain(mock.origin, rows, headers=own, blocks=asking("{{ kept }} {{ deep.a[0] }}"))
    asked = sample()
    asked["headers"] = {**HEADERS, "x-agentui-session": "s"}
    answer = await editor.post("/api/try", {"document": document, "request": asked})
    assert answer.status == 200
    assert mock.last.body["messages"][-1]["content"] == f"BEARER {KEY.upper()} Bearer {KEY}"
    session = answer.headers["x-agentui-session"]
    stored = await editor.get(f"/variables?scope={tier}")
    assert {line["key"] for line in stored.body["data"]} == {"kept", "deep"}
    resolved = await editor.get(f"/variables/resolve?session_id={session}&include_layers=true")
    run = await editor.get(f"/api/runs/{answer.headers['x-agentui-run']}")
    for shown in (stored, resolved, run):
        assert KEY.lower() not in shown.text.lower() and DIGITS not in shown.text
    assert "Variable 'kept' holds a key." in run.text
