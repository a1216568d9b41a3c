"""The law of doubling: twice as much of anything is at most two and a half times the work, counted and not timed.

Dialects come from the registry, and what they read is what they themselves have written: a new one is held to it by itself.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count

import pytest

from agentui.api.proxy.incoming import read_incoming
from agentui.chat.citations import Citation
from agentui.chat.deltas import TokenLogprob
from agentui.chat.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    merge_turns,
    pair_tool_calls,
    text_message,
)
from agentui.chat.reply import Choice, Reply, ReplyBuilder
from agentui.chat.request import ChatRequest, Params, ResponseFormat, Tool, WireRequest
from agentui.errors import AgentUIError, UpstreamRefused
from agentui.http.multipart import parameters_of, parse_form
from agentui.http.reading import holds_secret
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.pipeline.caches.thought_cache import ThoughtCache
from agentui.pipeline.tokens import estimate_tokens
from agentui.redaction import Redactor, mask_credentials, mask_url, secret_headers, secret_members
from agentui.templating.core.weight import Scale, beginning, is_heavier
from agentui.vendors.base import ModelInfo, Vendor, endpoint_of
from agentui.vendors.registry import make_vendors
from agentui.vendors.sse import SseDecoder, encode_event
from tests.unit.pipeline.parts import make_incoming
from tests.unit.work import assert_doubling

VENDORS: Mapping[str, Vendor] = make_vendors()  # type: ignore[assignment]  # its names are literals
Work = Callable[[], object]
HI = text_message("user", "hi")


def user(*parts: Part) -> list[Message]:
    return [Message("user", parts)]


def turns(size: int) -> list[Message]:
    return [text_message("user" if number % 2 == 0 else "assistant", f"word {number}") for number in range(size)]


def calls(size: int, id: Callable[[int], str | None] = str) -> list[Message]:
    """One message for every call and one for every result."""
    asked = [Message("assistant", (ToolCall(id(number), f"f{number % 5}", '{"a":1}'),)) for number in range(size)]
    told = [Message("tool", (ToolResult(id(number), (Text("x"),), f"f{number % 5}"),)) for number in range(size)]
    return [HI, *asked, *told]


def calls_at_once(size: int) -> list[Message]:
    asked: tuple[Part, ...] = tuple(ToolCall(None, f"f{number % 5}") for number in range(size))
    told: tuple[Part, ...] = tuple(ToolResult(None, (Text("x"),), f"f{number % 5}") for number in range(size))
    return [HI, Message("assistant", asked), Message("tool", told)]


def thoughts(size: int) -> list[Message]:
    parts: tuple[Part, ...] = tuple(Thinking(f"hm {number}", f"sig{number}", None, "claude") for number in range(size))
    return [HI, Message("assistant", (*parts, Text("so")))]


TALKS: Mapping[str, Callable[[int], list[Message]]] = {
    "turns": turns,
    "messages of one role": lambda size: [text_message("user", f"word {number}") for number in range(size)],
    "messages of one role that are not plain": lambda size: [
        Message("user", (Text("a"), Media("image", "image/png", "aGk="))) for _ in range(size)
    ],
    "system messages": lambda size: [*[text_message("system", f"rule {number}") for number in range(size)], HI],
    "system messages in between": lambda size: [
        text_message("system" if number % 2 else "user", f"word {number}") for number in range(size)
    ],
    "texts in a message": lambda size: user(*(Text(f"word {number}") for number in range(size))),
    "pictures in a message": lambda size: user(*(Media("image", "image/png", "aGk=") for _ in range(size))),
    "characters": lambda size: user(Text("a word, " * 20 * size)),
    "calls and results": calls,
    "calls under one id": lambda size: calls(size, lambda _: "same"),
    "calls without ids": lambda size: calls(size, lambda _: None),
    "ids that no dialect allows": lambda size: calls(size, lambda number: f"call:{number}/" + "x" * 80),
    "calls in one turn": calls_at_once,
    "results before their calls": lambda size: [HI, *reversed(calls(size)[1:])],
    "thoughts": thoughts,
    "speakers": lambda size: [Message("user", (Text("x"),), name=f"n{number}") for number in range(size)],
}
"""Conversations, by what there is more and more of."""


def with_tools(size: int, schema: Json) -> ChatRequest:
    return chat([HI], tools=tuple(Tool(f"tool{number}", "does", schema) for number in range(size)))


def chat(messages: Sequence[Message], **fields: object) -> ChatRequest:
    return ChatRequest("agentui", "gemini-3-pro", messages, **fields)  # type: ignore[arg-type]  # fields by their names


def wide(size: int) -> Json:
    return {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(size)}, "required": []}


def referring(size: int) -> Json:
    """Definitions that each refer to the next, every one twice."""
    definitions = {
        f"d{number}": {
            "type": "object",
            "properties": {"a": {"$ref": f"#/$defs/d{number + 1}"}, "b": {"$ref": f"#/$defs/d{number + 1}"}},
        }
        for number in range(size)
    }
    last = {f"d{size}": {"type": "string"}}
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": {**definitions, **last}}


def choosing(size: int) -> Json:
    return {"type": "object", "properties": {"x": {"enum": [f"v{number}" for number in range(size)]}}}


REQUESTS: Mapping[str, Callable[[int], ChatRequest]] = {
    **{name: (lambda size, talk=talk: chat(talk(size))) for name, talk in TALKS.items()},  # type: ignore[misc]  # a lambda's default has no type
    "tools": lambda size: with_tools(size, wide(2)),
    "properties of a tool": lambda size: with_tools(1, wide(size)),
    "choices of a property": lambda size: with_tools(1, choosing(size)),
    "references of a schema": lambda size: with_tools(1, referring(size)),
    "properties of an answer": lambda size: chat([HI], response_format=ResponseFormat("schema", wide(size), "answer")),
    "stop strings": lambda size: chat([HI], params=Params(stop=tuple(f"stop{number}" for number in range(size)))),
    "fields that are not modelled": lambda size: chat([HI], unmodelled=tuple(f"field{number}" for number in range(size))),
}


def rendered(vendor: Vendor, request: ChatRequest) -> WireRequest | None:
    with suppress(AgentUIError):
        return vendor.render_request(request)
    return None


@pytest.mark.parametrize("what", REQUESTS)
@pytest.mark.parametrize("name", VENDORS)
def test_requests_are_rendered_and_read_in_proportion(name: str, what: str) -> None:
    vendor = VENDORS[name]

    def rendering(size: int) -> Work:
        request = REQUESTS[what](size)
        return lambda: (rendered(vendor, request), _counted(vendor, request), estimate_tokens(request))

    def reading(size: int) -> Work:
        wire = rendered(vendor, REQUESTS[what](size)) or rendered(vendor, chat([HI]))
        assert wire is not None
        path, body = endpoint_of(vendor, wire).partition("?")[0], loads(dumps(wire.body))
        return lambda: _reread(vendor, path, body)

    assert_doubling(rendering)
    assert_doubling(reading)


def _counted(vendor: Vendor, request: ChatRequest) -> object:
    with suppress(AgentUIError):
        return vendor.count_tokens.render_request(request) if vendor.count_tokens is not None else None
    return None


def _reread(vendor: Vendor, path: str, body: Json) -> object:
    """Read a request, and write it anew in its own dialect, as blocks do."""
    with suppress(AgentUIError):
        request = vendor.parse_request(vendor.read_request(path, {}, {}, body))
        changed = request.asking([*request.messages, HI], "m", stream=False)
        return vendor.render_request(changed), vendor.render_prompt(request.messages)
    return None


@pytest.mark.parametrize("what", TALKS)
def test_conversations_are_paired_and_merged_in_proportion(what: str) -> None:
    def merging(size: int) -> Work:
        talk = TALKS[what](size)
        return lambda: merge_turns(pair_tool_calls(talk))

    assert_doubling(merging)


def answer(*parts: Part, **fields: object) -> Reply:
    return Reply((Choice(parts, "stop", **fields),), "r1", "m", 1)  # type: ignore[arg-type]  # fields by their names


def cited(number: int) -> tuple[Part, ...]:
    """Five characters of an answer, with the page on which they rest."""
    page = Citation(f"https://{number}.example", "A page", 5 * number, 5 * number + 5)
    return Text("word "), Opaque("agentui", "citations", {"type": "citations"}, (page,))


REPLIES: Mapping[str, Callable[[int], Reply]] = {
    "texts": lambda size: answer(*(Text(f"word {number} ") for number in range(size))),
    "characters": lambda size: answer(Text("a word, " * 20 * size)),
    "calls": lambda size: answer(*(ToolCall(f"c{number}", "f", '{"a":1}') for number in range(size))),
    "calls under one id": lambda size: answer(*(ToolCall("same", "f", '{"a":1}') for _ in range(size))),
    "arguments": lambda size: answer(ToolCall("c", "f", dumps({f"a{number}": "x" for number in range(size)}).decode())),
    "thoughts": lambda size: answer(*(Thinking(f"hm {number}", f"s{number}", None, "claude") for number in range(size))),
    "choices": lambda size: Reply(tuple(Choice((Text(f"w{number}"),), "stop") for number in range(size)), "r", "m", 1),
    "citations": lambda size: answer(*(part for number in range(size) for part in cited(number))),
    "probabilities": lambda size: answer(
        Text("x"), logprobs=tuple(TokenLogprob("x", -0.5, (("x", -0.5), ("y", -1.5))) for _ in range(size))
    ),
}


@pytest.mark.parametrize("what", REPLIES)
@pytest.mark.parametrize("name", VENDORS)
def test_answers_are_rendered_and_read_in_proportion(name: str, what: str) -> None:
    vendor = VENDORS[name]
    wire = vendor.render_request(chat([HI]))

    def rendering(size: int) -> Work:
        reply = REPLIES[what](size)
        return lambda: vendor.render_reply(reply, wire)

    def reading(size: int) -> Work:
        body = loads(dumps(vendor.render_reply(REPLIES[what](size), wire)))
        return lambda: vendor.parse_reply(body)

    assert_doubling(rendering)
    assert_doubling(reading)


@pytest.mark.parametrize("what", REPLIES)
@pytest.mark.parametrize("name", VENDORS)
def test_streams_are_rendered_and_read_in_proportion(name: str, what: str) -> None:
    vendor = VENDORS[name]
    wire = replace(vendor.render_request(chat([HI], stream=True)), query={"alt": "sse"})

    def rendering(size: int) -> Work:
        deltas = list(_pieces(REPLIES[what](size)))

        def render() -> None:
            renderer, end = vendor.stream_renderer(wire), vendor.stream_end()
            for delta in deltas:
                end.in_deltas([delta])
                renderer.feed(delta)

        return render

    def reading(size: int) -> Work:
        renderer = vendor.stream_renderer(wire)
        told = b"".join([renderer.feed(delta) for delta in _pieces(REPLIES[what](size))])

        def read() -> None:
            decoder, parser, end, held = SseDecoder(), vendor.stream_parser(), vendor.stream_end(), vendor.stream_end()
            builder = ReplyBuilder()
            for start in range(0, len(told), 61):
                chunk = told[start : start + 61]
                held.hold(chunk)
                for event in decoder.feed(chunk):
                    deltas = parser.feed(event)
                    end.in_events([event], deltas)
                    renderer.passthrough(event)
                    builder.feed(deltas)
            builder.feed(parser.close())
            builder.reply()

        return read

    assert_doubling(rendering)
    assert_doubling(reading)


def _pieces(reply: Reply) -> Iterator[object]:
    """The deltas of an answer, long ones in pieces."""
    for delta in reply.deltas():
        for field in ("text", "arguments"):
            whole = getattr(delta, field, None)
            if isinstance(whole, str) and len(whole) > 40:
                yield from (replace(delta, **{field: whole[at : at + 40]}) for at in range(0, len(whole), 40))  # type: ignore[type-var]  # every delta is a dataclass
                break
        else:
            yield delta


ERRORS: Mapping[str, Callable[[int], bytes]] = {
    "words": lambda size: dumps({"error": {"message": "no, " * 20 * size, "type": "x", "code": 400, "status": "X"}}),
    "details": lambda size: dumps({"error": {"message": "no", "details": [{"a": "b", "reason": "c"}] * size}}),
    "errors": lambda size: dumps([{"error": {"message": "no"}}] * 2 * size),
    "fields": lambda size: dumps({"detail": [{"loc": ["body", str(number)], "msg": "no"} for number in range(size)]}),
    "members": lambda size: dumps({f"m{number}": "x" for number in range(size)}),
    "no JSON": lambda size: b"<p>no</p> & no more " * 20 * size,
}


@pytest.mark.parametrize("what", ERRORS)
@pytest.mark.parametrize("name", VENDORS)
def test_errors_are_read_and_rendered_in_proportion(name: str, what: str) -> None:
    vendor = VENDORS[name]
    others = [other for other in VENDORS.values() if other is not vendor]

    def telling(size: int) -> Work:
        body = ERRORS[what](size)

        def tell() -> None:
            error = vendor.parse_error(400, {f"x-h{number}": "v" for number in range(size)}, body)
            assert isinstance(error, UpstreamRefused)
            vendor.render_error(error)
            for other in others:
                other.render_error(error)

        return tell

    # Shorter JSON is looked at for its depth in other ways, so the step between the two would count as growth.
    assert_doubling(telling, short=1000, doublings=1)


@pytest.mark.parametrize("name", VENDORS)
def test_lists_of_models_and_vectors_are_read_in_proportion(name: str) -> None:
    vendor = VENDORS[name]

    def listing(size: int) -> Work:
        body = loads(dumps(vendor.models.render_list([ModelInfo(f"m{number}", f"M {number}") for number in range(size)])))
        return lambda: vendor.models.render_list(vendor.models.parse_list(body))

    def embedding(size: int) -> Work:
        wire = WireRequest("openai", "embeddings", "m", False, "/v1/embeddings", {"model": "m", "input": ["x"] * size})
        return lambda: vendor.embeddings.render_request(wire) if vendor.embeddings is not None else None

    assert_doubling(listing)
    assert_doubling(embedding)


_FRESH = count()


def knowing(size: int) -> Redactor:
    """A redactor of new secrets, whose forms nobody has worked out before, and of one that is known."""
    redactor = Redactor()
    redactor.register("secret-number-0003", *(f"secret-number-{next(_FRESH):09}" for _ in range(size)))
    return redactor


def headers(size: int) -> dict[str, str]:
    return {f"x-header-{number}": f"value {number}" for number in range(size)}


def nested(size: int) -> bytes:
    return b"[" * 90 + b'{"a":[1,2,{"b":[]}]},' * size + b"1" + b"]" * 90


def form_part(disposition: bytes) -> Work:
    body = b"--cut\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\nx\r\n--cut--"

    def work() -> None:
        with suppress(AgentUIError):
            parse_form(body, "multipart/form-data; boundary=cut")

    return work


def incoming(size: int, **changed: object) -> Work:
    body = dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
    fields = {"query": "", "headers": {"content-type": "application/json"}, "body": body, **changed}
    path = "/v1/chat/completions"
    return lambda: read_incoming(VENDORS, "own-token-123", method="POST", url=f"http://h{path}", path=path, **fields)  # type: ignore[arg-type]  # fields by their names


def reading_lines(line: bytes, chunk: int) -> Callable[[int], Work]:
    def prepare(size: int) -> Work:
        text = line * size + b"\n\n"
        pieces = [text[at : at + chunk] for at in range(0, len(text), chunk)]
        decoder = SseDecoder()
        return lambda: [decoder.feed(piece) for piece in pieces]

    return prepare


def refused(raw: bytes) -> object:
    with suppress(InvalidJson):
        return loads(raw)
    return None


def weighing(value: Json) -> Work:
    return lambda: (Scale().weigh(value), is_heavier(value, 10**9))


def grounded_events(size: int) -> Work:
    """A stream of Gemini's whose every event says which page it rests on."""
    metadata = {"groundingChunks": [{"web": {"uri": "https://a.example"}}], "groundingSupports": []}
    candidate = {"content": {"parts": [{"text": "words " * 500}]}, "groundingMetadata": metadata}
    stream = b"".join([encode_event(dumps({"candidates": [candidate]}))] * size)

    def read() -> None:
        parser = VENDORS["gemini"].stream_parser()
        for event in SseDecoder().feed(stream):
            parser.feed(event)
        parser.close()

    return read


