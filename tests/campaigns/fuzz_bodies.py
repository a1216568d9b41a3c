"""Request bodies of every dialect and route: whole ones whose words must arrive, and the same after accidents.

``fuzz.bodies`` feeds the parsers: door, dialect off, context for templates, every other dialect on. ``fuzz.requests`` sends
such bodies to a real server over a real socket.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any, Final, cast

import aiohttp
from yarl import URL

from agentui.api.proxy.incoming import read_incoming
from agentui.chat.request import ChatRequest
from agentui.demo import DemoSettings, start_demo
from agentui.errors import AgentUIError
from agentui.jsonio import Json, dumps, loads
from agentui.pipeline.context import CONTEXT_NAMES, MacroContext
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.tokens import estimate_tokens
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.scope import Scope
from agentui.vendors.base import Vendors
from agentui.vendors.registry import make_vendors
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.fuzz import Fuzz, same_json
from tests.campaigns.fuzz_words import CANARIES, HOSTILE_NAMES, ODD_TEXTS, mutate_bytes, mutate_json
from tests.conftest import call, servers
from tests.faults.callers import DIALECTS, check_error, talking

PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SCHEMA: Final[Json] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WORDS: Final[tuple[Json, ...]] = (
    *("user", "assistant", "system", "tool", "developer", "model", "function", "text", "image", "image_url", "tool_use"),
    *("tool_result",),
    *("input_text", "output_text", "function_call", "function_call_output", "reasoning", "thinking", "redacted_thinking"),
    *("document",),
    *("inlineData", "fileData", "functionCall", "functionResponse", "thought", "parts", "contents", "content", "messages"),
    *("input",),
    *("role", "type", "name", "id", "index", "tools", "tool_choice", "stream", "stop", "auto", "any", "none", "required"),
    *("json_object",),
    *("pipeline/x/y", "gpt-4o", "o3", "claude-x", "../../etc/passwd", "a\r\nb: c", "data:image/png;base64,AAAA", "data:,"),
    *("file:///etc/passwd",),
    *(1e308, -1e308, 2**63, 0.1, -1, [{"type": "text", "text": "x"}], [{"text": "x"}], {"text": "x"}),
    *({"role": "user", "content": "x"},),
    *({"type": "tool_use", "id": "a", "name": "f", "input": {}}, {"functionCall": {"name": "f"}}),
    *({"type": "image_url", "image_url": None},),
    *CANARIES,
    *HOSTILE_NAMES,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its dialect, where it goes, its body, and the words of the last user in it."""

    dialect: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Json]
    said: str
    is_chat: bool = True


