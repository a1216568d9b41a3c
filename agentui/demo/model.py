"""What the demo model says: neutral requests in, neutral replies out, the same answer for the same question.

Tokens are words here.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from agentui.chat.deltas import Delta, FinishReason, TextDelta, ThinkingDelta, Usage, UsageDelta
from agentui.chat.messages import Part, Text, Thinking, ToolCall, ToolResult
from agentui.chat.reply import Choice, Reply
from agentui.chat.request import ChatRequest, ThinkingConfig, Tool, ToolChoice
from agentui.errors import UpstreamRefused, kind_of_status
from agentui.ids import new_id
from agentui.jsonio import InvalidJson, Json, dumps_text, loads

INTRODUCTION = "This is agentui's built-in demo model, not a real one."
CREATED = 1_790_000_000
"""When the demo models were "made", in seconds since 1970."""

_SIGNATURE = "YWdlbnR1aSBkZW1vOiBub3QgYSByZWFsIHNpZ25hdHVyZQ=="
"""Base64 of "agentui demo: not a real signature"; dialects want one on thoughts and calls, and give it back."""
_ERROR_MODEL = re.compile(r"demo-error-([45]\d\d)")
_ASKS_FOR_TOOL = re.compile(r"\b(tool|call)s?\b", re.IGNORECASE)
_ONE_OF = re.compile(r"Answer with one of these words: ([^.\n]+)")
"""What a system prompt says that wants a verdict; the words stand between commas."""
_WORD = re.compile(r"\s*\S+\s*")
_REMEMBERS = re.compile(r"Answer with one JSON object of (memories|a large summary)\b")
"""What a system prompt says that wants memories; the next message is JSON."""
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_OF_ONES_OWN = re.compile(r"\b(?:my|the) ([\w' -]{1,40}?) (?:is|are|was|were) ", re.IGNORECASE)
_MOST_FACTS = 3
_MOST_CHOICES = 8
_QUOTE = 300
_SYSTEM_QUOTE = 60
_DEEP = 8
_TOO_DEEP = 24
_MOST_VALUES = 1000
_EMBEDDING_SIZE = 8
_EMBEDDING_LIMIT = 4096


def answer(chat: ChatRequest) -> Reply:
    """Answer a request, with as many choices as it asks for (at most 8)."""
    results = _last_results(chat)
    wanted = max(1, min(chat.params.n or 1, _MOST_CHOICES))
    choices = tuple(_choice(chat, results, variant) for variant in range(wanted))
    reasoning = sum(_count(part.text for part in choice.parts if isinstance(part, Thinking)) for choice in choices)
    spoken = sum(_count((choice.text, *(call.arguments for call in choice.tool_calls))) for choice in choices)
    usage = Usage(input=count_tokens(chat), output=spoken + reasoning, reasoning=reasoning)
    return Reply(choices, model=chat.model, created=CREATED, usage=usage)


def deltas(reply: Reply) -> Iterator[Delta]:
    """The reply as it is streamed: what was asked is counted at the beginning, and the words come one by one."""
    if reply.usage is not None:
        yield UsageDelta(Usage(input=reply.usage.input))
    for delta in reply.deltas():
        match delta:
            case TextDelta(text, choice):
                yield from (TextDelta(word, choice) for word in words(text))
            case ThinkingDelta(text):
                said = words(text)
                yield from (replace(delta, text=word, signature=None) for word in said[:-1])
                yield replace(delta, text=said[-1])
            case _:
                yield delta


def refuse_on_demand(model: str) -> None:
    """Raise the error that a model named ``demo-error-<status>`` stands for."""
    wanted = _ERROR_MODEL.fullmatch(model)
    if wanted:
        status = int(wanted[1])
        raise UpstreamRefused(
            f"The demo answers {status}, as the model's name asked it to.",
            status=status,
            kind=kind_of_status(status),
            vendor="demo",
            retry_after=1.0 if status in (429, 503, 529) else None,
        )


def words(text: str) -> list[str]:
    """Text cut into words, each with the space after it; joined they are the text again."""
    return _WORD.findall(text) or ([text] if text else [])


def count_tokens(chat: ChatRequest) -> int:
    """The number of words in a conversation."""
    return _count(_text_of(part) for message in chat.messages for part in message.parts)


def _count(texts: Iterable[str]) -> int:
    return sum(len(text.split()) for text in texts)


def embedding(text: str, dimensions: Json = None) -> list[float]:
    """A unit vector that is always the same for the same text, of 8 numbers where ``dimensions`` is no number."""
    size = min(max(dimensions if isinstance(dimensions, int) else _EMBEDDING_SIZE, 1), _EMBEDDING_LIMIT)
    raw = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(size * 2)
    values = [int.from_bytes(raw[at : at + 2], "big") / 32767.5 - 1 for at in range(0, len(raw), 2)]
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / length for value in values]


def sample(schema: Json) -> Json:
    """A value that fits a JSON Schema: "demo", 1, true, the first of an enum, the required properties of an object."""
    return _Sampler(schema).value(schema)


def _choice(chat: ChatRequest, results: tuple[str, ...], variant: int) -> Choice:
    """One choice; ``variant`` counts them from 0."""
    parts: list[Part] = []
    if _is_to_think(chat.thinking):
        parts.append(Thinking("The demo thinks for a moment, as it was asked to.", _SIGNATURE, None, chat.vendor))
    if not results and (tools := _wanted(chat)):
        return Choice((*parts, *_calls(tools, chat.vendor)), "tool_calls")
    text, finish, stop = _limited(_text(chat, results, variant), chat.params.max_tokens, chat.params.stop or ())
    return Choice((*parts, Text(text)), finish, stop)


def _is_to_think(thinking: ThinkingConfig | None) -> bool:
    """Whether thoughts are asked for, and may be shown."""
    return thinking is not None and thinking.mode != "disabled" and thinking.effort != "none" and thinking.include is not False


def _last_results(chat: ChatRequest) -> tuple[str, ...]:
    """The tool results that the conversation ends with."""
    found: list[str] = []
    for message in reversed(chat.messages):
        results = [_text_of(part) for part in message.parts if isinstance(part, ToolResult)]
        if not results:
            break
        found[:0] = results
    return tuple(found)


def _text_of(part: Part) -> str:
    """The words in a part; those of a JSON result are what it wraps, or its text."""
    match part:
        case Text(text):
            return text
        case ToolResult(value={"result": str(text)} | {"output": str(text)}):
            return text
        case ToolResult():
            return part.text or ("" if part.value is None else dumps_text(part.value))
    return ""


def _text(chat: ChatRequest, results: tuple[str, ...], variant: int) -> str:
    """The words of an answer without a tool call."""
    form = chat.response_format
    if form is not None and form.schema is not None:
        return dumps_text(sample(form.schema))
    if form is not None and form.kind == "json":
        return dumps_text({"demo": True, "you_said": _short(chat.last_user, _QUOTE)})
    if wanted := _ONE_OF.search(chat.system):
        return _verdict(wanted[1].split(","), chat.last_user)
    if wanted := _REMEMBERS.search(chat.system):
        return _memories(chat.last_user) if wanted[1] == "memories" else _large_summary(chat.last_user)
    if results:
        said = " ".join(f'"{_short(result, _QUOTE)}"' for result in results)
        text = f"{INTRODUCTION} The tool answered: {said}"
    else:
        text = f"{INTRODUCTION} You said: {_short(chat.last_user, _QUOTE) or '(nothing)'}"
    if chat.system:
        text += f'\nThe system prompt begins: "{_short(chat.system, _SYSTEM_QUOTE)}"'
    return f"{text} (choice {variant + 1})" if variant else text


def _memories(data: str) -> str:
    """What the demo remembers of a conversation: of each turn what the user said, and their first sentences that state
    something. A sentence about "my sword" takes the place of one that is known about it."""
    asked = _document(data)
    known = {fact.get("factKey"): fact.get("id") for fact in asked.get("known", {}).get("facts", [])}
    added: list[Json] = []
    updated: list[Json] = []
    summaries: list[Json] = []
    for floor in asked.get("floors", []):
        said = " ".join(each["text"] for each in floor["said"] if each["speaker"] == "user")
        if said.strip():
            summaries.append({"floor": floor["floor"], "summary": f"The user said: {_short(said, _QUOTE)}"})
        stated = [sentence.strip() for sentence in _SENTENCE.findall(said) if not sentence.rstrip().endswith(("?", "？"))]
        for sentence in [each for each in stated if len(each.split()) > 2 or not each.isascii()][:_MOST_FACTS]:
            about = _OF_ONES_OWN.search(sentence)
            key = about[1].lower().replace(" ", "_") if about else None
            fact = {"value": sentence, "quote": sentence, **({"factKey": key} if key else {})}
            if key in known and key is not None:
                updated.append({**fact, "id": known[key]})
            else:
                added.append(fact)
    return dumps_text({"microSummaries": summaries, "factsAdd": added, "factsUpdate": updated})


def _large_summary(data: str) -> str:
    """The summaries that the demo is given, one after the other."""
    return dumps_text({"macroSummary": " ".join(str(each) for each in _document(data).get("summaries", []))})


def _document(text: str) -> dict[str, Json]:
    """A JSON object; an empty one for anything else."""
    try:
        found = loads(text.encode("utf-8", "replace"))
    except InvalidJson:
        return {}
    return found if isinstance(found, dict) else {}


def _verdict(words: Iterable[str], text: str) -> str:
    """The one of these words that the text has first, in any case; the last of them where it has none."""
    found = [word.strip() for word in words]
    places = {word: re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) for word in found}
    return min((at.start(), word) for word, at in places.items() if at)[1] if any(places.values()) else found[-1]


def _short(text: str, limit: int) -> str:
    """The beginning of a text."""
    text = text.strip()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _limited(text: str, max_tokens: int | None, stops: Iterable[str]) -> tuple[str, FinishReason, str | None]:
    """The text up to the first stop string and within the limit of tokens, and why it ends there."""
    finish: FinishReason = "stop"
    found = min(((at, stop) for stop in stops if stop and (at := text.find(stop)) >= 0), default=None)
    if found is not None:
        text, finish = text[: found[0]], "stop_sequence"
    pieces = words(text)
    if max_tokens is not None and 0 < max_tokens < len(pieces):
        return "".join(pieces[:max_tokens]).rstrip(), "length", None
    return text, finish, found[1] if found else None


def _wanted(chat: ChatRequest) -> list[Tool]:
    """The tools to call: forced, named by the user, or the first when a tool is spoken of."""
    choice = chat.tool_choice or ToolChoice()
    tools = [tool for tool in chat.tools if isinstance(tool, Tool)]
    user = chat.last_user
    match choice.mode:
        case "none":
            wanted = []
        case "named":
            wanted = [tool for tool in tools if tool.name in choice.names] or tools[:1]
        case mode:
            speaks_of_one = mode == "required" or _ASKS_FOR_TOOL.search(user)
            wanted = [tool for tool in tools if tool.name.lower() in user.lower()] or (tools[:1] if speaks_of_one else [])
    return wanted[:1] if choice.parallel is False else wanted


def _calls(tools: Iterable[Tool], vendor: str) -> Iterator[ToolCall]:
    """A call of each, with arguments that fit; the first one is signed, as some dialects want it."""
    for number, tool in enumerate(tools):
        arguments = sample(tool.schema) if tool.schema else {}
        text = dumps_text(arguments if isinstance(arguments, dict) else {})
        signature = (None, None) if number else (_SIGNATURE, vendor)
        yield ToolCall(new_id("call"), tool.name, text, *signature)


def _type_of(schema: Mapping[str, Json]) -> str:
    """The type of a schema in lower case; the first that is not null where there are several."""
    kind = schema.get("type") or ("object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    return str(kind).lower()


def _resolve(reference: str, root: Json) -> Json:
    """What ``#/a/b`` points at; {} for anything else."""
    value = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        value = value.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) and step else value
    return value or {}


