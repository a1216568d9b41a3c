"""What the demo model says: no dialect, no sockets, the same answer for the same question.

Tokens are words here.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from agentui.jsonio import Json, dumps_text

MODELS = ("demo-small", "demo-large")
CREATED = 1_790_000_000
"""When the demo models were "made", in seconds since 1970."""

INTRODUCTION = "This is agentui's built-in demo model, not a real one."

Finish = Literal["stop", "stop_sequence", "length", "tool_calls"]

_ERROR_MODEL = re.compile(r"demo-error-([45]\d\d)")
_ASKS_FOR_TOOL = re.compile(r"\b(tool|call)s?\b", re.IGNORECASE)
_WORD = re.compile(r"\s*\S+\s*")
_QUOTE = 300
_SYSTEM_QUOTE = 60
_DEEP = 8
_TOO_DEEP = 24
_MOST_VALUES = 1000
_EMBEDDING_SIZE = 8
_EMBEDDING_LIMIT = 4096


class DemoError(Exception):
    """The demo refuses; each dialect puts ``status`` and ``message`` into its own shape. ``retry_after`` is in seconds."""

    def __init__(self, status: int, message: str, *, param: str | None = None, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that may be called; ``schema`` is JSON Schema of its arguments (or Gemini's subset)."""

    name: str
    schema: Json = None


@dataclass(frozen=True, slots=True)
class Ask:
    """A question with the dialect taken off.

    ``tool_results`` are those that the conversation ends with. ``choice`` is auto, none, required or the name of the
    tool that must be called. ``schema`` asks for JSON that fits it, ``json`` for any JSON. ``heard`` is every text of
    the request, for counting.
    """

    model: str
    user: str = ""
    system: str = ""
    heard: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    choice: str = "auto"
    parallel: bool = True
    tool_results: tuple[str, ...] = ()
    schema: Json = None
    json: bool = False
    thinking: bool = False
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to call, its arguments as a JSON object."""

    name: str
    arguments: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the demo says. Token counts are words; ``output_tokens`` includes the thought's ``reasoning_tokens``."""

    text: str
    finish: Finish
    calls: tuple[Call, ...] = ()
    thought: str | None = None
    stop_sequence: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0


def answer(ask: Ask, variant: int = 0) -> Answer:
    """Answer a question; ``variant`` counts the choices from 0. Raises DemoError for a ``demo-error-<status>`` model."""
    raise_on_demand(ask.model)
    calls = _calls(ask)
    thought = "The demo thinks for a moment, as it was asked to." if ask.thinking else None
    reasoning = count_tokens([thought or ""])
    text, finish, stop = ("", "tool_calls", None) if calls else _limited(_text(ask, variant), ask)
    spoken = [text, *(dumps_text(call.arguments) for call in calls)]
    return Answer(
        text=text,
        finish=finish,
        calls=calls,
        thought=thought,
        stop_sequence=stop,
        input_tokens=count_tokens(ask.heard),
        output_tokens=reasoning + count_tokens(spoken),
        reasoning_tokens=reasoning,
    )


def raise_on_demand(model: str) -> None:
    """Raise the error that a model named ``demo-error-<status>`` stands for."""
    wanted = _ERROR_MODEL.fullmatch(model)
    if wanted:
        status = int(wanted[1])
        retry_after = 1 if status in (429, 503, 529) else None
        raise DemoError(status, f"The demo answers {status}, as the model's name asked it to.", retry_after=retry_after)


def words(text: str) -> list[str]:
    """Text cut into words, each with the space after it; joined they are the text again."""
    return _WORD.findall(text) or ([text] if text else [])


def count_tokens(texts: Iterable[str]) -> int:
    """The number of words."""
    return sum(len(text.split()) for text in texts)


def embedding(text: str, dimensions: int | None = None) -> list[float]:
    """A unit vector that is always the same for the same text."""
    size = min(max(dimensions or _EMBEDDING_SIZE, 1), _EMBEDDING_LIMIT)
    raw = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(size * 2)
    values = [int.from_bytes(raw[at : at + 2], "big") / 32767.5 - 1 for at in range(0, len(raw), 2)]
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / length for value in values]


def sample(schema: Json) -> Json:
    """A value that fits a JSON Schema: "demo", 1, true, the first of an enum, the required properties of an object."""
    return _Sampler(schema).value(schema)


def _text(ask: Ask, variant: int) -> str:
    """The words of an answer without a tool call."""
    if ask.schema is not None:
        return dumps_text(sample(ask.schema))
    if ask.json:
        return dumps_text({"demo": True, "you_said": _short(ask.user, _QUOTE)})
    if ask.tool_results:
        said = " ".join(f'"{_short(result, _QUOTE)}"' for result in ask.tool_results)
        text = f"{INTRODUCTION} The tool answered: {said}"
    else:
        text = f"{INTRODUCTION} You said: {_short(ask.user, _QUOTE) or '(nothing)'}"
    if ask.system:
        text += f'\nThe system prompt begins: "{_short(ask.system, _SYSTEM_QUOTE)}"'
    return f"{text} (choice {variant + 1})" if variant else text


def _short(text: str, limit: int) -> str:
    """The beginning of a text."""
    text = text.strip()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _limited(text: str, ask: Ask) -> tuple[str, Finish, str | None]:
    """The text up to the first stop string and within the limit of tokens, and why it ends there."""
    finish: Finish = "stop"
    found = min(((at, stop) for stop in ask.stop if stop and (at := text.find(stop)) >= 0), default=None)
    if found is not None:
        text, finish = text[: found[0]], "stop_sequence"
    pieces = words(text)
    if ask.max_tokens is not None and len(pieces) > ask.max_tokens:
        return "".join(pieces[: ask.max_tokens]).rstrip(), "length", None
    return text, finish, found[1] if found else None


def _calls(ask: Ask) -> tuple[Call, ...]:
    """The tools to call now; after their results the demo answers with text."""
    if ask.tool_results or ask.choice == "none" or not ask.tools:
        return ()
    wanted = _wanted(ask)
    if not ask.parallel:
        wanted = wanted[:1]
    return tuple(Call(tool.name, _arguments(tool.schema)) for tool in wanted)


def _wanted(ask: Ask) -> list[Tool]:
    """The tools that the request asks for: forced, named by the user, or the first when a tool is spoken of."""
    if ask.choice not in ("auto", "required"):
        return [tool for tool in ask.tools if tool.name == ask.choice]
    named = [tool for tool in ask.tools if tool.name.lower() in ask.user.lower()]
    if named:
        return named
    return [ask.tools[0]] if ask.choice == "required" or _ASKS_FOR_TOOL.search(ask.user) else []


def _arguments(schema: Json) -> dict[str, Json]:
    """Arguments that fit a tool's schema."""
    value = sample(schema) if schema else {}
    return value if isinstance(value, dict) else {}


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