class Grammar:
    """Writes requests."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def ask(self) -> Asked:
        """A request of any dialect; now and then a token count or embeddings."""
        dialect = self.random.choice(DIALECTS)
        asked = {"openai": self._openai, "openai_responses": self._responses, "claude": self._claude, "gemini": self._gemini}[
            dialect
        ]()
        if self.random.random() < 0.9:
            return asked
        return self._side(asked)

    def _side(self, asked: Asked) -> Asked:
        """The same to a route that is no chat."""
        paths = {
            "openai": "/v1/embeddings",
            "openai_responses": "/v1/responses/input_tokens",
            "claude": "/v1/messages/count_tokens",
            "gemini": "/v1beta/models/m-1:countTokens",
        }
        body = asked.body
        if asked.dialect == "openai":
            body = {
                "model": "m-1",
                "input": self.random.choice((asked.said, [asked.said], [1, 2], [[1], [2]])),
                "encoding_format": "base64",
            }
        return Asked(asked.dialect, paths[asked.dialect], asked.headers, body, asked.said, is_chat=False)

    def _maybe(self, chance: float = 0.3) -> bool:
        return self.random.random() < chance

    def _words(self) -> str:
        chosen = [self.random.choice((*CANARIES, *ODD_TEXTS)) for _ in range(self.random.randrange(1, 4))]
        return "".join(chosen) + "."

    def _sampling(self, names: Mapping[str, tuple[Json, ...]]) -> dict[str, Json]:
        return {name: self.random.choice(values) for name, values in names.items() if self._maybe(0.2)}

    def _openai(self) -> Asked:
        said = self._words()
        messages: list[Json] = []
        if self._maybe():
            messages.append({"role": self.random.choice(("system", "developer")), "content": self._words()})
        for _ in range(self.random.randrange(3)):
            messages += [{"role": "user", "content": self._words()}, {"role": "assistant", "content": self._words()}]
        if self._maybe():
            calls = [
                {
                    "id": f"call_{n}",
                    "type": "function",
                    "function": {"name": "look", "arguments": json.dumps({"city": self._words()})},
                }
                for n in (1, 2)
            ]
            messages += [{"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": calls}]
            messages += [{"role": "tool", "tool_call_id": each["id"], "content": self._words()} for each in calls]
        content: Json = said
        if self._maybe():
            content = [
                {"type": "text", "text": said},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"}},
            ]
        messages.append({"role": "user", "content": content})
        body: dict[str, Json] = {"model": "m-1", "messages": messages}
        body |= self._sampling(
            {
                "temperature": (0, 0.5, 2),
                "top_p": (0.5, 1),
                "max_tokens": (1, 64),
                "n": (1,),
                "seed": (1, 2**40),
                "stop": ("x", ["a", "b"], None),
            }
        )
        body |= self._sampling(
            {"presence_penalty": (0, 1.5), "user": ("u", self._words()), "stream": (True, False), "metadata": ({"a": "b"},)}
        )
        if self._maybe():
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": "look", "description": self._words(), "parameters": SCHEMA, "strict": True},
                }
            ]
            body |= self._sampling(
                {
                    "tool_choice": ("auto", "none", "required", {"type": "function", "function": {"name": "look"}}),
                    "parallel_tool_calls": (False,),
                }
            )
        body |= self._sampling(
            {
                "response_format": (
                    {"type": "json_object"},
                    {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
                ),
                "reasoning_effort": ("low", "high"),
            }
        )
        return Asked("openai", "/v1/chat/completions", {"authorization": "Bearer sk-x"}, body, said)

    def _responses(self) -> Asked:
        said = self._words()
        items: list[Json] = []
        for _ in range(self.random.randrange(3)):
            items += [
                {"role": "user", "content": self._words()},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": self._words(), "annotations": []}],
                },
            ]
        if self._maybe():
            items += [
                {"role": "user", "content": "go"},
                {"type": "function_call", "call_id": "c1", "name": "look", "arguments": json.dumps({"city": self._words()})},
                {"type": "function_call_output", "call_id": "c1", "output": self._words()},
            ]
        parts: list[Json] = [{"type": "input_text", "text": said}]
        if self._maybe():
            parts.append({"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"})
        items.append({"type": "message", "role": "user", "content": parts})
        body: dict[str, Json] = {"model": "m-1", "input": items if self._maybe(0.8) else said}
        body |= self._sampling(
            {
                "instructions": (self._words(),),
                "temperature": (0.5,),
                "top_p": (0.9,),
                "max_output_tokens": (64,),
                "stream": (True, False),
                "store": (False,),
            }
        )
        body |= self._sampling(
            {
                "reasoning": ({"effort": "low"},),
                "text": ({"format": {"type": "json_object"}},),
                "metadata": ({"a": "b"},),
                "truncation": ("auto",),
            }
        )
        if self._maybe():
            body["tools"] = [
                {"type": "function", "name": "look", "parameters": SCHEMA, "description": self._words(), "strict": False}
            ]
            body |= self._sampling({"tool_choice": ("auto", "required", {"type": "function", "name": "look"})})
        return Asked("openai_responses", "/v1/responses", {"authorization": "Bearer sk-x"}, body, said)

    def _claude(self) -> Asked:
        said = self._words()
        messages: list[Json] = []
        for _ in range(self.random.randrange(3)):
            messages += [
                {"role": "user", "content": self._words()},
                {"role": "assistant", "content": [{"type": "text", "text": self._words()}]},
            ]
        if self._maybe():
            uses = [{"type": "tool_use", "id": f"toolu_{n}", "name": "look", "input": {"city": self._words()}} for n in (1, 2)]
            results: list[Json] = [
                {"type": "tool_result", "tool_use_id": each["id"], "content": self._words(), "is_error": self._maybe()}
                for each in uses
            ]
            messages += [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": uses},
                {"role": "user", "content": results},
            ]
            messages.append({"role": "assistant", "content": "so"})
        content: Json = said
        if self._maybe():
            image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
            content = [image, {"type": "text", "text": said, "cache_control": {"type": "ephemeral"}}]
        messages.append({"role": "user", "content": content})
        body: dict[str, Json] = {"model": "m-1", "max_tokens": 64, "messages": messages}
        body |= self._sampling(
            {
                "system": (self._words(), [{"type": "text", "text": self._words()}]),
                "temperature": (0.5, 1),
                "top_k": (5,),
                "top_p": (0.5,),
            }
        )
        body |= self._sampling(
            {
                "stop_sequences": (["x"], []),
                "stream": (True, False),
                "metadata": ({"user_id": "u"},),
                "thinking": ({"type": "enabled", "budget_tokens": 2048},),
            }
        )
        if self._maybe():
            body["tools"] = [{"name": "look", "description": self._words(), "input_schema": SCHEMA}]
            body |= self._sampling({"tool_choice": ({"type": "auto"}, {"type": "any"}, {"type": "tool", "name": "look"})})
        return Asked("claude", "/v1/messages", {"x-api-key": "sk-x", "anthropic-version": "2023-06-01"}, body, said)

    def _gemini(self) -> Asked:
        said = self._words()
        contents: list[Json] = []
        for _ in range(self.random.randrange(3)):
            contents += [
                {"role": "user", "parts": [{"text": self._words()}]},
                {"role": "model", "parts": [{"text": self._words()}]},
            ]
        if self._maybe():
            contents += [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"city": self._words()}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"result": self._words()}}}]},
                {"role": "model", "parts": [{"text": "so"}]},
            ]
        parts: list[Json] = [{"text": said}]
        if self._maybe():
            parts.append({"inlineData": {"mimeType": "image/png", "data": PIXEL}})
        contents.append({"role": "user", "parts": parts})
        body: dict[str, Json] = {"contents": contents}
        config = self._sampling(
            {
                "temperature": (0.5,),
                "topP": (0.5,),
                "topK": (3,),
                "maxOutputTokens": (64,),
                "stopSequences": (["x"],),
                "candidateCount": (1,),
                "seed": (1,),
            }
        )
        config |= self._sampling(
            {"responseMimeType": ("application/json",), "thinkingConfig": ({"thinkingBudget": 1024, "includeThoughts": True},)}
        )
        if config:
            body["generationConfig"] = config
        body |= self._sampling({"systemInstruction": ({"parts": [{"text": self._words()}]},), "safetySettings": ([],)})
        if self._maybe():
            body["tools"] = [
                {
                    "functionDeclarations": [
                        {
                            "name": "look",
                            "description": self._words(),
                            "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}},
                        }
                    ]
                }
            ]
            body |= self._sampling(
                {
                    "toolConfig": (
                        {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}},
                        {"functionCallingConfig": {"mode": "AUTO"}},
                    )
                }
            )
        operation = self.random.choice(("generateContent", "streamGenerateContent"))
        return Asked(
            "gemini", f"/{self.random.choice(('v1beta', 'v1'))}/models/m-1:{operation}", {"x-goog-api-key": "sk-x"}, body, said
        )


def enter(vendors: Vendors, asked: Asked, data: bytes) -> Incoming:
    """The request as the proxied routes take it in. Raises as they do."""
    path, _, query = asked.path.partition("?")
    headers = {"content-type": "application/json", **asked.headers}
    incoming, _ = read_incoming(
        vendors, None, method="POST", url=f"http://x{asked.path}", path=path, query=query, headers=headers, body=data
    )
    return incoming


EVERYTHING = JsonLanguage().compile(
    '{"v": [' + ", ".join(f"{{{{ {name} }}}}" for name in CONTEXT_NAMES) + '], "s": "{{ chat.last_user }}|{{ system }}"}'
)


async def fuzz_bodies(trial: Trial) -> None:
    """Bodies through every parser."""
    fuzz = Fuzz(trial, "bodies", (AgentUIError,))
    vendors = make_vendors()
    grammar = Grammar(trial.random)

    def one(random: Random) -> None:
        asked = grammar.ask()
        if random.random() < 0.35:
            _whole(fuzz, vendors, asked, random)
        else:
            _broken(fuzz, vendors, asked, random)

    fuzz.warm_up(500, lambda: one(trial.random))
    with fuzz.watch:
        for number, random in enumerate(fuzz.inputs()):
            one(random)
            if number % 2000 == 0:
                await asyncio.sleep(0)


def _whole(fuzz: Fuzz, vendors: Vendors, asked: Asked, random: Random) -> None:
    """A whole request is understood, and says the same in another dialect, where that dialect can say it."""
    fuzz.trial.counts["whole bodies"] += 1
    data = dumps(asked.body)
    outcome = fuzz.try_out(data, lambda: enter(vendors, asked, data))
    incoming = outcome.value
    if incoming is None:
        fuzz.fail("a whole request is refused", asked, outcome.error)
        return
    if not asked.is_chat:
        return
    read = fuzz.try_out(data, lambda: incoming.chat)
    if read.value is None or read.value.last_user != asked.said:
        fuzz.fail("the user's words are others", asked, read.error, read.value and read.value.last_user)
        return
    rendered = EVERYTHING.render(Scope(context=_context(incoming)))
    if rendered["s"] != f"{asked.said}|{read.value.system}" or not same_json(
        rendered["v"][CONTEXT_NAMES.index("incoming")]["json"], asked.body
    ):
        fuzz.fail("the context says something else", asked, rendered)
    target = random.choice(DIALECTS)
    _translate(fuzz, vendors, read.value, target, data, asked)


def _context(incoming: Incoming) -> Mapping[str, Json]:
    return MacroContext(incoming)


def _translate(fuzz: Fuzz, vendors: Vendors, chat: ChatRequest, target: str, data: bytes, asked: Asked | None) -> None:
    """Into a dialect and back; ``asked`` where the words must be the same afterwards."""
    vendor = vendors[cast(Any, target)]
    outcome = fuzz.try_out((target, data), lambda: vendor.render_request(chat))
    if outcome.value is None:
        fuzz.trial.counts["not sayable"] += 1
        if outcome.error is not None and getattr(outcome.error, "status", 400) >= 500:
            fuzz.fail("a request that cannot be said is the server's fault", (target, data), outcome.error)
        return
    wire = outcome.value
    sent = fuzz.try_out((target, data), lambda: loads(dumps(wire.body)))
    if asked is None or sent.value is None:
        if sent.error is not None:
            fuzz.fail("what would be sent is no JSON", (target, data), sent.error)
        return
    again = fuzz.try_out((target, data), lambda: vendor.parse_request(wire))
    if again.value is None or again.value.last_user != asked.said:
        fuzz.fail(f"in {target} the user's words are others", asked, again.error, wire.body)


def _broken(fuzz: Fuzz, vendors: Vendors, asked: Asked, random: Random) -> None:
    """After accidents a body is refused as the caller's fault, or served."""
    if random.random() < 0.25:
        data = mutate_bytes(random, dumps(asked.body))
    else:
        data = dumps(mutate_json(random, deepcopy(asked.body), WORDS))
    outcome = fuzz.try_out(data, lambda: enter(vendors, asked, data))
    _check_fault(fuzz, data, outcome.error)
    incoming = outcome.value
    if incoming is None:
        fuzz.trial.counts["refused at the door"] += 1
        return
    fuzz.try_out(data, lambda: dumps(EVERYTHING.render(Scope(context=_context(incoming)))))
    if not asked.is_chat:
        _side_operation(fuzz, vendors, incoming, random, data)
        return
    read = fuzz.try_out(data, lambda: incoming.chat)
    _check_fault(fuzz, data, read.error)
    if read.value is None:
        fuzz.trial.counts["refused by the dialect"] += 1
        return
    chat = read.value
    fuzz.trial.counts["understood after accidents"] += 1
    fuzz.try_out(data, lambda: estimate_tokens(chat))
    _translate(fuzz, vendors, chat, random.choice(DIALECTS), data, None)