class _Sampler:
    """Makes values for schemas within ``root``, at most ``_MOST_VALUES``: a recursive schema may want more than there is."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._left = _MOST_VALUES

    def value(self, schema: Json, depth: int = 0) -> Json:
        """A value for one schema; {} where it is too deep or there are too many."""
        self._left -= 1
        if not isinstance(schema, dict) or depth > _TOO_DEEP or self._left < 0:
            return {}
        if "$ref" in schema:
            return self.value(_resolve(str(schema["$ref"]), self._root), depth + 1)
        if "const" in schema:
            return schema["const"]
        match schema:
            case {"enum": [first, *_]}:
                return first
            case {"anyOf": [first, *rest]} | {"any_of": [first, *rest]} | {"oneOf": [first, *rest]}:
                # Deep within a recursive schema the last way out is usually the one that ends.
                return self.value(rest[-1] if rest and depth > _DEEP else first, depth + 1)
        return self._of_type(_type_of(schema), schema, depth)

    def _of_type(self, kind: str, schema: Mapping[str, Json], depth: int) -> Json:
        """A value of one type."""
        match kind:
            case "object":
                properties = schema.get("properties")
                properties = properties if isinstance(properties, dict) else {}
                required = schema.get("required")
                names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
                return {name: self.value(properties.get(name), depth + 1) for name in names}
            case "array":
                return [self.value(schema["items"], depth + 1)] if schema.get("items") else []
            case "integer" | "number":
                least = schema.get("minimum")
                return max(1, least) if isinstance(least, (int, float)) else 1
            case "boolean":
                return True
            case "null":
                return None
        return "demo"
