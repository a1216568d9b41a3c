"""``faults.upstream``: an upstream that lies in every way, alone and mixed, before every kind of pipeline and caller.

Each injection is one request by one route, whose upstream tells one lie. Whatever it is, the caller hears a whole answer or is
told, in its own dialect and in time, that there is none.
"""

import asyncio
import json
import random
import socket
import ssl
import time
from collections.abc import AsyncIterator, MutableMapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import aiohttp

from agentui.jsonio import Json
from agentui.upstream import breaker
from tests.campaigns.answers import Telling, telling, whole_events, words
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.lag import Lag, watching_lag
from tests.campaigns.lies import LIES, MAX_EVENT, MAX_REPLY, Lie, Material, honest
from tests.campaigns.scanner import Scanner, captured_log
from tests.campaigns.shapes import read_stream
from tests.campaigns.wire import Dress, Play, Stage, staging
from tests.conftest import Server, call, servers
from tests.faults.callers import DIALECTS, IN_STREAM, Asked, Heard, ask, check_error, error_of, looks_finished, said_in, send

AT_ONCE = 24
PATIENCE = 1.5
"""Seconds after which the server gives silence up."""
RETRIES = 1.0
"""Seconds that two pauses between attempts take at most."""
SPARE = 2.0
KEY = "sk-campaign-0123456789"
KINDS = (*DIALECTS, *DIALECTS, "same", "raw", "raw", "first", "second", "after", "after-raw")
NOWHERE = ("refused", "unknown", "clear", "untrusted")
"""Pipelines whose upstream never gets a request (U1-U3)."""


@dataclass
class Case:
    """One injection."""

    number: int
    caller: str
    kind: str
    stream: bool
    lie: Lie
    told: Telling
    """What the whole answer would have been, in the dialect of the node that answers."""
    side: str = "main"
    limit: float = 0.0

    def __str__(self) -> str:
        how = "streamed" if self.stream else "whole"
        return f"case {self.number}: {self.caller}, {how}, by {self.kind}: {self.lie.name} ({', '.join(self.lie.notes)})"


def pipelines(stage: Stage, closed: int, secure: int) -> dict[str, Json]:
    """The ways to the stage: ``main`` is the side that lies in one-node pipelines and in ``second``, ``other`` the rest."""
    main, other = stage.url("main"), stage.url("other")

    def chained(first: Json, second: Json, answer: str) -> Json:
        nodes = [{"id": "n1", **first}, {"id": "n2", **second}]
        return {"format": 1, "name": "two", "nodes": nodes, "edges": [{"from": "n1", "to": "n2"}], "answer": answer}

    def asks(provider: str, base_url: str) -> Json:
        return {"type": "ProviderCall", "config": {"provider": provider, "base_url": base_url}}

    raw = {"type": "RawForward", "config": {"base_url": main}}
    return {
        **{dialect: call(dialect, main) for dialect in DIALECTS},
        "same": call("caller", main),
        "raw": {"format": 1, "name": "raw", "nodes": [{"id": "n1", **raw}], "edges": []},
        "first": chained(asks("openai", other), asks("caller", main), "n2"),
        "second": chained(asks("openai", other), asks("caller", main), "n2"),
        "after": chained(asks("caller", main), asks("openai", other), "n1"),
        "after-raw": chained(raw, asks("openai", other), "n1"),
        "refused": call("caller", f"http://127.0.0.1:{closed}"),
        "unknown": call("caller", "http://nowhere.invalid"),
        "clear": call("caller", f"https://127.0.0.1:{stage.port}"),
        "untrusted": call("caller", f"https://localhost:{secure}"),
    }


def make_case(dice: random.Random, number: int, plays: MutableMapping[tuple[str, int], Sequence[Play]]) -> Case:
    """Draw a case, and tell the stage its part."""
    caller, kind, stream = dice.choice(DIALECTS), dice.choice(KINDS), dice.random() < 0.6
    if dice.random() < 0.02:
        return Case(
            number,
            caller,
            dice.choice(NOWHERE),
            stream,
            Lie("nowhere", [], transport="none"),
            telling(caller, ("x",), stream=False),
        )
    dialect = kind if kind in DIALECTS else caller
    lying = "other" if kind in ("first", "after", "after-raw") else "main"
    told = telling(dialect, words(dice), stream=stream, extras=dice.random() < 0.1)
    if lying == "main":
        subject = told
        if dice.random() < 0.05 and kind not in ("raw", "after-raw"):
            # A stream where none was asked for, or the other way round: odd, and understood.
            subject = telling(dialect, words(dice), stream=not stream)
            told = subject
    else:
        subject = telling("openai", words(dice), stream=False)
    made = Material(dice, subject, Dress.choose(dice))
    lie = dice.choices([tell for _, tell in LIES], [weight for weight, _ in LIES])[0](made)
    plays[lying, number] = lie.plays
    if kind in ("first", "after", "after-raw", "second"):
        side = "main" if lying == "other" else "other"
        good = told if side == "main" else telling("openai", ("Yes.",), stream=False)
        plays[side, number] = honest(Material(dice, good, Dress.choose(dice))).plays
    pauses = sum(
        play.seconds
        for side_plays in (plays.get(("main", number), ()), plays.get(("other", number), ()))
        for play in side_plays
    )
    silence = PATIENCE if lie.transport == "silent" else 0.0
    return Case(number, caller, kind, stream, lie, told, lying, pauses * 3 + silence + RETRIES + SPARE)


