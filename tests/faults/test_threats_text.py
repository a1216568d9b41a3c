"""Text stays text for every dialect, streamed and not: what callers say, what models say, names, paths, headers, redirects
(T1-T3, T9, T10, T16-T20)."""

import json

import pytest

from agentui.jsonio import Json
from agentui.vendors.sse import SseDecoder
from tests.conftest import call
from tests.faults.callers import DIALECTS, Asked, Route, ask, check_whole, error_of, said_in
from tests.faults.conftest import KINDS, House, StartHouse, forward
from tests.faults.speech import EVERYWHERE, everywhere, says, strings
from tests.faults.tricks import BREAKS, CANARY, HOP, MACROS, STORED, TRICKS
from tests.unit.upstream.conftest import Bytes, Visit
from tests.upstreams.server import API_KEY, Mock

PIPELINES = ("same", "raw", "templated", *DIALECTS)
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
EVERYBODY = pytest.mark.parametrize("dialect", DIALECTS)


@STREAMED
@EVERYBODY
async def test_what_a_caller_says_in_any_place_arrives_letter_for_letter(
    hostile: House, wild: Bytes, dialect: str, stream: bool
) -> None:
    asked = everywhere(dialect, MACROS, stream=stream)
    for pipeline in PIPELINES:
        heard = await hostile.send(Asked(f"/p/{pipeline}{asked.path}", asked.headers, asked.body))
        check_whole(dialect, heard, MACROS, stream=stream)
        visit = wild.visits[-1]
        sent = "\n".join(strings(json.loads(visit.body)))
        for place in EVERYWHERE:
            if pipeline == "templated" and place in (7, 8):
                continue  # this template leaves the tools out
            # A call's arguments travel as JSON text or as an object.
            assert f"{place} {MACROS}" in sent or json.dumps(f"{place} {MACROS}")[1:-1] in sent, (pipeline, place)
        assert CANARY.encode() not in visit.head + visit.body, pipeline
        assert API_KEY.encode() not in visit.body, pipeline


@STREAMED
@EVERYBODY
async def test_text_of_any_caller_cannot_leave_its_place_in_a_template(
    hostile: House, wild: Bytes, dialect: str, stream: bool
) -> None:
    asked = ask(dialect, text=MACROS, stream=stream)
    heard = await hostile.send(Asked(f"/p/templated{asked.path}", {**asked.headers, "x-title": MACROS}, asked.body))
    check_whole(dialect, heard, MACROS, stream=stream)
    body = json.loads(wild.visits[-1].body)
    assert body["copy"] == body["user"] == body["title"] == MACROS
    assert body["quoted"] == f"a {MACROS} b"
    assert body["body"] == asked.body
    assert body["model"] == "text"
    assert body.get("stream", False) is stream
    assert [message["content"] for message in body["messages"]] == [MACROS]
    assert CANARY.encode() not in wild.visits[-1].head + wild.visits[-1].body


@STREAMED
@EVERYBODY
@pytest.mark.parametrize("provider", DIALECTS)
async def test_what_a_model_says_is_text_for_the_next_node(
    start_house: StartHouse, wild: Bytes, dialect: str, provider: str, stream: bool
) -> None:
    says(wild, MACROS)
    rows = [{"name": "HEARD", "mode": "string", "value": "[[OUT1]]|{{ OUT.n1.response_text }}"}]
    template = '{"model": "m", "messages": [{"role": "user", "content": "[[OUT1]]{{ HEARD }}"}], "result": [[OUT:n1.result]]}'
    nodes: Json = [
        {"id": "n1", "type": "ProviderCall", "config": {"provider": provider, "base_url": wild.url}},
        {"id": "n2", "type": "SetVars", "config": {"variables": rows}},
        {"id": "n3", "type": "ProviderCall", "config": {"provider": "openai", "base_url": wild.url, "template": template}},
    ]
    edges = [{"from": "n1", "to": "n2"}, {"from": "n2", "to": "n3"}]
    chain = {"format": 1, "name": "chain", "nodes": nodes, "edges": edges, "answer": "n3"}
    house = await start_house(wild.url, {"chain": chain}, secret_env=STORED)
    asked = ask(dialect, stream=stream)
    heard = await house.send(Asked(f"/p/chain{asked.path}", asked.headers, asked.body))
    check_whole(dialect, heard, MACROS, stream=stream)
    body = json.loads(wild.visits[-1].body)
    assert body["messages"] == [{"role": "user", "content": f"{MACROS}{MACROS}|{MACROS}"}]
    assert MACROS in set(strings(body["result"]))
    assert CANARY.encode() not in wild.visits[-1].head + wild.visits[-1].body


