"""Pipeline files: whole ones whose every node must give exactly what was written, and the same after accidents.

A whole one is read from its bytes as the folder reads it, compiled, and run with a caller, an upstream and a model's answer
that are full of canaries; a broken one may be refused with its problems, and what still compiles may fail with an error of
ours.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, cast

from agentui.documents.document import parse_document
from agentui.errors import AgentUIError, InvalidPipeline, Problem
from agentui.jsonio import Json, dumps, loads
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.node import Catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.run import Run, Services
from agentui.upstream.call import UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http.stream import UpstreamStream
from tests.campaigns.audit import Watch, parsing
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.fuzz import Fuzz, same_json
from tests.campaigns.fuzz_templates import WORDS as TEMPLATE_WORDS
from tests.campaigns.fuzz_templates import as_text
from tests.campaigns.fuzz_words import CANARIES, HOSTILE_NAMES, ODD_TEXTS, SECRET, mutate_bytes, mutate_json, mutate_text
from tests.unit.pipeline.parts import Ear, execute, make_incoming, make_services

CATALOG: Final = Catalog(BUILTIN)
PROVIDERS: Final = ("caller", "openai", "openai_responses", "claude", "gemini")
WORDS: Final[tuple[Json, ...]] = (
    *("SetVars", "ProviderCall", "RawForward", "NoSuchNode", "n1", "n2", "n3", "done", "fail", "continue", "string", "expr"),
    *("json",),
    *("caller", "openai", "claude", "gemini", "run", "chat", "global", "page", "history", "text", "system", "format", 2),
    *(1.0, "1"),
    *("{{ OUT.n9 }}", "[[OUT:n1]]", "[[OUT2]]", "{{ n1.vars }}", "1 + 1", "rand()", "[" * 40, "{{ x", '{"a": [[VAR:x]]}'),
    *("[[PROMPT]]",),
    *("http://169.254.169.254/", "file:///etc/passwd", "demo", "javascript:0", "https://[::1", "\r\nx: y"),
    *("{{ incoming.json.said }}",),
    *({"id": "n1", "type": "SetVars"}, {"from": "n1", "to": "n1"}, {"from": "n2", "to": "n1"}, {"mode": "expr", "name": "a"}),
    *CANARIES,
    *HOSTILE_NAMES,
)

FORMULAS: Final[tuple[tuple[str, Json], ...]] = (
    ("1 + 2 * 3", 7),
    ('"[[VAR:secret]]" + "{{ x }}"', "[[VAR:secret]]{{ x }}"),
    ("[true, null]", [True, None]),
)


def running(event: str, args: tuple[Any, ...]) -> bool:
    """What a pipeline does on purpose: formulas are parsed, and a node that names a secret has the store look for it."""
    is_secret_store = event == "open" and len(args) == 3 and str(args[0]).endswith("/secrets.json") and args[1] in ("r", "rb")
    return is_secret_store or parsing(event, args)


class _Canned:
    """An upstream's answer that is there already: what ``UpstreamStream`` gives to those who read it."""

    status = 200
    content_type = "application/json"
    is_over = True

    def __init__(self, body: bytes) -> None:
        self.headers: Mapping[str, str] = {"content-type": self.content_type}
        self._body = body

    async def __aenter__(self) -> "_Canned":
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def read(self, limit: int = 0) -> bytes:
        """The whole answer."""
        return self._body

    async def next(self) -> bytes:
        """The next piece, which is the whole answer; nothing behind it."""
        body, self._body = self._body, b""
        return body

    async def chunks(self) -> AsyncIterator[bytes]:
        """The answer in one piece."""
        yield self._body

    def close(self) -> None:
        """Nothing is open."""


class QuietUpstream(Upstream):
    """An upstream without a network: it keeps what it was sent and gives the answer that it was told to."""

    def __init__(self) -> None:
        super().__init__()
        self.said = ""
        self.heard: list[tuple[str, bytes | None]] = []

    def open(self, call: UpstreamCall) -> AbstractAsyncContextManager[UpstreamStream]:
        """An answer in the dialect of the path that is called."""
        self.heard.append((call.url, call.body))
        return cast(AbstractAsyncContextManager[UpstreamStream], _Canned(dumps(answer_at(call.url, self.said))))


