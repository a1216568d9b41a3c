"""Keys that a model repeats in its words: what is kept of them and shown to others holds none, in one piece or in several."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.redaction import SHORTEST, Redactor, _forms
from tests.campaigns.answers import telling
from tests.campaigns.scanner import Scanner, captured_log
from tests.conftest import call
from tests.faults.callers import DIALECTS, Asked, ask
from tests.faults.conftest import House, StartHouse, forward
from tests.faults.test_secrets import everything_shown
from tests.unit.upstream.conftest import Bytes, Visit

KEY = "sk-Zq81+jH3/aBcD~99xYwVuTsRqPoN=end"
STORED = "sk-Stored77+kLmNoP/qRsT~UvWxYz0123=fin"


def test_the_beginning_of_a_key_is_known_as_one() -> None:
    redactor = Redactor()
    redactor.register(STORED)
    child = redactor.child()
    child.register(KEY)
    assert child.unfinished("") == 0
    assert child.unfinished("nothing here.") == 0
    assert child.unfinished(f"it is {KEY[:5]}") == 5
    assert child.unfinished(f"it is {STORED[:-1]}") == len(STORED) - 1
    assert child.unfinished(f"it is {KEY}") == 0
    assert child.unfinished(f"{KEY} and s") == 1
    assert redactor.unfinished(f"it is {KEY[:9]}") == 0


def test_a_key_of_headers_that_were_only_noted_is_known_too() -> None:
    redactor = Redactor()
    redactor.register_headers({"authorization": f"Bearer {KEY}"})
    assert redactor.unfinished(f"it is {KEY[:12]}") == 12


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_key_in_a_models_words_is_neither_shown_nor_kept(
    start_house: StartHouse, wild: Bytes, dialect: str, stream: bool
) -> None:
    async def script(visit: Visit) -> None:
        pieces = (KEY[:9], f"{KEY[9:]} ", STORED[:2], STORED[2:])
        told = telling("openai", pieces, stream=stream)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {'text/event-stream' if stream else 'application/json'}\r\n"
        await visit.say(f"{head}Content-Length: {len(told.body)}\r\n\r\n".encode())
        for event in told.events or (told.body,):
            await visit.say(event)

    wild.script = script
    stored = call("openai", wild.url, headers={"x-other": "[[SECRET:provider]]"})
    house = await start_house(wild.url, {"stored": stored}, secret_env={"AGENTUI_SECRET_PROVIDER": STORED})
    with captured_log(house.server.state.redactor) as log:
        asked = ask(dialect, stream=stream, key=KEY)
        headers = {**asked.headers, "x-agentui-session": "chat"}
        heard = await house.send(Asked(f"/p/stored{asked.path}", headers, asked.body))
        assert heard.status == 200
        await house.is_quiet()
        await _is_clean(house, log)


@pytest.mark.parametrize("pipeline", ["raw", "stored-raw"])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_key_in_a_content_type_is_taken_out(start_house: StartHouse, wild: Bytes, dialect: str, pipeline: str) -> None:
    async def script(visit: Visit) -> None:
        key = STORED if pipeline == "stored-raw" else KEY
        await visit.answer(200, b"{}", Content_Type=f'application/json; of="{key}"')

    wild.script = script
    stored = forward(wild.url, extra_headers={"x-other": "[[SECRET:provider]]"})
    house = await start_house(wild.url, {"stored-raw": stored}, secret_env={"AGENTUI_SECRET_PROVIDER": STORED})
    asked = ask(dialect, key=KEY)
    heard = await house.send(Asked(f"/p/{pipeline}{asked.path}", asked.headers, asked.body))
    assert heard.status == 200
    assert heard.headers["content-type"].startswith('application/json; of="***')


async def _is_clean(house: House, log: io.StringIO) -> None:
    """Nothing that others read, and no file, holds a key or a long part of one."""
    scanner = Scanner({"caller's": KEY, "stored": STORED})
    scanner.scan("what the editor reads", await everything_shown(house))
    scanner.scan("the log", log.getvalue())
    scanner.scan_folder(house.server.data)
    assert scanner.finds == []
    assert (house.server.data / "agentui.db").exists()


@given(st.text(min_size=SHORTEST, max_size=40))
def test_no_form_of_a_key_is_shorter_than_the_texts_that_are_looked_through(key: str) -> None:
    assert min(map(len, _forms(key))) >= SHORTEST
    redactor = Redactor()
    redactor.register(key)
    shortest = min(_forms(key), key=len)
    assert redactor.redact(shortest) != shortest
