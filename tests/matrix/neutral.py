"""What a test asks, what a caller hears and what an upstream saw, in no dialect."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

CALLERS = ("openai", "openai_responses", "claude", "gemini")
UPSTREAMS = CALLERS


@dataclass(frozen=True)
class Image:
    """A picture: its bytes, or where it is."""

    data: bytes = b""
    url: str = ""
    media_type: str = "image/png"


@dataclass(frozen=True)
class Pdf:
    """A document's bytes."""

    data: bytes


@dataclass(frozen=True)
class User:
    """Words, pictures and documents of the user."""

    parts: tuple["str | Image | Pdf", ...]


@dataclass(frozen=True)
class Said:
    """What the model said before, as plain words."""

    text: str


@dataclass(frozen=True)
class Heard:
    """What the model said before, as the SDK gave it: goes back as it came."""

    answer: "Answer"


@dataclass(frozen=True)
class Result:
    """What a tool gave for one call."""

    call: "Call"
    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Results:
    """The results of one turn's calls."""

    results: tuple[Result, ...]


Turn: TypeAlias = User | Said | Heard | Results


def user(*parts: str | Image | Pdf) -> User:
    """A user's turn."""
    return User(parts)


@dataclass(frozen=True)
class ToolDef:
    """A function that may be called."""

    name: str = "weather"
    description: str = "Tells the weather."
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Ask:
    """One question."""

    model: str = "text"
    turns: tuple[Turn, ...] = (User(("Hello there",)),)
    system: str | None = None
    tools: tuple[ToolDef, ...] = ()
    choice: str | None = None
    """``none``, ``required`` or a tool's name."""
    parallel: bool | None = None
    schema: Mapping[str, Any] | None = None
    json: bool = False
    think: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] | None = None
    seed: int | None = None
    presence: float | None = None
    frequency: float | None = None
    n: int | None = None
    top_logprobs: int | None = None
    user: str | None = None


@dataclass(frozen=True)
class Call:
    """A tool call as the SDK shows it."""

    id: str | None
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Tokens:
    """Usage as the SDK shows it, totals in: cached in ``input``, thoughts in ``output``."""

    input: int
    output: int
    cached: int = 0
    reasoning: int = 0


@dataclass
class Answer:
    """What the caller's SDK gave."""

    texts: list[str]
    finish: str | None
    thoughts: str = ""
    refusal: str = ""
    calls: list[Call] = field(default_factory=list)
    usage: Tokens | None = None
    logprobs: list[tuple[str, float, int]] = field(default_factory=list)
    """Token, logarithm and number of rivals."""
    model: str | None = None
    native: Any = None
    dropped: tuple[str, ...] = ()
    pieces: int = 0
    """How many pieces of text or arguments a stream had."""

    @property
    def text(self) -> str:
        """The first candidate's text."""
        return self.texts[0] if self.texts else ""


Part: TypeAlias = tuple[Any, ...]
"""``("text", words)``, ``("image", bytes or url)``, ``("pdf", bytes)``, ``("call", id, name, arguments)``,
``("result", id, name, text, is_error)``, ``("thought", token)``."""


@dataclass
class Seen:
    """What an upstream got. Neighbouring turns of one side are one; tool results are the user's side."""

    model: str
    stream: bool
    system: str
    turns: list[tuple[Literal["user", "assistant"], list[Part]]]
    tools: list[tuple[str, str | None, Any]] = field(default_factory=list)
    choice: str | None = None
    parallel: bool | None = None
    schema: Any = None
    json: bool = False
    thinks: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: list[str] | None = None
    seed: int | None = None
    presence: float | None = None
    frequency: float | None = None
    n: int | None = None
    top_logprobs: int | None = None
    user: str | None = None

    def parts(self, kind: str) -> list[Part]:
        """All parts of one kind, in order."""
        return [part for _, parts in self.turns for part in parts if part[0] == kind]

    def conversation(self) -> list[tuple[str, str]]:
        """Who said which words."""
        return [(role, "".join(part[1] for part in parts if part[0] == "text")) for role, parts in self.turns]