@STREAMED
@EVERYBODY
async def test_no_caller_moves_the_upstream(hostile: House, wild: Bytes, mock: Mock, dialect: str, stream: bool) -> None:
    elsewhere = dict.fromkeys(("base_url", "api_base", "baseUrl", "api_url", "endpoint", "proxy", "host", "url"), mock.origin)
    headers = {f"x-{name.replace('_', '-')}": value for name, value in elsewhere.items()} | {"x-forwarded-host": mock.origin}
    for kind in KINDS:
        asked = hostile.at(Route(dialect, kind, stream), ask(dialect, stream=stream))
        heard = await hostile.send(Asked(asked.path, {**asked.headers, **headers}, {**asked.body, **elsewhere}))
        assert heard.status in (200, 400), heard.body
        mark = "&" if "?" in asked.path else "?"
        heard = await hostile.send(Asked(f"{asked.path}{mark}base_url={mock.origin}", asked.headers, asked.body))
        check_whole(dialect, heard, MACROS, stream=stream)
    assert mock.requests == []
    assert all(visit.head.startswith(b"POST /v1") for visit in wild.visits)


@STREAMED
@pytest.mark.parametrize("dialect", ["openai", "openai_responses", "claude"])
async def test_no_line_break_of_any_caller_gets_into_a_header_or_an_address(
    start_house: StartHouse, wild: Bytes, dialect: str, stream: bool
) -> None:
    says(wild, "fine")
    headers: Json = {"x-model": "[[VAR:model]]"}
    pipelines = {
        **{f"to-{provider}": call(provider, wild.url, headers=headers) for provider in DIALECTS},
        "forward": forward(wild.url, extra_headers=headers),
        "json": forward(wild.url, extra_headers='{"x-model": "[[VAR:model]]"}'),
        "endpoint": call("openai", wild.url, endpoint="/v1/[[VAR:model]]/chat/completions"),
        "base": call("openai", wild.url + "/[[VAR:model]]"),
        "path": forward(wild.url, override_path="/[[VAR:model]]/chat/completions"),
        "text": forward(wild.url, extra_headers={"x-said": "{{ chat.last_user }}"}),
    }
    house = await start_house(wild.url, pipelines)
    for broken in BREAKS:
        for name in pipelines:
            asked = ask(dialect, "m" if name == "text" else broken, text=broken, stream=stream)
            heard = await house.send(Asked(f"/p/{name}{asked.path}", asked.headers, asked.body))
            assert heard.status in (400, 422), (name, heard.body)
            assert "X-Evil" not in error_of(dialect, heard)["message"]
    assert wild.visits == []


@STREAMED
@pytest.mark.parametrize("broken", BREAKS)
async def test_no_line_break_of_gemini_gets_into_a_header(
    start_house: StartHouse, wild: Bytes, broken: str, stream: bool
) -> None:
    says(wild, "fine")
    said: Json = {"x-said": "{{ chat.last_user }}"}
    house = await start_house(
        wild.url, {"call": call("caller", wild.url, headers=said), "raw": forward(wild.url, extra_headers=said)}
    )
    for name in ("call", "raw"):
        asked = ask("gemini", text=broken, stream=stream)
        heard = await house.send(Asked(f"/p/{name}{asked.path}", asked.headers, asked.body))
        assert heard.status == 422, heard.body
        assert "X-Evil" not in error_of("gemini", heard)["message"]
    assert wild.visits == []


@pytest.mark.parametrize("operation", ["generateContent", "streamGenerateContent", "countTokens", "embedContent"])
async def test_no_trick_in_geminis_path_reaches_an_upstream_by_any_operation(
    hostile: House, wild: Bytes, operation: str
) -> None:
    body = ask("gemini").body
    for version in ("v1", "v1beta", "v1alpha"):
        for model in TRICKS:
            for pipeline in ("same", "raw", "openai"):
                path = f"/p/{pipeline}/{version}/models/{model}:{operation}"
                heard = await hostile.send(Asked(path, ask("gemini").headers, body))
                assert heard.status in (400, 404), (path, heard.status, heard.body)
                # A path with a line break is in nobody's family.
                error_of("editor" if "%0d" in model else "gemini", heard)
    assert wild.visits == []


@STREAMED
@EVERYBODY
async def test_headers_of_the_hop_stay_here_for_every_caller(hostile: House, wild: Bytes, dialect: str, stream: bool) -> None:
    for kind in KINDS:
        asked = hostile.at(Route(dialect, kind, stream), ask(dialect, stream=stream))
        heard = await hostile.send(asked, json=asked.body, headers=HOP)
        check_whole(dialect, heard, MACROS, stream=stream)
        head = wild.visits[-1].head.decode().lower()
        names = {line.partition(":")[0] for line in head.split("\r\n")[1:]}
        assert names.isdisjoint({name.lower() for name in HOP} - {"accept-encoding"}), (kind, names)
        assert head.count("\r\nhost:") == 1
        assert "accept-encoding: identity" in head
        for private in ("1.2.3.4", "private.example", "evil.example", "session=abc"):
            assert private not in head