def pages_beside_choices(size: int) -> Work:
    openai, gemini = VENDORS["openai"], VENDORS["gemini"]
    choices = [{"message": {"content": "x"}}] * 4 * size
    body = {"id": "c", "choices": choices, "citations": [f"https://{number}.example" for number in range(4 * size)]}
    return lambda: gemini.render_reply(openai.parse_reply(body), gemini.render_request(chat([HI])))


def calls_of_a_kept_thought(size: int) -> Work:
    """A message of calls under one id, whose thoughts the caller has lost."""
    asked, memory = make_incoming(), ThoughtCache()
    asks = ToolCall("c1", "look", "{}")
    memory.remember("claude", "a", asked, answer(Thinking("hm", "sig", None, "claude"), asks))
    return lambda: memory.restore("claude", "a", asked, [Message("assistant", (asks,) * size)])


JSON_HEADERS = {"content-type": "application/json"}
OTHERS: Mapping[str, Callable[[int], Work]] = {
    "redaction of a longer text": lambda size: partial(knowing(20).redact, "words and secret-number-0003, " * 20 * size),
    "redaction of more secrets": lambda size: partial(knowing(size).redact, "words and secret-number-0003, " * 500),
    "redaction of JSON": lambda size: partial(knowing(20).redact_json, [{"a": "secret-number-0003"}] * size),
    "a secret in pieces": lambda size: partial(knowing(size).unfinished, "words and secret-num" * 20),
    "cookies": lambda size: lambda: secret_headers({"cookie": "; ".join(f"c{n}=value-{n}" for n in range(size))}),
    "headers of secrets": lambda size: partial(secret_headers, headers(size)),
    "members of a body": lambda size: lambda: list(secret_members([{"api_key": f"k{n}"} for n in range(size)])),
    "pairs of an address": lambda size: lambda: mask_url("https://h/?" + "&".join(f"key=a{n}&x=1" for n in range(size))),
    "names in an address": lambda size: lambda: mask_url("https://h/?" + "a://b." * size),
    "lines of a log": lambda size: lambda: mask_credentials("authorization: Bearer abcdefgh12 and api-key \n" * size),
    "values of a header": lambda size: lambda: holds_secret("Bearer x, " * size, "own-token-123"),
    "parameters of a header": lambda size: partial(parameters_of, 'form-data; x="' + ";" * 40 * size),
    "quotes of a header": lambda size: partial(parameters_of, "form-data" + ';x="' * 40 * size),
    "escapes of a header": lambda size: partial(parameters_of, "form-data" + r';x="\\";\\' * 40 * size),
    "a part of a form": lambda size: form_part(b'name="file"; x="' + b";" * 40 * size),
    "lines of a part": lambda size: form_part(b'name="file"\r\n' + b"a: b\r\n" * 40 * size),
    "an encoded name": lambda size: form_part(b"name=a; filename*=utf-8''" + b"%41" * 40 * size),
    "JSON that is wide": lambda size: lambda: refused(b"[" + b"{}," * 40 * size + b"1]"),
    "JSON that quotes brackets": lambda size: partial(loads, dumps(['[{"' * 1000 * size])),
    "JSON that is nested": lambda size: lambda: refused(nested(size)),
    "JSON that is too deep": lambda size: lambda: refused(b"[" * 20 * size + b"]" * 20 * size),
    "a query": lambda size: incoming(size, query="&".join(f"k{n}=v" for n in range(size))),
    "headers": lambda size: incoming(size, headers={**JSON_HEADERS, **headers(size)}),
    "short chunks of a long line": reading_lines(b"data: " + b"x" * 200, 7),
    "lines of an event": reading_lines(b"data: x\n", 64),
    "line ends of every kind": reading_lines(b"data: x\r\rdata: y\n", 5),
    "comments": reading_lines(b": ping\n\n", 3),
    "a value that is weighed": lambda size: weighing(loads(nested(size))),
    "the beginning of a value": lambda size: partial(beginning, loads(nested(size)), 1000 * size),
    "pages that every event names": grounded_events,
    "pages beside choices": pages_beside_choices,
    "calls of a kept thought": calls_of_a_kept_thought,
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_stands_around_the_dialects_works_in_proportion(what: str) -> None:
    assert_doubling(OTHERS[what])


def _in_lines(size: int) -> Work:
    def work() -> None:
        for _ in range(size):
            for _ in range(size // 10):
                pass

    return work


def _looking_again(size: int) -> Work:
    def work() -> None:
        waiting = b""
        for _ in range(size):
            waiting += b"x" * 60
            waiting.find(b"\n")

    return work


def _copying_the_rest(size: int) -> Work:
    def work() -> None:
        text = "word " * 20 * size
        while text:
            text = text[100:]

    return work


def _moving_all(size: int) -> Work:
    def work() -> None:
        items: list[int] = []
        for number in range(size * 20):
            items.insert(0, number)

    return work


@pytest.mark.parametrize("planted", [_in_lines, _looking_again, _copying_the_rest, _moving_all])
def test_the_law_finds_what_is_planted(planted: Callable[[int], Work]) -> None:
    with pytest.raises(AssertionError):
        assert_doubling(planted)