async def inject(case: Case, server: Server, session: aiohttp.ClientSession, stage: Stage, key: str) -> list[str]:
    """Make one request and say all that is wrong with what came."""
    asked = ask(case.caller, f"case-{case.number}", stream=case.stream, key=key)
    began = time.monotonic()
    try:
        async with asyncio.timeout(case.limit + 10 if case.limit else 30):
            heard = await send(session, server.origin, Asked(f"/p/{case.kind}{asked.path}", asked.headers, asked.body))
    except TimeoutError:
        return ["it hung"]
    except aiohttp.ClientError as error:
        return [f"no HTTP answer: {error!r}"]
    took = time.monotonic() - began
    wrong = [f"took {took:.2f} s"] if case.limit and took > case.limit else []
    try:
        wrong += judge(case, heard)
    except (AssertionError, ValueError, KeyError, TypeError) as error:
        wrong.append(f"{type(error).__name__}: {str(error)[:600]}")
    visits = stage.visits.pop((case.side, case.number), 0)
    fewest, most = case.lie.visits
    if case.kind not in NOWHERE and not fewest <= visits <= most:
        wrong.append(f"{visits} requests to the upstream")
    if (
        case.kind in ("first",)
        and heard.status != 200
        and case.lie.content != "any"
        and stage.visits.pop(("main", case.number), 0)
    ):
        wrong.append("the second node was asked after the first had failed")
    return [f"{text}; heard {heard.status}{' broken' if heard.broken else ''} {heard.body[-300:]!r}" for text in wrong]


def judge(case: Case, heard: Heard) -> list[str]:
    """What is wrong with an answer; also raises AssertionError for a wrong shape."""
    if heard.status == 500 and (b"internal_error" in heard.body or (case.lie.status != 500 and b"The stage" not in heard.body)):
        return ["status 500, which is ours"]
    if case.kind in NOWHERE:
        error_of(case.caller, heard)
        return [] if heard.status in (502, 504) else ["neither 502 nor 504"]
    if case.kind == "raw":
        return _judge_raw(case, heard)
    outcome = _outcome(case, heard)
    lie = case.lie
    if lie.transport == "whole" and lie.content == "answer":
        return [] if outcome == "whole" else [f"not served whole: {outcome}"]
    if lie.content in ("any", "ended") or (lie.name.startswith("bad ") and lie.transport == "cut"):
        return []
    if outcome != "failed":
        return [f"it should have failed: {outcome}"]
    return _judge_status(case, heard)


