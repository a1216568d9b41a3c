"""Keys in everything that is shown: never raw, never encoded (T7, T8, T28, T30)."""

import base64
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from yarl import URL

from agentui.jsonio import Json
from agentui.logs import set_up_logging
from agentui.pipeline.engine import RunRequest
from agentui.pipeline.sink import Sink
from agentui.redaction import Redactor
from agentui.settings import Settings
from tests.conftest import ServerState, call
from tests.faults.callers import ANOTHER, DIALECTS, Asked, Heard, ask, error_of, talking
from tests.faults.conftest import House, StartHouse, forward
from tests.unit.upstream.conftest import Bytes, Visit
from tests.upstreams.server import Mock

CALLERS = "sk-caller+canary/0123456789=abcdef~Zyx"
STORED = "sk-stored+canary/9876543210=fedcba~Qrs"
WRITTEN = "sk-written-canary-24681012141618"
SEALED = "sk-sealed-canary-13579111315171"
SECRETS = (CALLERS, STORED, WRITTEN)


def forms(secret: str) -> set[bytes]:
    """How a secret may look: raw, in a URL, in JSON, in hex, and in base64 at each of three places."""
    raw = secret.encode()
    found = {raw, quote(secret, safe="").encode(), quote(secret).encode(), raw.hex().encode()}
    for offset in range(3):
        whole = base64.b64encode(b"abc"[:offset] + raw + b"z" * (3 - (offset + len(raw)) % 3))
        found.add(whole[4:-4])
        found.add(base64.urlsafe_b64encode(b"abc"[:offset] + raw)[4:-4])
    return found


def check_clean(shown: bytes | str, *secrets: str) -> None:
    """Fail when any secret stands in the text in any form."""
    data = shown.encode() if isinstance(shown, str) else shown
    for secret in secrets or SECRETS:
        for form in forms(secret):
            assert form not in data, (form, data[max(0, data.find(form) - 100) :][:300])


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a real log's stream receives, at the level where most is told."""
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    monkeypatch.setattr("sys.stderr", stream)
    set_up_logging(Redactor(), Settings(log_level="debug"))
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def log_of(state: ServerState) -> None:
    """Let the log know what the server knows, as the command line does."""
    set_up_logging(state.redactor, Settings(log_level="debug"))


async def show(visit: Visit) -> None:
    """Refuse, repeating every credential in every spelling."""
    head = visit.head.decode()
    lines = [
        line
        for line in head.split("\r\n")
        if line.lower().startswith(("authorization", "x-api-key", "x-goog-api-key", "x-own"))
    ]
    values = [line.partition(": ")[2] for line in lines]
    bare = [value.removeprefix("Bearer ") for value in values]
    encoded = [base64.b64encode(value.encode()).decode() for value in bare] + [quote(value, safe="") for value in bare]
    message = f"Incorrect API key provided: {' '.join([*values, *bare, *encoded])}. You sent {head}"
    fields = {
        "message": message,
        "type": bare[0] if bare else "x",
        "param": message,
        "code": message,
        "status": "UNAUTHENTICATED",
    }
    body = json.dumps({"type": "error", "error": fields, "details": [message], message: message}).encode()
    await visit.answer(401, body, Content_Type="application/json", X_Request_Id=bare[0] if bare else "none")


@pytest.fixture
async def leaky(start_house: StartHouse, wild: Bytes, log: io.StringIO) -> House:
    """A proxy with keys in every place, before an upstream that repeats them."""
    wild.script = show
    stored: Json = {"Authorization": "Bearer [[SECRET:provider]]"}
    written: Json = {"x-own": "[[VAR:incoming.api_key]]", "authorization": f"Bearer {WRITTEN}"}
    pipelines = {
        "stored": call("openai", wild.url, headers=stored),
        "stored-claude": call("claude", wild.url, headers={"x-api-key": "[[SECRET:provider]]"}),
        "stored-raw": forward(wild.url, extra_headers=stored),
        "written": call("openai", wild.url, headers=written),
        "written-raw": forward(wild.url, extra_headers=written),
        "in-url": call("gemini", wild.url, endpoint="/v1beta/models/m:generateContent?key=[[SECRET:provider]]"),
        "set": set_vars(wild.url),
    }
    house = await start_house(wild.url, pipelines, secret_env={"AGENTUI_SECRET_PROVIDER": STORED})
    log_of(house.server.state)
    return house