def _side_operation(fuzz: Fuzz, vendors: Vendors, incoming: Incoming, random: Random, data: bytes) -> None:
    """Token counts and embeddings in any dialect."""
    vendor = vendors[cast(Any, random.choice(DIALECTS))]
    wire = incoming.wire
    if wire is None:
        return
    embeddings, count_tokens = vendor.embeddings, vendor.count_tokens
    if wire.operation != "embeddings" and count_tokens is not None:
        fuzz.try_out((vendor.name, data), lambda: dumps(count_tokens.render_request(incoming.chat).body))
    elif wire.operation == "embeddings" and embeddings is not None:
        fuzz.try_out((vendor.name, data), lambda: dumps(embeddings.render_request(wire).body))


def _check_fault(fuzz: Fuzz, data: bytes, error: Exception | None) -> None:
    """What is wrong with a body is the caller's fault."""
    if isinstance(error, AgentUIError) and not 400 <= error.status < 500:
        fuzz.fail(f"status {error.status} for a body", data, error)


# Through a server.


async def fuzz_requests(trial: Trial) -> None:
    """Bodies to a real server before the demo, by the pipelines to each dialect and the one that forwards."""
    fuzz = Fuzz(trial, "requests", (AgentUIError,))
    demo = await start_demo(settings=DemoSettings(delay=0))
    pipelines = {dialect: call(dialect, demo.origin) for dialect in DIALECTS}
    template = '{"model": "demo", [[PROMPT]], "user": "{{ chat.last_user }}", "x": {{ incoming.json }}}'
    pipelines |= {"same": call("caller", demo.origin), "body": call("openai", demo.origin, template=template)}
    grammar = Grammar(trial.random)
    try:
        async with servers(trial.folder) as start, aiohttp.ClientSession() as session:
            server = await start(pipelines, max_in_flight=1000)
            for random in fuzz.inputs():
                if random.random() < 0.05:
                    await _raw_request(fuzz, server.origin, grammar.ask(), random)
                else:
                    await _request(fuzz, session, server.origin, grammar.ask(), random, tuple(pipelines))
            async with session.get(f"{server.origin}/health") as reply:
                if reply.status != 200:
                    fuzz.fail("the server is not well", await reply.read())
    finally:
        await demo.close()