def _outcome(case: Case, heard: Heard) -> str:
    """``whole`` or ``failed``. Raises AssertionError for anything that is neither, or of no dialect."""
    if heard.status != 200:
        if not _is_passed_on(case, heard):
            check_error(case.caller, heard.json, heard.status)
            assert heard.headers["content-type"].startswith("application/json"), heard.headers
            assert heard.headers["x-request-id"], heard.headers
        return "failed"
    is_any = (case.lie.content == "any" and case.side == "main") or case.lie.name.startswith("bad ")
    if not case.stream:
        if case.kind == "after-raw" and heard.broken:
            return "failed"  # forwarded bytes have no words of ours
        assert not heard.broken, "broken off"
        assert heard.headers["content-type"].startswith("application/json"), heard.headers
        if is_any and case.told.dialect == case.caller:
            return "whole"  # passed on as it came: what it holds beside what is understood is between the two
        said = said_in(case.caller, heard.body, stream=False)
        assert is_any or said == case.told.text, f"said {said!r} instead of {case.told.text!r}"
        return "whole"
    assert heard.headers["content-type"].startswith("text/event-stream"), heard.headers
    if case.kind == "after-raw":
        # Forwarded bytes have no words of ours: their connection breaks instead.
        read = read_stream(case.caller, heard.body, cut=heard.broken)
        assert case.told.text.startswith(read.text)
        if heard.broken:
            assert not read.finished, "broken, and finished"
            return "failed"
    assert not heard.broken, "broken off"
    if is_any:
        # A damaged event of the caller's own dialect is passed on as it came; no more can be asked of its shape.
        return "whole" if looks_finished(case.caller, heard.body) else "failed"
    if case.lie.content == "wrong" and case.side == "main" and case.told.dialect == case.caller:
        # Events that nobody knows are passed on, since clients pass them over; but then comes the error.
        assert not looks_finished(case.caller, heard.body), "wrong, and finished"
        at = heard.body.rindex(IN_STREAM[case.caller])
        heard.body = heard.body[max(heard.body.rfind(b"\n\n", 0, at), heard.body.rfind(b"\n\r\n", 0, at), 0) :]
    read = read_stream(case.caller, heard.body)
    assert case.told.text.startswith(read.text), f"said {read.text!r}, which does not begin {case.told.text!r}"
    if read.error is None:
        assert read.finished, "neither finished nor failed"
        assert read.text == case.told.text, f"finished with {read.text!r} of {case.told.text!r}"
        return "whole"
    assert not read.finished, "failed, and finished"
    return "failed"


def _is_passed_on(case: Case, heard: Heard) -> bool:
    """Whether this is an OpenAI-like server's error body, of whatever form, before a caller of that family, which reads any
    (and knows no 529, which becomes 503)."""
    said = "openai" if case.side == "other" else case.told.dialect
    if not (
        said.startswith("openai")
        and case.caller.startswith("openai")
        and heard.status in (case.lie.status, case.lie.status - 26)
    ):
        return False
    try:
        return isinstance(heard.json, dict) and heard.json == json.loads(case.lie.body)
    except ValueError:
        return False


def _judge_status(case: Case, heard: Heard) -> list[str]:
    """Whether the status tells of this lie."""
    lie = case.lie
    if heard.status == 200:
        if case.side == "other" and not case.kind.startswith("after"):
            return ["an answer began though the first node failed"]
        return [] if case.stream or case.kind == "after-raw" else ["status 200"]
    allowed = {502, 503, 529}  # an upstream's own error event says 503 or 529
    if lie.content != "error" or lie.status != 200:
        allowed = {502}
    if lie.transport == "silent":
        allowed |= {504}
    if lie.transport == "whole" and lie.status >= 400:
        allowed = {lie.status, 503 if lie.status == 529 else lie.status, 502 if lie.content == "page" else lie.status}
    if lie.content == "error" and lie.status == 200:
        allowed |= set(range(400, 600))
    return [] if heard.status in allowed else [f"status {heard.status}, not {sorted(allowed)[:5]}"]


def _judge_raw(case: Case, heard: Heard) -> list[str]:
    """What is wrong with a forwarded answer."""
    lie = case.lie
    if heard.status >= 400 and heard.headers.get("content-type", "").startswith("application/json") and heard.body != lie.body:
        error_of(case.caller, heard)
        failed = True
    else:
        failed = heard.broken
    if lie.content == "any" or lie.name.startswith("bad "):
        return []
    if lie.content == "page":
        is_harmless = heard.headers.get("content-type", "").startswith("text/plain") and lie.body.startswith(heard.body)
        return [] if heard.status in (502, 504) or (heard.status == 200 and is_harmless) else ["a page was passed on as one"]
    if not failed:
        if lie.transport in ("silent", "none") or (lie.transport == "cut" and lie.name != "too large"):
            return ["it should have failed"]
        if lie.transport == "whole" and lie.content == "short" and lie.is_stream and whole_events(lie.body):
            return ["a short stream ended as if it were whole"]
        if heard.status != lie.status:
            return [f"status {heard.status} instead of {lie.status}"]
        return (
            [] if heard.body == lie.body else [f"passed on {len(heard.body)} bytes that are not the {len(lie.body)} that came"]
        )
    if lie.transport == "whole" and (lie.content == "answer" or (lie.status >= 400 and lie.content == "error")):
        return ["not passed on"]
    if heard.status == 200:
        return [] if lie.body.startswith(heard.body) else ["what was passed on is not what came"]
    allowed = {502, 504} if lie.transport == "silent" else {502}
    return [] if heard.status in allowed else [f"status {heard.status}"]