def set_vars(base_url: str) -> Json:
    """A pipeline that puts the caller's key into variables and the body."""
    rows = [{"name": "KEY", "mode": "string", "value": "key [[VAR:incoming.api_key]] {{ incoming.headers }}"}]
    template = '{"model": "m", "messages": [{"role": "user", "content": "[[KEY]]"}], "all": {{ incoming.headers }}}'
    nodes: Json = [
        {"id": "n1", "type": "SetVars", "config": {"variables": rows}},
        {"id": "n2", "type": "ProviderCall", "config": {"provider": "openai", "base_url": base_url, "template": template}},
    ]
    return {"format": 1, "name": "set", "nodes": nodes, "edges": [{"from": "n1", "to": "n2"}], "answer": "n2"}


async def api(house: House, path: str) -> Heard:
    """What the editor reads."""
    async with house.session.get(URL(house.origin + path, encoded=True)) as reply:
        return Heard(reply.status, reply.headers, await reply.read())


async def everything_shown(house: House) -> bytes:
    """All that the editor can read of the runs so far, and of the server."""
    shown = [await api(house, path) for path in ("/api/runs", "/api/settings", "/api/secrets", "/api/context-names")]
    for run in json.loads(shown[0].body):
        whole = await api(house, f"/api/runs/{run['id']}")
        shown += [whole, await api(house, f"/api/runs/{run['id']}/events")]
        for event in whole.json["events"]:
            shown.append(await api(house, f"/api/runs/{run['id']}/events/{event['seq']}"))
    assert {heard.status for heard in shown} <= {200, 204}
    return b"\n".join(heard.body for heard in shown)


EVERY_PIPELINE = [
    "same", "raw", "openai", "openai_responses", "claude", "gemini", "stored", "stored-claude", "stored-raw", "written",
    "written-raw", "in-url", "set",
]  # fmt: skip


@pytest.mark.parametrize("pipeline", EVERY_PIPELINE)
async def test_a_key_that_an_upstream_repeats_is_shown_nowhere(
    leaky: House, wild: Bytes, log: io.StringIO, pipeline: str
) -> None:
    secrets = SECRETS if "written" in pipeline else (CALLERS, STORED)
    for dialect in DIALECTS:
        for stream in (False, True):
            asked = ask(dialect, stream=stream, key=CALLERS)
            heard = await leaky.send(Asked(f"/p/{pipeline}{asked.path}", asked.headers, asked.body))
            assert heard.status == 401, heard.body
            check_clean(heard.body, *secrets)
            check_clean(repr(heard.headers), *secrets)
            assert b"***" in heard.body
    check_clean(await everything_shown(leaky), *secrets)
    check_clean(log.getvalue(), *secrets)
    assert all(b"canary" in visit.head for visit in wild.visits)


@pytest.mark.parametrize("pipeline", ["same", "raw", "openai", "set"])
async def test_a_key_in_the_query_is_shown_nowhere(leaky: House, wild: Bytes, log: io.StringIO, pipeline: str) -> None:
    asked = ask("gemini")
    path = f"/p/{pipeline}{asked.path}?key={quote(CALLERS, safe='')}"
    heard = await leaky.send(Asked(path, {}, asked.body))
    assert heard.status == 401
    check_clean(heard.body)
    also = await leaky.send(Asked(path, {"x-goog-api-key": STORED}, asked.body))
    check_clean(also.body)
    check_clean(await everything_shown(leaky))
    check_clean(log.getvalue())
    for visit in wild.visits:
        assert b"key=" not in visit.head.split(b"\r\n")[0]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_refusal_of_ours_repeats_no_key(leaky: House, wild: Bytes, log: io.StringIO, dialect: str) -> None:
    asked = ask(dialect, key=CALLERS)
    spoiled: list[dict[str, object]] = [
        {"data": b"{" + CALLERS.encode()},
        {"data": b"{}", "headers": {"content-type": CALLERS}},
        {"json": {**asked.body, "model": CALLERS + "\n", "messages": CALLERS, "contents": CALLERS, "input": 3}},
        {"json": [CALLERS]},
    ]
    for sent in spoiled:
        heard = await leaky.send(asked, **sent)
        assert heard.status >= 400
        error_of(dialect, heard)
        check_clean(heard.body)
    for path in (f"/v1/{CALLERS}", f"/p/{quote(CALLERS, safe='')}{asked.path}", f"/nothing?key={CALLERS}"):
        heard = await leaky.send(Asked(path, asked.headers, asked.body))
        assert heard.status in (404, 405)
        check_clean(heard.body)
    check_clean(await everything_shown(leaky))
    check_clean(log.getvalue())