async def _request(
    fuzz: Fuzz, session: aiohttp.ClientSession, origin: str, asked: Asked, random: Random, pipelines: tuple[str, ...]
) -> None:
    """One request; the answer is none of ours' fault and has its dialect's shape."""
    data = dumps(asked.body)
    if random.random() < 0.7:
        data = mutate_bytes(random, data) if random.random() < 0.4 else dumps(mutate_json(random, deepcopy(asked.body), WORDS))
    pipeline = random.choice(pipelines)
    url = URL(f"{origin}/p/{pipeline}{asked.path}", encoded=True)
    headers = {**asked.headers, "content-type": "application/json"}
    started = time.thread_time()
    async with session.post(url, data=data, headers=headers) as reply:
        body = await reply.read()
    fuzz.note_cpu(time.thread_time() - started, data)
    counts = fuzz.trial.counts
    counts[f"answered {reply.status // 100}xx"] += 1
    shown = (pipeline, asked.path, data)
    if reply.status == 500 or reply.status > 504:
        fuzz.fail(f"status {reply.status}", shown, body[:500])
    elif reply.status >= 400:
        try:
            check_error(asked.dialect, json.loads(body), reply.status)
        except (AssertionError, ValueError, KeyError) as error:
            fuzz.fail("an error of another shape", shown, body[:500], error)


