"""A client names its chat in a header, in the body or in the base URL; what it says there goes no further."""

from itertools import product

from tests.api.callers import DIALECTS, Caller
from tests.faults.callers import ask
from tests.turns.house import House


async def test_the_body_names_the_chat_in_every_dialect(house: House) -> None:
    for dialect, pipeline in product(DIALECTS, ("plain", "raw", "claude")):
        said = {"session": f"a tale by {dialect} and {pipeline}", "branch": "main", "intent": "normal"}
        got = await house.caller(dialect, pipeline).ask("Hello", agentui=said)
        assert got.status == 200, got.body
        floor = await house.memory.get(f"/floors/{got.headers['x-agentui-floor']}")
        assert (await house.memory.get(f"/sessions/{floor['session_id']}"))["title"] == said["session"]
        assert "agentui" not in house.mock.last.body


async def test_what_the_body_says_of_the_chat_is_checked(house: House) -> None:
    for said in ("a tale", ["a tale"], {"session": 1}, {"chat": "a tale"}, {"session": "a\0b"}):
        got = await house.caller().ask("Hello", agentui=said)
        assert got.status == 400 and b"agentui" in got.body, got.body
    assert (await house.caller().ask("Hello", agentui=None)).status == 200
    assert await house.memory.get("/sessions") == []


async def test_the_base_url_names_the_chat(house: House) -> None:
    prefixes = ("/s/a%20tale%20{}", "/p/plain/s/a%20tale%20{}", "/s/a%20tale%20{}/p/plain")
    for number, (dialect, prefix) in enumerate(product(DIALECTS, prefixes)):
        caller = Caller(dialect, house.server.origin, prefix=prefix.format(number))
        for stream in (False, True):
            got = await caller.ask("Hello", stream=stream)
            assert got.status == 200, got.body
        sessions = await house.memory.get("/sessions?limit=100")
        assert {session["title"] for session in sessions} == {f"a tale {each}" for each in range(number + 1)}
        assert house.mock.last.path.startswith(ask(dialect).path.partition("?")[0][:4])


async def test_a_header_counts_more_than_the_body_and_the_body_more_than_the_url(house: House) -> None:
    url = Caller("openai", house.server.origin, prefix="/s/url")
    await url.ask("Hello", agentui={"session": "body"})
    both = Caller("openai", house.server.origin, prefix="/s/url", headers={"x-agentui-session": "header"})
    await both.ask("Hello", agentui={"session": "body"})
    assert {session["title"] for session in await house.memory.get("/sessions")} == {"body", "header"}


async def test_models_are_listed_below_every_prefix(house: House) -> None:
    for prefix in ("", "/s/tale", "/p/plain/s/tale", "/p/plain+memory"):
        status, body = await house.memory.call("GET", f"{prefix}/v1/models")
        assert status == 200 and any(model["id"] == "pipeline/plain" for model in body["data"])