def answer_at(url: str, said: str) -> Json:
    """A whole answer in the dialect that the URL's path belongs to."""
    if "generateContent" in url:
        return {"candidates": [{"content": {"parts": [{"text": said}], "role": "model"}, "finishReason": "STOP"}]}
    if "/messages" in url:
        content = [{"type": "text", "text": said}]
        return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "end_turn"}
    if "/responses" in url:
        output = {
            "type": "message",
            "id": "i",
            "role": "assistant",
            "content": [{"type": "output_text", "text": said, "annotations": []}],
        }
        return {"id": "r", "object": "response", "status": "completed", "model": "m", "output": [output]}
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


@dataclass
class Story:
    """A pipeline, its caller's request, and what every node must give."""

    document: dict[str, Json] = field(default_factory=dict)
    body: dict[str, Json] = field(default_factory=dict)
    said: str = ""
    vars: dict[str, dict[str, Json]] = field(default_factory=dict)
    """What each SetVars must give out, by its id."""
    bodies: list[Json] = field(default_factory=list)
    """What each ProviderCall with a template must send, in order."""
    users: list[str] = field(default_factory=list)
    """The last user text that each ProviderCall with blocks must send, in order."""


class Writer:
    """Writes stories. ``known`` is what the next node can read: how it is written, and what it is."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.story = Story()
        self.known: list[tuple[str, Json]] = []

    def write(self) -> Story:
        """A chain of one to five nodes, perhaps with edges that take a short cut."""
        random, story = self.random, self.story
        story.said = self._words()
        asked = self._words() or "x"
        odd = {"[[VAR:secret]]": random.choice(CANARIES), "__class__": [random.choice(CANARIES), None, 7]}
        story.body = {
            "model": "m-1",
            "messages": [{"role": "user", "content": asked}],
            "said": self._words(),
            "odd": odd,
            "secret": SECRET,
        }
        self.known = [
            ("[[VAR:incoming.json.said]]", story.body["said"]),
            ("{{ incoming.json.said }}", story.body["said"]),
            ("{{ chat.last_user }}", asked),
            ("[[VAR:chat.messages.0.content]]", asked),
            ("{{ incoming.json.odd['[[VAR:secret]]'] }}", odd["[[VAR:secret]]"]),
            ("{{ incoming.json.odd.__class__ }}", odd["__class__"]),
            ("[[VAR:incoming.json.odd.__class__.2]]", 7),
            ("{{ incoming.json.nothing|default('[[VAR:secret]]') }}", "[[VAR:secret]]"),
        ]
        nodes = [self._node(f"n{number + 1}") for number in range(random.choice((1, 2, 2, 3, 4, 5)))]
        edges = [{"from": f"n{number}", "to": f"n{number + 1}"} for number in range(1, len(nodes))]
        if len(nodes) > 2 and random.random() < 0.3:
            edges.append({"from": "n1", "to": f"n{len(nodes)}", "from_port": "done"})
        if random.random() < 0.3:
            random.shuffle(edges)
        story.document = {"format": 1, "name": "a story", "nodes": nodes, "edges": edges}
        if random.random() < 0.2:
            story.document |= {"answer": f"n{len(nodes)}", "view": {"n1": {"x": 1.5, "y": -2}}}
        return story

    def _words(self) -> str:
        chosen = [self.random.choice((*CANARIES, *ODD_TEXTS)) for _ in range(self.random.randrange(1, 4))]
        # A text of spaces alone is no block.
        return "".join(chosen) + "."

    def _node(self, id: str) -> Json:
        if id == "n1" or self.random.random() < 0.6:
            return self._set_vars(id)
        return self._provider_call(id)

    def _set_vars(self, id: str) -> Json:
        made: dict[str, Json] = {}
        rows: list[Json] = []
        for number in range(self.random.randrange(1, 4)):
            name = f"{self.random.choice(('v', '__class__', 'format_', '_'))}_{id}_{number}"
            value: Json
            match self.random.randrange(3):
                case 0:
                    source, value = self._text()
                    rows.append({"name": name, "mode": "string", "value": source})
                case 1:
                    source, value = self._json(2)
                    rows.append({"name": name, "mode": "json", "value": source})
                case _:
                    source, value = self.random.choice(FORMULAS)
                    rows.append({"name": name, "mode": "expr", "value": source})
            made[name] = value
        self.story.vars[id] = made
        for name, value in made.items():
            spelled = [
                f"{{{{ {name} }}}}",
                f"[[{name}]]",
                f"[[OUT:{id}.vars.{name}]]",
                f"{{{{ OUT.{id}.vars['{name}'] }}}}",
                f"{{{{ vars.{name} }}}}",
            ]
            self.known += [(spelling, value) for spelling in spelled]
        return {"id": id, "type": "SetVars", "config": {"variables": rows}}

    def _provider_call(self, id: str) -> Json:
        story = self.story
        config: dict[str, Json] = {"provider": self.random.choice(PROVIDERS), "base_url": "https://api.example.test"}
        if self.random.random() < 0.5:
            said, expected = self._text()
            roles = ["user", "assistant"]
            config |= {
                "provider": "openai",
                "blocks": [{"role": "system", "text": "[[incoming_]]"}, {"role": "user", "text": f"{said}."}],
            }
            source, value = self._json(2)
            config["template"] = (
                f'{{"model": "m-2", [[PROMPT]], "extra": {source}, "pm": {{{{ pm.messages }}}}, "roles": {json.dumps(roles)}}}'
            )
            messages = [{"role": "system", "content": "[[incoming_]]"}, {"role": "user", "content": f"{expected}."}]
            story.bodies.append({"model": "m-2", "messages": messages, "extra": value, "pm": messages, "roles": roles})
        else:
            said, expected = self._text()
            config["blocks"] = [{"kind": "history"}, {"role": "assistant", "text": "so"}, {"role": "user", "text": f"{said}!"}]
            story.users.append(f"{expected}!")
        for spelling in (f"[[OUT{id[1:]}]]", f"{{{{ OUT.{id}.response_text }}}}", f"[[OUT:{id}.response_text]]"):
            self.known.append((spelling, story.said))
        return {"id": id, "type": "ProviderCall", "config": config}

    def _text(self) -> tuple[str, str]:
        sources: list[str] = []
        results: list[str] = []
        for _ in range(self.random.randrange(1, 4)):
            if self.random.random() < 0.3:
                sources.append("so ")
                results.append("so ")
            else:
                source, value = self.random.choice(self.known)
                sources.append(source)
                results.append(as_text(value))
        return "".join(sources), "".join(results)

    def _json(self, depth: int) -> tuple[str, Json]:
        if depth and self.random.random() < 0.4:
            members = [(f"k{number}", self._json(depth - 1)) for number in range(self.random.randrange(4))]
            return "{" + ", ".join(f'"{key}": {source}' for key, (source, _) in members) + "}", {
                key: value for key, (_, value) in members
            }
        if self.random.random() < 0.5:
            source, text = self._text()
            return f'"{source}"', text
        return self.random.choice(self.known)


class Stage:
    """Where pipelines are run: services without a network, the same for all."""

    def __init__(self) -> None:
        self.upstream = QuietUpstream()
        self.services: Services = replace(make_services(), upstream=self.upstream)

    async def run(self, plan: Plan, incoming: Incoming, said: str) -> tuple[Run, Ear]:
        """Run a plan to its end; raises what it failed by."""
        self.upstream.said = said
        self.upstream.heard.clear()
        ear = _DeafEar()
        return await execute(plan, incoming, ear, seconds=1e6, services=self.services), ear


class _DeafEar(Ear):
    """Hears raw bytes and documents too, and keeps nothing of them."""

    async def document(self, body: Json) -> None:
        """Nobody listens."""

    async def raw(self, status: int, headers: Mapping[str, str], chunk: bytes) -> None:
        """Nobody listens."""


async def fuzz_pipelines(trial: Trial) -> None:
    """Documents from bytes to answers."""
    fuzz = Fuzz(trial, "pipelines", (AgentUIError,), Watch(running))
    stage = Stage()

    async def one(random: Random) -> None:
        story = Writer(random).write()
        if random.random() < 0.4:
            await _whole(fuzz, stage, story)
        else:
            await _broken(fuzz, stage, story, random)

    # networkx puts its functions together when each is first called.
    circle = {**Writer(trial.random).write().document, "edges": [{"from": "n1", "to": "n1"}]}
    fuzz.try_out(circle, lambda: _compiled(dumps(circle)))
    for _ in range(300):
        await one(trial.random)
    fuzz.warm_up(0, lambda: None)
    with fuzz.watch:
        for number, random in enumerate(fuzz.inputs()):
            await one(random)
            if number % 1000 == 0:
                await asyncio.sleep(0)


def _compiled(data: bytes) -> Plan:
    """What the folder does with a file's bytes. Raises InvalidPipeline."""
    document = parse_document(data)
    if isinstance(document, Problem):
        raise InvalidPipeline("This is no document.", (document,))
    return compile_plan("fuzz", document, CATALOG)


