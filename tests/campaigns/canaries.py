"""``canaries.sinks``: a key of its own in every place a key can be, an upstream that repeats them in every way, and a look into
everything that is kept or shown.

Whatever goes back to the caller in an error, whatever the editor reads, the log, and every file: no key in any spelling. A
model may say a caller's key to that caller in its answer, since those are the model's words; what is kept of them is looked
through too.
"""

import asyncio
import base64
import json
import random
import string
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import quote

import aiohttp
from yarl import URL

from agentui.jsonio import Json
from tests.campaigns.answers import refusal, telling
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.faults import scan_runs
from tests.campaigns.scanner import Scanner, captured_log
from tests.conftest import Server, call, servers
from tests.faults.callers import DIALECTS, Asked, Heard, ask, send, talking
from tests.faults.conftest import forward
from tests.turns.house import chain, sets, target
from tests.unit.upstream.conftest import Bytes, Visit, serving

AT_ONCE = 8
_PLACES = ("authorization", "x-api-key", "x-goog-api-key", "query", "stored", "sealed", "written", "token")
_SPECIAL = "+/=~-_."
_CALLERS = {"openai": "authorization", "openai_responses": "authorization", "claude": "x-api-key", "gemini": "x-goog-api-key"}
PIPELINES = (
    "same", "raw", *DIALECTS, "stored", "stored-claude", "stored-raw", "sealed", "written", "written-raw", "in-url",
    "set", "two", "turn",
)  # fmt: skip


def make_keys(dice: random.Random) -> dict[str, str]:
    """A key for each place, with characters that each encoding has its own way with."""
    letters = string.ascii_letters + string.digits
    return {
        place: "sk-" + "".join(dice.choices(letters, k=24)) + dice.choice(_SPECIAL) + "".join(dice.choices(letters, k=10))
        for place in _PLACES
    }


def pipelines(base_url: str, keys: dict[str, str]) -> dict[str, Json]:
    """Keys in headers, in the URL, in variables and in a body."""
    stored: Json = {"Authorization": "Bearer [[SECRET:provider]]"}
    written: Json = {"x-own": "[[VAR:incoming.api_key]]", "authorization": f"Bearer {keys['written']}"}
    rows = [{"name": "KEY", "mode": "string", "value": "key [[VAR:incoming.api_key]] {{ incoming.headers }}"}]
    template = '{"model": "m", "messages": [{"role": "user", "content": "[[KEY]]"}], "all": {{ incoming.headers }}}'
    puts = {"id": "n1", "type": "SetVars", "config": {"variables": rows}}
    says = {"id": "n2", "type": "ProviderCall", "config": {"provider": "openai", "base_url": base_url, "template": template}}
    first = {"id": "first", "type": "ProviderCall", "config": {"provider": "openai", "base_url": base_url, "headers": stored}}
    count = sets(("chat", "count", "json", "{{ count|default(0)|add(1) }}"))
    return {
        "same": call("caller", base_url),
        "raw": forward(base_url),
        **{dialect: call(dialect, base_url) for dialect in DIALECTS},
        "stored": call("openai", base_url, headers=stored),
        "stored-claude": call("claude", base_url, headers={"x-api-key": "[[SECRET:provider]]"}),
        "stored-raw": forward(base_url, extra_headers=stored),
        "sealed": call("openai", base_url, headers={"Authorization": "Bearer [[SECRET:sealed]]"}),
        "written": call("openai", base_url, headers=written),
        "written-raw": forward(base_url, extra_headers=written),
        "in-url": call("gemini", base_url, endpoint="/v1beta/models/m:generateContent?key=[[SECRET:provider]]"),
        "set": {"format": 1, "name": "set", "nodes": [puts, says], "edges": [{"from": "n1", "to": "n2"}], "answer": "n2"},
        "two": chain(first, target("caller", base_url)),
        "turn": chain(count, target("caller", base_url)),
    }