HIDDEN: Final = b"GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
FRAMINGS: Final = (
    b"Content-Length: %d\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: chunked\r\nContent-Length: %d",
    b"Content-Length: %d\r\nContent-Length: 1",
    b"Content-Length: +%d",
    b"Content-Length: %d, 0",
    b"Content-Length : %d",
    b"Content-Length: %d\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: xchunked\r\nContent-Length: %d",
    b"Transfer-Encoding: chunked, identity\r\nContent-Length: %d",
    b"Content-Length: %d\r\nTransfer-Encoding:\x0bchunked",
)
"""Ways to say where a body ends that two servers may read differently; each has a place for a number."""


async def _raw_request(fuzz: Fuzz, origin: str, asked: Asked, random: Random) -> None:
    """A request whose head had accidents, or whose body's end is said twice with another request behind it: whatever is wrong
    with it is the caller's fault, and what is hidden in it is answered by nobody."""
    fuzz.trial.counts["raw requests"] += 1
    body = dumps(asked.body)
    is_hiding = random.random() < 0.5
    framing = random.choice(FRAMINGS) % len(body) if is_hiding else b"Content-Length: %d" % len(body)
    lines = [f"POST {asked.path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in asked.headers.items()]
    head = "\r\n".join(lines).encode() + b"\r\n" + framing + b"\r\n\r\n"
    data = head + b"0\r\n\r\n" + HIDDEN if is_hiding else mutate_bytes(random, head) + body
    async with talking(origin) as (reader, writer):
        writer.write(data)
        heard = b""
        try:
            async with asyncio.timeout(0.3):
                while piece := await reader.read(65536):
                    heard += piece
        except (TimeoutError, ConnectionError):
            # Half a request is waited for, as it should be.
            pass
    if b"HTTP/1.1 500" in heard:
        fuzz.fail("status 500", data, heard[:500])
    if is_hiding and (heard.count(b"HTTP/1.1 ") > 1 or heard.startswith(b"HTTP/1.1 2")):
        fuzz.fail("a request that ends at two places is served", data, heard[:1000])


CAMPAIGNS = [
    Campaign("fuzz.bodies", fuzz_bodies, counted="bodies", short=4_000, long=1_000_000, short_seconds=40.0, least=0.05),
    Campaign("fuzz.requests", fuzz_requests, counted="requests", short=300, long=50_000, short_seconds=40.0, least=0.05),
]
