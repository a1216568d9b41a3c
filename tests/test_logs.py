"""The log: one line an event in both formats, never longer than 8 KB, each naming its request, and no key anywhere."""

import asyncio
import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from agentui.logs import MAX_LINE, REQUEST, set_up_logging
from agentui.redaction import Redactor
from agentui.settings import Settings
from tests.api.callers import DIALECTS, Caller
from tests.conftest import Server, StartServer, call
from tests.upstreams.server import API_KEY, Mock
from tests.upstreams.step import Step

CANARY = "canary-5f2a9c17e0b84d63"
"""A word that only the caller's body, query and headers hold."""
SECRET = "sk-secret-0011223344556677"


@pytest.fixture(params=["text", "json"])
def written(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What the log writes, in each format, with a redactor that knows one secret."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    stderr = io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    redactor = Redactor()
    redactor.register(SECRET)
    set_up_logging(redactor, Settings(log_format=request.param, log_level="debug"))
    stderr.format = request.param  # type: ignore[attr-defined]  # a stream takes any attribute
    # The upstreams of the tests are servers too, and log what they are asked.
    monkeypatch.setattr(logging.getLogger("aiohttp.access"), "disabled", True)
    yield stderr
    root.handlers[:] = before
    root.setLevel(level)


def is_json(written: io.StringIO) -> bool:
    return bool(written.format == "json")  # type: ignore[attr-defined]  # what the fixture has set


def lines(written: io.StringIO) -> list[dict[str, str]]:
    """The lines of agentui, each as its fields."""
    found = []
    for line in written.getvalue().splitlines():
        if is_json(written):
            found.append({name: str(value) for name, value in json.loads(line).items()})
        else:
            pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', line)
            found.append({name: json.loads(value) if value.startswith('"') else value for name, value in pairs})
    return [line for line in found if line["logger"].startswith("agentui.")]


def test_a_line_says_when_how_bad_who_and_what(written: io.StringIO) -> None:
    logging.getLogger("agentui.test").warning("The %s is low.", "disk")
    [line] = lines(written)
    assert list(line)[:3] == ["timestamp", "level", "event"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", line["timestamp"])
    assert (line["level"], line["event"], line["logger"]) == ("warning", "The disk is low.", "agentui.test")


def test_fields_of_a_record_follow_and_keep_their_values(written: io.StringIO) -> None:
    fields = {"none": None, "yes": True, "number": 1.5, "path": "C:\\new", "said": 'a "b" = \\c', "items": {"a": 1}}
    logging.getLogger("agentui.test").info("request", extra=fields)
    [line] = written.getvalue().splitlines()
    if is_json(written):
        told = json.loads(line)
        assert {name: told[name] for name in fields} == fields
    else:
        end = r'''none= yes=true number=1.5 path=C:\new said="a \"b\" = \\c" items="{'a': 1}"'''
        assert line.endswith(f" event=request logger=agentui.test {end}")


@pytest.mark.parametrize(
    "text", ["a\nlevel=error event=forged", "\r\n\x1b[31m", 'quotes " and = signs', "\ud800 alone", "\0\x85\u2028 "]
)
def test_no_text_makes_a_line_of_its_own(written: io.StringIO, text: str) -> None:
    logging.getLogger("agentui.test").info("%s", text)
    logging.getLogger("agentui.test").info("next")
    assert written.getvalue().count("\n") == 2
    first, second = lines(written)
    assert (first["level"], second["event"]) == ("info", "next")


@pytest.mark.parametrize("text", ["x" * 100_000, "ü" * 100_000, "\n" * 50_000, '"\\' * 40_000, "\U0001f600" * 30_000])
def test_a_line_is_never_longer_than_eight_kilobytes(written: io.StringIO, text: str) -> None:
    log = logging.getLogger("agentui.test")
    log.info("begins %s", text)
    try:
        raise ValueError(text + "the very end")
    except ValueError:
        log.exception("%s", text)
    told = written.getvalue().splitlines()
    assert len(told) == 2
    assert all(len(line.encode()) <= MAX_LINE for line in told)
    plain, failed = lines(written)
    assert plain["event"].startswith("begins ") and "[cut]" in plain["event"]
    assert failed["exception"].endswith("the very end")
    assert failed["level"] == "error"


def test_a_secret_is_in_no_line_in_no_form(written: io.StringIO) -> None:
    log = logging.getLogger("agentui.test")
    log.info("key %s", SECRET)
    log.info("%s", {"authorization": f"Bearer {SECRET}"})
    try:
        raise RuntimeError(f"https://x.example/?key={SECRET}")
    except RuntimeError:
        log.exception("failed", stack_info=True)
    assert SECRET not in written.getvalue()
    assert written.getvalue().count("***") >= 3


def test_a_secret_is_in_no_cause_of_an_exception_and_in_no_field(written: io.StringIO) -> None:
    log = logging.getLogger("agentui.test")
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as cause:
            raise ValueError(f"bad {SECRET}") from cause
    except ValueError:
        log.exception("it failed", extra={"said": SECRET, "seen": [{"key": SECRET}]})
    assert SECRET not in written.getvalue()
    [line] = lines(written)
    assert "ValueError: bad ***6677" in line["exception"] and "Traceback" in line["exception"]
    assert line["said"].startswith("***")


def test_arguments_that_do_not_fit_still_hide_the_secret(written: io.StringIO) -> None:
    # Ours alone: pytest's own handlers raise what logging prints.
    record = logging.LogRecord("agentui.test", logging.INFO, __file__, 1, "one %s " + SECRET, (1, SECRET), None)
    logging.getLogger().handlers[0].handle(record)
    assert SECRET not in written.getvalue()
    [line] = lines(written)
    assert line["event"].startswith("one %s ***")


def test_a_credential_is_hidden_that_nobody_registered(written: io.StringIO) -> None:
    logging.getLogger("agentui.test").info(f"Authorization: Bearer {SECRET[::-1]}")
    assert SECRET[::-1] not in written.getvalue()
    [line] = lines(written)
    assert line["event"] == "Authorization: ***"


async def test_lines_of_tasks_and_threads_name_their_own_request(written: io.StringIO) -> None:
    log = logging.getLogger("agentui.test")

    async def work(id: str) -> None:
        token = REQUEST.set(id)
        await asyncio.sleep(0)
        log.info("in %s", id)
        async with asyncio.TaskGroup() as group:
            group.create_task(node(id))
        await asyncio.to_thread(log.info, "thread of %s", id)
        REQUEST.reset(token)

    async def node(id: str) -> None:
        log.info("node of %s", id)

    await asyncio.gather(*(work(f"req_{number}") for number in range(5)))
    log.info("outside")
    told = lines(written)
    assert len(told) == 16
    for line in told:
        assert line.get("request", "outside") == line["event"].split()[-1]


async def asking(start_server: StartServer, mock: Mock, written: io.StringIO, **settings: object) -> Server:
    server = await start_server({"default": call("caller", mock.origin)}, **settings)
    root = logging.getLogger()
    settings_of = server.state.settings.model_copy(update={"log_format": "json" if is_json(written) else "text"})
    set_up_logging(server.state.redactor, settings_of)
    root.handlers[0].setStream(written)  # type: ignore[attr-defined]  # a handler of a stream
    return server


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_finished_request_is_one_line_without_a_word_of_its_callers(
    start_server: StartServer, mock: Mock, written: io.StringIO, dialect: str
) -> None:
    server = await asking(start_server, mock, written, log_requests=True)
    headers = {"x-agentui-pipeline": "default", "x-note": CANARY}
    caller = Caller(dialect, server.origin, query=f"trace={CANARY}", headers=headers)
    whole = await caller.ask(f"Hello {CANARY}")
    stream = await caller.ask(f"Hello {CANARY}", stream=True)
    assert (whole.status, stream.status) == (200, 200)
    first, second = lines(written)
    for line, got in ((first, whole), (second, stream)):
        assert (line["event"], line["status"], line["outcome"], line["pipeline"]) == ("request", "200", "finished", "default")
        assert line["request"].startswith("req_")
        assert line["run"] == got.headers["x-agentui-run"]
        assert line["dialect"] == dialect
        assert line["route"] in ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1beta/models/{call}")
        assert float(line["duration_ms"]) > 0
    assert int(first["input_tokens"]) > 0 and int(first["output_tokens"]) > 0
    assert int(second["chunks"]) > 1 and float(second["first_byte_ms"]) > 0
    assert CANARY not in written.getvalue()
    assert API_KEY not in written.getvalue()


async def test_refused_and_broken_requests_are_lines_too(start_server: StartServer, mock: Mock, written: io.StringIO) -> None:
    server = await asking(start_server, mock, written, log_requests=True)
    caller = Caller("openai", server.origin, prefix="/p/default")
    assert (await caller.post("/v1/chat/completions", {"nothing": CANARY})).status == 400
    mock.script(Step(status=401, message=f"The key {API_KEY} is wrong."))
    assert (await caller.ask(CANARY)).status == 401
    assert (await Caller("openai", server.origin, prefix=f"/p/{CANARY}").ask()).status == 404
    statuses = [(line["status"], line.get("outcome")) for line in lines(written)]
    assert statuses == [("400", None), ("401", "failed"), ("404", None)]
    assert CANARY not in written.getvalue() and API_KEY not in written.getvalue()


async def test_nobody_who_did_not_ask_for_them_gets_lines(start_server: StartServer, mock: Mock, written: io.StringIO) -> None:
    server = await asking(start_server, mock, written)
    assert (await Caller("openai", server.origin).ask()).status == 200
    assert lines(written) == []


async def test_what_is_logged_while_a_request_runs_names_it(
    start_server: StartServer, mock: Mock, written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await asking(start_server, mock, written)

    async def broken(*_: object) -> None:
        raise RuntimeError(f"a fault with {API_KEY}")

    monkeypatch.setattr(server.state.engine, "run", broken)
    got = await Caller("claude", server.origin).ask()
    assert got.status == 500
    [line] = lines(written)
    assert line["level"] == "error" and line["request"] == got.headers["x-request-id"]
    assert API_KEY not in written.getvalue()