async def _whole(fuzz: Fuzz, stage: Stage, story: Story) -> None:
    """A whole pipeline compiles, runs, and every node gives exactly what was written."""
    fuzz.trial.counts["exact results"] += 1
    data = dumps(story.document)
    outcome = fuzz.try_out(story.document, lambda: _compiled(data))
    if outcome.value is None:
        fuzz.fail("a whole pipeline does not compile", story.document, outcome.error)
        return
    run = await _run(fuzz, stage, outcome.value, make_incoming(story.body), story, is_whole=True)
    if run is None:
        return
    for id, made in story.vars.items():
        if not same_json(run.out[id].get("vars"), made):
            fuzz.fail("a variable is wrong", story.document, id, run.out[id], made)
    _compare_calls(fuzz, stage, story)


def _compare_calls(fuzz: Fuzz, stage: Stage, story: Story) -> None:
    """What was sent is what the templates and the blocks say."""
    bodies, users = iter(story.bodies), iter(story.users)
    calls = iter(stage.upstream.heard)
    for node in story.document["nodes"]:
        if node["type"] != "ProviderCall":
            continue
        url, sent = next(calls)
        body = loads(sent or b"")
        if "template" in node["config"]:
            if not same_json(body, next(bodies)):
                fuzz.fail("a rendered body is wrong", story.document, body)
            continue
        user = next(users)
        if last_user(url, body) != user:
            fuzz.fail("a block's text is wrong", story.document, body, user)