async def test_a_key_that_stands_twice_in_an_address_is_hidden_each_time(leaky: House) -> None:
    rows = [{"name": "ASKED", "mode": "string", "value": "{{ incoming.query_lists }}"}]
    leaky.server.put(
        "asked", {"format": 1, "name": "asked", "nodes": [{"id": "n1", "type": "SetVars", "config": {"variables": rows}}]}
    )
    asked = ask("openai")
    await leaky.send(Asked(f"/p/asked{asked.path}?key={quote(CALLERS, safe='')}&key={WRITTEN}&key=", asked.headers, asked.body))
    shown = await everything_shown(leaky)
    assert b"ASKED" in shown
    check_clean(shown, CALLERS, WRITTEN)


async def test_a_fault_of_our_own_is_logged_without_the_key_and_shown_without_anything(
    leaky: House, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(request: RunRequest, sink: Sink) -> None:
        """Fail as only a mistake of ours could, with a key in its words."""
        raise KeyError(request.incoming.api_key)

    monkeypatch.setattr(leaky.server.state.engine, "run", fail)
    asked = ask("openai", CALLERS, key=CALLERS)
    heard = await leaky.send(asked)
    assert heard.status == 500
    assert heard.json["error"]["code"] == "internal_error"
    assert heard.headers["x-request-id"] in heard.json["error"]["message"]
    assert heard.headers["x-request-id"] in log.getvalue()
    assert "Traceback" in log.getvalue()
    assert "KeyError" in log.getvalue()
    assert "Traceback" not in heard.body.decode()
    assert "agentui/" not in heard.body.decode()
    check_clean(heard.body)
    check_clean(log.getvalue())


@pytest.mark.parametrize("pipeline", ["stored", "stored-raw", "in-url", "set", "written", "written-raw"])
async def test_a_preview_shows_no_key(leaky: House, wild: Bytes, log: io.StringIO, pipeline: str) -> None:
    asked = ask("openai", key=CALLERS)
    body = {
        "node": "n2" if pipeline == "set" else "n1",
        "pipeline": pipeline,
        "request": {"path": asked.path, "headers": dict(asked.headers), "body": asked.body},
    }
    async with leaky.session.post(leaky.origin + "/api/preview", json=body) as reply:
        shown = await reply.read()
        assert reply.status == 200, shown
    # What stands in the pipeline's own text is no secret to its editor.
    check_clean(shown, CALLERS, STORED)
    check_clean(log.getvalue())
    assert wild.visits == []


async def test_sealed_keys_are_readable_in_no_file(leaky: House) -> None:
    secrets = leaky.server.state.services.secrets
    secrets.set("sealed", SEALED, ["https://api.openai.com"])
    assert secrets.get("sealed").value == SEALED
    files = [path for path in leaky.server.data.rglob("*") if path.is_file()]
    assert {"secrets.json", "secret.key"} <= {path.name for path in files}
    for path in files:
        check_clean(path.read_bytes(), SEALED, STORED, CALLERS)
    assert is_private(leaky.server.data / "secrets.json")
    assert is_private(leaky.server.data / "secret.key")
    listed = await api(leaky, "/api/secrets")
    assert {"sealed", "provider"} <= {line["name"].lower() for line in listed.json}
    check_clean(listed.body, SEALED, STORED)


def is_private(path: Path) -> bool:
    """Whether only the owner may read a file."""
    return not path.stat().st_mode & 0o077


async def test_a_stored_key_goes_to_its_own_origin_only(start_house: StartHouse, wild: Bytes, log: io.StringIO) -> None:
    wild.script = show
    bound = {"AGENTUI_SECRET_PROVIDER": STORED, "AGENTUI_SECRET_PROVIDER_ORIGINS": "https://api.openai.com"}
    pipelines = {
        "stored": call("openai", wild.url, headers={"Authorization": "Bearer [[SECRET:provider]]"}),
        "raw-stored": forward(wild.url, extra_headers={"x-api-key": "[[SECRET:provider]]"}),
        "in-path": forward(wild.url, override_path="/v1/[[SECRET:provider]]"),
    }
    house = await start_house(wild.url, pipelines, secret_env=bound)
    for name in pipelines:
        asked = ask("openai", key=CALLERS)
        heard = await house.send(Asked(f"/p/{name}{asked.path}", asked.headers, asked.body))
        assert heard.status == 403
        check_clean(heard.body)
    assert wild.visits == []
    check_clean(await everything_shown(house))


async def test_the_servers_own_token_is_shown_nowhere(start_house: StartHouse, wild: Bytes, log: io.StringIO) -> None:
    wild.script = show
    house = await start_house(wild.url, token=STORED)
    log_of(house.server.state)
    headers = {"x-agentui-token": STORED}
    for dialect in DIALECTS:
        asked = ask(dialect, key=CALLERS)
        heard = await house.send(asked, headers=headers)
        assert heard.status == 401
        check_clean(heard.body)
    for path in (
        "/api/settings",
        "/api/runs",
        "/api/secrets",
        f"/nothing/{quote(STORED, safe='')}?key={quote(STORED, safe='')}",
    ):
        async with house.session.get(URL(house.origin + path, encoded=True), headers=headers) as reply:
            check_clean(await reply.read())
    check_clean(log.getvalue())
    assert STORED.encode() not in b"".join(visit.head for visit in wild.visits)


async def test_malformed_requests_leave_no_key_in_the_log(leaky: House, log: io.StringIO) -> None:
    for line in ("Authorization: Bearer ", "x-api-key: ", "Cookie: a="):
        async with talking(leaky.origin) as (reader, writer):
            writer.write(f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n{line}{CALLERS}\nX: y\r\n\r\n".encode())
            check_clean(await reader.read())
    check_clean(log.getvalue())
    assert "malformed" in log.getvalue()


async def test_an_error_within_a_stream_repeats_no_key(leaky: House, wild: Bytes, log: io.StringIO) -> None:
    async def script(visit: Visit) -> None:
        events = [
            {"choices": [{"index": 0, "delta": {"content": "Hello"}}]},
            {"error": {"message": f"bad key {CALLERS} {base64.b64encode(CALLERS.encode()).decode()}", "code": CALLERS}},
        ]
        data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
        await visit.answer(200, data, Content_Type="text/event-stream")

    wild.script = script
    for dialect in ANOTHER:
        asked = ask(dialect, stream=True, key=CALLERS)
        heard = await leaky.send(Asked(f"/p/openai{asked.path}", asked.headers, asked.body))
        assert heard.status == 200
        assert b"bad key ***" in heard.body
        check_clean(heard.body)
    check_clean(await everything_shown(leaky))


async def test_our_log_is_one_line_an_event(log: io.StringIO) -> None:
    logging.getLogger("agentui.test").warning("first\nsecond=forged level=error")
    logging.getLogger("aiohttp.server").warning("Authorization: Bearer %s", CALLERS)
    try:
        raise ValueError(f"x-api-key: {CALLERS}")
    except ValueError:
        logging.getLogger("asyncio").exception("Task exception was never retrieved")
    lines = [line for line in log.getvalue().splitlines() if "level=debug" not in line]
    assert len(lines) == 3, lines
    assert "ValueError" in lines[2]
    assert "Traceback" in lines[2]
    check_clean(log.getvalue())


async def test_a_whole_answer_may_be_forwarded_to_who_sent_the_key(house: House, mock: Mock) -> None:
    heard = await house.send(ask("openai"))
    assert heard.status == 200
    check_clean(heard.body)


@pytest.mark.parametrize("dialect", ["openai", "claude"])
async def test_a_caller_moves_no_key_to_another_host_or_path(start_house: StartHouse, wild: Bytes, dialect: str) -> None:
    """A value of the request stands in a URL as one segment, and a key that is bound nowhere wants a host that is written."""
    stored: Json = {"Authorization": "Bearer [[SECRET:provider]]"}
    pipelines = {
        "path": call("openai", wild.url, endpoint="/openai/deployments/{{ model }}/chat", headers=stored),
        "raw-path": forward(wild.url, override_path="/openai/deployments/{{ model }}/chat", extra_headers=stored),
        "host": call("openai", "http://{{ model }}:" + str(URL(wild.url).port) + "/v1", headers=stored),
        "raw-host": forward("[[VAR:model]]", extra_headers=stored),
    }
    house = await start_house(wild.url, pipelines, secret_env={"AGENTUI_SECRET_PROVIDER": STORED})
    for name in ("path", "raw-path"):
        asked = ask(dialect, "gpt/../../../other?")
        await house.send(Asked(f"/p/{name}{asked.path}", asked.headers, asked.body))
    assert wild.visits
    assert all(visit.head.startswith(b"POST /openai/deployments/gpt%2F..%2F..%2F..%2Fother%3F/chat ") for visit in wild.visits)
    seen = len(wild.visits)
    for name, model in (("host", "127.0.0.1"), ("raw-host", wild.url)):
        asked = ask(dialect, model)
        heard = await house.send(Asked(f"/p/{name}{asked.path}", asked.headers, asked.body))
        assert heard.status == 403
        assert "bound to no origin" in error_of(dialect, heard)["message"]
    assert len(wild.visits) == seen