HOSTILE_HEADERS = {
    "Set_Cookie": "a=b",
    "Access_Control_Allow_Origin": "*",
    "Access_Control_Allow_Credentials": "true",
    "Content_Security_Policy": "default-src *",
    "Clear_Site_Data": "*",
    "Location": "https://evil.example",
    "Refresh": "0; url=https://evil.example",
    "Link": "<https://evil.example>; rel=preload",
    "Upgrade": "websocket",
    "Alt_Svc": 'h2="evil.example:443"',
    "Strict_Transport_Security": "max-age=1",
    "Www_Authenticate": "Basic",
    "Service_Worker_Allowed": "/",
    "Sourcemap": "https://evil.example/map",
    "Content_Disposition": "attachment; filename=evil.exe",
    "X_Agentui_Run": "forged",
    "X_Content_Type_Options": "none",
    "Server": "secret-server/1.0",
}


@STREAMED
@EVERYBODY
async def test_headers_of_the_upstream_stay_there_for_every_caller(
    hostile: House, wild: Bytes, dialect: str, stream: bool
) -> None:
    says(wild, "fine", **HOSTILE_HEADERS, Request_Id="req_upstream", X_Ratelimit_Remaining_Requests="7")
    ours = {"x-agentui-run", "x-content-type-options", "server"}
    for kind in KINDS:
        heard = await hostile.ask(Route(dialect, kind, stream))
        check_whole(dialect, heard, "fine", stream=stream)
        names = {name.lower() for name in heard.headers}
        assert names.isdisjoint({name.replace("_", "-").lower() for name in HOSTILE_HEADERS} - ours), (kind, names)
        assert heard.headers["x-ratelimit-remaining-requests"] == "7"
        assert heard.headers["x-agentui-run"] != "forged"
        assert heard.headers.getall("x-content-type-options") == ["nosniff"]
        assert heard.headers["server"] == "agentui"
        kinds = ("application/json", "text/event-stream")
        assert heard.headers["content-type"].startswith(kinds[stream])


PAGE = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"


@pytest.mark.parametrize(
    "kind",
    [
        "text/html",
        "image/svg+xml",
        "text/javascript",
        "application/xml",
        "application/json,text/html",
        "multipart/x-mixed-replace;boundary=a",
        "TEXT/HTML ; charset=utf-8",
        "a/b",
    ],
)
@STREAMED
@EVERYBODY
async def test_an_upstreams_page_is_never_a_page_of_ours(
    hostile: House, wild: Bytes, dialect: str, stream: bool, kind: str
) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(200, PAGE, Content_Type=kind)

    wild.script = script
    for way in KINDS:
        heard = await hostile.ask(Route(dialect, way, stream))
        if way == "raw":
            # Seed 003: a node that forwards passes on what came. No browser draws or runs it.
            assert (heard.status, heard.body) == (200, PAGE)
            assert heard.headers["content-type"] in ("text/plain; charset=utf-8", "application/octet-stream")
            assert heard.headers.getall("x-content-type-options") == ["nosniff"]
            continue
        assert heard.status == 502, (way, heard.status, heard.headers, heard.body)
        error_of(dialect, heard)
        assert b"<svg" not in heard.body


@STREAMED
@EVERYBODY
async def test_a_redirect_takes_nothing_along_for_any_caller(
    hostile: House, wild: Bytes, mock: Mock, dialect: str, stream: bool
) -> None:
    count = 0
    for status in (301, 302, 303, 307, 308):

        async def script(visit: Visit, status: int = status) -> None:
            await visit.answer(status, b"", Location=f"{mock.origin}/v1/chat/completions?key={API_KEY}")

        wild.script = script
        for kind in KINDS:
            heard = await hostile.ask(Route(dialect, kind, stream))
            count += 1
            assert heard.status == 502
            message = error_of(dialect, heard)["message"]
            assert mock.origin in message
            assert API_KEY not in message
            assert "location" not in heard.headers
    assert mock.requests == []
    assert len(wild.visits) == count


SEPARATORS = ("\n\n", "\r\n\r\n", "\r\r", "\n", "\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\0", "\ufeff")


@pytest.mark.parametrize("kind", KINDS)
@EVERYBODY
async def test_no_kind_of_line_makes_an_event(hostile: House, wild: Bytes, dialect: str, kind: str) -> None:
    forged = "".join(
        f"a{mark}event: message_stop{mark}data: [DONE]{mark}{mark}id: 1{mark}retry: 1{mark}" for mark in SEPARATORS
    )
    says(wild, forged)
    heard = await hostile.ask(Route(dialect, kind, stream=True))
    assert said_in(dialect, heard.body, stream=True) == forged
    events = SseDecoder().feed(heard.body)
    assert len([event for event in events if event.data == b"[DONE]"]) == (dialect == "openai")
    assert len([event for event in events if event.event == "message_stop"]) == (dialect == "claude")
    assert b"\nid: " not in heard.body
    assert b"\nretry: " not in heard.body