def last_user(url: str, body: Any) -> str:
    """The last user text of a request's body, by the dialect of its path."""
    if "generateContent" in url:
        content = [turn for turn in body["contents"] if turn["role"] == "user"][-1]["parts"]
    elif "/responses" in url:
        content = [item for item in body["input"] if item.get("role") == "user"][-1]["content"]
    else:
        content = [message for message in body["messages"] if message["role"] == "user"][-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


async def _broken(fuzz: Fuzz, stage: Stage, story: Story, random: Random) -> None:
    """After accidents a pipeline is refused with its problems, or runs, or fails with an error of ours."""
    data = _damaged(random, story)
    outcome = fuzz.try_out(data, lambda: _compiled(data))
    if isinstance(outcome.error, InvalidPipeline):
        fuzz.trial.counts["refused"] += 1
        if not any(problem.severity == "error" for problem in outcome.error.problems):
            fuzz.fail("refused without a problem", data, outcome.error)
    if outcome.value is None:
        return
    fuzz.trial.counts["run after accidents"] += 1
    body = story.body if random.random() < 0.7 else mutate_json(random, deepcopy(story.body), WORDS)
    try:
        incoming = make_incoming(body)
    except AgentUIError:
        return
    await _run(fuzz, stage, outcome.value, incoming, story)


def _damaged(random: Random, story: Story) -> bytes:
    """The file's bytes after accidents to the bytes, the document, or one of its texts."""
    kind = random.randrange(10)
    if kind < 2:
        return mutate_bytes(random, dumps(story.document))
    document = deepcopy(story.document)
    if kind < 6:
        return dumps(mutate_json(random, document, WORDS))
    node = random.choice(document["nodes"])
    config = node["config"]
    if node["type"] == "SetVars":
        row = random.choice(config["variables"])
        row["value"] = mutate_text(random, row["value"], TEMPLATE_WORDS)
    else:
        name = random.choice(("base_url", "endpoint", "model", "template"))
        config[name] = mutate_text(random, config.get(name, ""), TEMPLATE_WORDS)
        config["headers"] = {mutate_text(random, "x-a", TEMPLATE_WORDS): random.choice(story.document["name"])}
    return dumps(document)


async def _run(fuzz: Fuzz, stage: Stage, plan: Plan, incoming: Incoming, story: Story, *, is_whole: bool = False) -> Run | None:
    """Run a plan; None when it failed, which a whole one must not."""
    started = time.thread_time()
    run: Run | None = None
    try:
        run, _ = await stage.run(plan, incoming, story.said)
    except AgentUIError as error:
        fuzz.trial.counts["failed runs"] += 1
        if is_whole:
            fuzz.fail("a whole pipeline does not run", story.document, error)
        if error.status == 500:
            fuzz.fail("an error without a name", plan.document, error)
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        fuzz.fail(f"an undeclared {type(error).__name__}: {error!s:.300}", plan.document, incoming.json)
    fuzz.note_cpu(time.thread_time() - started, plan.document)
    return run


CAMPAIGNS = [
    Campaign("fuzz.pipelines", fuzz_pipelines, counted="pipelines", short=1_000, long=1_000_000, short_seconds=40.0, least=0.05)
]