@asynccontextmanager
async def faulty_house(folder: Path, **settings: object) -> AsyncIterator[tuple[Server, Stage, aiohttp.ClientSession]]:
    """A server before a stage. Its circuit breaker is out of the way, which would hide most lies; storms have it."""
    async with AsyncExitStack() as stack:
        stage = await stack.enter_async_context(staging())
        start = await stack.enter_async_context(servers(folder))
        closed = socket.socket()
        stack.callback(closed.close)
        closed.bind(("127.0.0.1", 0))  # bound, and nobody listens
        secure = await asyncio.start_server(_nobody, "127.0.0.1", 0, ssl=_self_signed(folder))
        stack.callback(secure.close)
        stack.enter_context(patch.object(breaker, "ENOUGH", 10**9))
        known = pipelines(stage, closed.getsockname()[1], secure.sockets[0].getsockname()[1])
        limits = {"first_byte_timeout": PATIENCE, "idle_timeout": PATIENCE, "connect_timeout": PATIENCE}
        server = await start(known, active="same", max_reply=MAX_REPLY, max_event=MAX_EVENT, **{**limits, **settings})
        session = await stack.enter_async_context(
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=5))
        )
        yield server, stage, session


async def _nobody(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Whoever gets here has trusted a certificate that nobody signed."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    writer.close()


def _self_signed(folder: Path) -> ssl.SSLContext:
    """A certificate for localhost that nobody signed."""
    from tests.certificates import self_signed

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(folder / "server.pem"))
    return context


async def _undisturbed(case: Case, server: Server, session: aiohttp.ClientSession, stage: Stage, lag: Lag) -> list[str]:
    """Try a case again until the machine lets it be judged."""
    while True:
        lost = lag.lost
        wrong = await inject(case, server, session, stage, KEY)
        if not wrong or not lag.stood_still_since(lost):
            return wrong


async def upstream(trial: Trial) -> None:
    """``AT_ONCE`` injections at a time, until the wanted number is reached; then all sinks are looked through for the key."""
    async with faulty_house(trial.folder) as (server, stage, session), watching_lag() as lag:
        with captured_log(server.state.redactor, "info") as log:
            await _injections(trial, server, stage, session, lag)
        for text in stage.problems:
            trial.fail(text)
        if server.state.in_flight:
            trial.fail(f"{server.state.in_flight} requests are still under way")
        scanner = Scanner({"caller's": KEY})
        scanner.scan("the log", log.getvalue())
        scanner.scan_folder(server.data)
        await scan_runs(scanner, server, session)
        trial.counts["bytes scanned"] = scanner.scanned
        for find in scanner.finds:
            trial.fail(find)
        if "Traceback" in log.getvalue():
            trial.fail(f"the log has a traceback: {log.getvalue()[log.getvalue().find('Traceback') - 300 :][:2000]}")


async def _injections(trial: Trial, server: Server, stage: Stage, session: aiohttp.ClientSession, lag: Lag) -> None:
    """All the cases, and how long they took."""
    numbers = iter(range(trial.size))
    took: list[float] = []

    async def work() -> None:
        for number in numbers:
            if trial.is_over():
                return
            case = make_case(random.Random(f"{trial.name}:{trial.seed}:{number}"), number, stage.plays)
            began, lost = time.monotonic(), lag.lost
            wrong = await inject(case, server, session, stage, KEY)
            if wrong and lag.stood_still_since(lost):
                trial.counts["disturbed"] += 1
                wrong = await _undisturbed(case, server, session, stage, lag)
            for text in wrong:
                trial.fail(f"{case} (seed {trial.seed}): {text}")
            took.append(time.monotonic() - began)
            trial.counts["injections"] += 1
            trial.counts[f"by {case.kind}"] += 1
            for side in ("main", "other"):
                stage.plays.pop((side, number), None)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    took.sort()
    trial.figures["seconds_p50"] = round(took[len(took) // 2], 4)
    trial.figures["seconds_max"] = round(took[-1], 3)


async def scan_runs(scanner: Scanner, server: Server, session: aiohttp.ClientSession) -> None:
    """Look through all that the editor can read of the runs that are kept."""

    async def get(path: str) -> Json:
        async with session.get(server.origin + path) as reply:
            body = await reply.read()
            scanner.scan(f"GET {path}", body)
            scanner.scan(f"the headers of GET {path}", repr(reply.headers))
            return json.loads(body)

    for run in await get("/api/runs"):
        whole = await get(f"/api/runs/{run['id']}")
        await get(f"/api/runs/{run['id']}/request")
        for event in whole["events"]:
            await get(f"/api/runs/{run['id']}/events/{event['seq']}")


CAMPAIGNS = [Campaign("faults.upstream", upstream, "injections", short=300, long=10_000, short_seconds=40)]