@dataclass
class Parrot:
    """An upstream that repeats the keys it was sent, in a way drawn for each request. ``ways`` counts them."""

    dice: random.Random
    ways: dict[str, int] = field(default_factory=dict)

    async def say(self, visit: Visit) -> None:
        """Answer one request."""
        keys = _keys_in(visit.head.decode("latin-1"))
        words = " ".join(_spelled(key) for key in keys) or "no key"
        way = self.dice.choice(
            (self.refuse, self.refuse, self.headers, self.page, self.event, self.redirect, self.garbage, self.answer)
        )
        self.ways[way.__name__] = self.ways.get(way.__name__, 0) + 1
        await way(visit, keys, f"Incorrect API key provided: {words}. You sent {visit.head.decode('latin-1')}")

    async def refuse(self, visit: Visit, keys: list[str], words: str) -> None:
        """An error with the keys in each of its fields."""
        key = keys[0] if keys else "x"
        fields = {"message": words, "type": key, "param": words, "code": key, "status": "UNAUTHENTICATED"}
        body = json.dumps({"type": "error", "error": fields, "details": [words], words: words}).encode()
        if self.dice.random() < 0.2:
            body = words.encode("latin-1")
        await visit.answer(
            self.dice.choice((400, 401, 403, 429, 500)), body, Content_Type="application/json", x_should_retry="false"
        )

    async def headers(self, visit: Visit, keys: list[str], words: str) -> None:
        """An error with the keys in the headers that travel."""
        key = keys[0] if keys else "x"
        body = refusal("openai", 401, "no")
        more = {"X_Request_Id": key, "Retry_After": key, "X_Ratelimit_Limit_Requests": _spelled(key)}
        await visit.answer(401, body, Content_Type="application/json", **more)

    async def page(self, visit: Visit, keys: list[str], words: str) -> None:
        """A page with the keys, with a good status or a bad one."""
        await visit.answer(self.dice.choice((200, 403)), f"<html>{words}</html>".encode("latin-1"), Content_Type="text/html")

    async def event(self, visit: Visit, keys: list[str], words: str) -> None:
        """An error within a stream, or in place of an answer."""
        head = visit.head.decode("latin-1").split(" ")[1]
        events = {
            "/v1/messages": b'event: error\ndata: {"type": "error", "error": {"type": "x", "message": %s}}\n\n',
            "/v1/responses": b'event: error\ndata: {"type": "error", "code": "x", "message": %s, "param": null}\n\n',
        }
        event = events.get(head, b'data: {"error": {"code": 401, "message": %s, "status": "X", "type": "x"}}\n\n')
        await visit.answer(200, event % json.dumps(words).encode(), Content_Type="text/event-stream")

    async def redirect(self, visit: Visit, keys: list[str], words: str) -> None:
        """A redirect whose address holds the key."""
        key = quote(keys[0] if keys else "x", safe="")
        await visit.answer(302, b"", Location=f"http://127.0.0.1:9/{key}?key={key}#{key}")

    async def garbage(self, visit: Visit, keys: list[str], words: str) -> None:
        """Something that is hardly HTTP, or no JSON, with the keys all over."""
        key = (keys[0] if keys else "x").encode()
        data = self.dice.choice(
            (
                b"HTTP/1.1 200 " + key + b"\r\n" + key + b": " + key + b"\r\nContent-Length: 3\r\n\r\n" + key,
                b"HTTP/1.1 401 " + key + b"\r\nContent-Length: 0\r\n\r\n",
                key + b"\r\n\r\n",
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + key + b"\r\n",
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{" % (len(key) + 1) + key,
                b"HTTP/1.1 200 OK\r\nContent-Encoding: " + key + b"\r\nContent-Length: 1\r\n\r\nx",
                b"HTTP/1.1 200 OK\r\nContent-Type: " + key + b"\r\nContent-Length: 2\r\n\r\n{}",
            )
        )
        await visit.say(data)
        visit.writer.close()

    async def answer(self, visit: Visit, keys: list[str], words: str) -> None:
        """A good answer whose words are the keys, in one piece or in several."""
        path = visit.head.decode("latin-1").split(" ")[1].partition("?")[0]
        dialect = {"/v1/chat/completions": "openai", "/v1/responses": "openai_responses", "/v1/messages": "claude"}.get(
            path, "gemini"
        )
        stream = b'"stream":true' in visit.body.replace(b" ", b"") or "streamGenerate" in path
        text = " ".join(keys) or "no key"
        at = self.dice.randrange(len(text))
        told = telling(dialect, tuple(piece for piece in (text[:at], text[at:]) if piece), stream=stream)
        await visit.answer(200, told.body, Content_Type="text/event-stream" if stream else "application/json")


def _keys_in(head: str) -> list[str]:
    """The credentials that a request carries."""
    names = ("authorization", "x-api-key", "x-goog-api-key", "x-own", "x-agentui-token")
    lines = [line for line in head.split("\r\n")[1:] if line.lower().startswith(names)]
    return [line.partition(": ")[2].removeprefix("Bearer ") for line in lines]


def _spelled(key: str) -> str:
    """A key in the ways in which one is repeated."""
    encoded = [base64.b64encode(b"ab"[:n] + key.encode()).decode() for n in range(3)]
    return " ".join([key, *encoded, quote(key, safe=""), key.encode().hex(), json.dumps(key)])


@asynccontextmanager
async def _caged(trial: Trial) -> AsyncIterator[tuple[Bytes, Parrot]]:
    parrot = Parrot(trial.random)
    async for upstream in serving():
        upstream.script = parrot.say
        yield upstream, parrot


async def sinks(trial: Trial) -> None:
    """Requests by every pipeline with keys in every place; then everything is looked through."""
    keys = make_keys(trial.random)
    scanner = Scanner(keys)
    connector = aiohttp.TCPConnector(keepalive_timeout=5)  # sooner than the server drops what is kept
    session = aiohttp.ClientSession(connector=connector)
    async with _caged(trial) as (upstream, parrot), servers(trial.folder) as start, session:
        server = await start(
            pipelines(upstream.url, keys),
            active="same",
            secret_env={"AGENTUI_SECRET_PROVIDER": keys["stored"]},
            token=keys["token"],
            log_level="debug",
            generation_queue=10.0,
        )
        server.state.services.secrets.set("sealed", keys["sealed"], [upstream.url])
        session.headers["x-agentui-token"] = keys["token"]
        with captured_log(server.state.redactor) as log:
            await _ask_all(trial, server, session, keys, scanner)
            await _look_around(trial, server, session, keys, scanner)
        scanner.scan("the log", log.getvalue())
        trial.figures["log_bytes"] = len(log.getvalue())
        # A pipeline's own text is no secret to whom it belongs: its versions hold the key that is written there.
        files = Scanner({place: key for place, key in keys.items() if place != "written"})
        files.scan_folder(server.data)
        trial.counts["bytes scanned"] = scanner.scanned + files.scanned
        trial.figures["ways"] = dict(parrot.ways)
        for find in [*scanner.finds, *files.finds]:
            trial.fail(find)
        for place in ("authorization", "x-api-key", "x-goog-api-key", "stored", "sealed", "written"):
            # Otherwise nothing was tested.
            if not any(
                keys[place].encode() in visit.head or quote(keys[place]).encode() in visit.head for visit in upstream.visits
            ):
                trial.fail(f"the {place} key never reached the upstream")
        if any(keys["token"].encode() in visit.head + visit.body for visit in upstream.visits):
            trial.fail("the access token reached the upstream")


async def _ask_all(
    trial: Trial, server: Server, session: aiohttp.ClientSession, keys: dict[str, str], scanner: Scanner
) -> None:
    """The requests, some of them unfit."""
    numbers = iter(range(trial.size))
    dice = random.Random(f"{trial.name}:{trial.seed}:asks")

    async def work() -> None:
        for number in numbers:
            if trial.is_over():
                return
            dialect, pipeline = dice.choice(DIALECTS), PIPELINES[number % len(PIPELINES)]
            asked = ask(dialect, stream=dice.random() < 0.5, key=keys[_CALLERS[dialect]])
            headers, path = dict(asked.headers), asked.path
            key = keys[_CALLERS[dialect]]
            if dialect == "gemini" and dice.random() < 0.3:
                key = keys["query"]
                headers.pop("x-goog-api-key")
                path += ("&" if "?" in path else "?") + "key=" + quote(key, safe="")
            if pipeline == "turn":
                headers["x-agentui-session"] = f"chat {dice.randrange(4)}"
            more: dict[str, Json] = {}
            if dice.random() < 0.15:
                more = dice.choice(
                    [
                        {"data": b"{" + key.encode()},
                        {"json": [key]},
                        {"json": {**asked.body, "model": f"{key}\n", "messages": key}},
                    ]
                )
            heard = await send(session, server.origin, Asked(f"/p/{pipeline}{path}", headers, asked.body), **more)
            trial.counts["requests"] += 1
            trial.counts[f"status {heard.status}"] += 1
            _hear(scanner, f"{pipeline} to {dialect}", heard, keys)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


def _hear(scanner: Scanner, who: str, heard: Heard, keys: dict[str, str]) -> None:
    """What the caller may not hear: any key in the headers, any key in an error."""
    scanner.scan(f"the headers for {who}", repr(heard.headers))
    if heard.status >= 400:
        scanner.scan(f"the error {heard.status} for {who}", heard.body)


async def _look_around(
    trial: Trial, server: Server, session: aiohttp.ClientSession, keys: dict[str, str], scanner: Scanner
) -> None:
    """All that can be read of the server, previews, and answers to what is no request."""
    await scan_runs(scanner, server, session)
    for path in ("/api/settings", "/api/secrets", "/api/context-names", "/api/node-types", "/openapi.json", "/health",
                 f"/nothing/{quote(keys['token'], safe='')}?key={quote(keys['query'], safe='')}"):  # fmt: skip
        async with session.get(URL(server.origin + path, encoded=True)) as reply:
            scanner.scan(f"GET {path[:30]}", await reply.read())
            scanner.scan(f"the headers of GET {path[:30]}", repr(reply.headers))
    others = Scanner({place: key for place, key in keys.items() if place != "written"})
    for pipeline in PIPELINES:
        asked = ask("openai", key=keys["authorization"])
        node = {"set": "n2", "two": "first", "turn": "call"}.get(pipeline, "n1")
        body = {
            "node": node,
            "pipeline": pipeline,
            "request": {"path": asked.path, "headers": dict(asked.headers), "body": asked.body},
        }
        async with session.post(server.origin + "/api/preview", json=body) as reply:
            others.scan(f"the preview of {pipeline}", await reply.read())
            trial.counts["previews"] += reply.status == 200
    for line in ("Authorization: Bearer ", "x-api-key: ", "Cookie: a="):
        async with talking(server.origin) as (reader, writer):
            writer.write(
                f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n{line}{keys['authorization']}\nX: y\r\n\r\n".encode()
            )
            scanner.scan("the answer to a malformed request", await reader.read())
    scanner.finds += others.finds
    scanner.scanned += others.scanned


CAMPAIGNS = [Campaign("canaries.sinks", sinks, "requests", short=300, long=10_000, short_seconds=40)]
