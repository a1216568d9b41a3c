"""Reading a model's answer: JSON of whatever shape, of which the parts are kept that can be understood."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from agentui.jsonio import InvalidJson, Json, loads

LONGEST_ANSWER: Final = 200_000
"""Characters of an answer that are read; a longer one is no answer to what was asked."""
LONGEST_VALUE: Final = 2000
LONGEST_KEY: Final = 120
MOST_OF_A_KIND: Final = 40

Kind: TypeAlias = Literal["add", "update", "deprecate", "open", "resolve"]

_LISTS: Final[Mapping[str, tuple[Kind, tuple[str, ...]]]] = {
    "factsAdd": ("add", ("value", "content")),
    "factsUpdate": ("update", ("value", "content")),
    "factsDeprecate": ("deprecate", ("reason",)),
    "openLoopsAdd": ("open", ("content", "value")),
    "openLoopsResolve": ("resolve", ("resolution", "reason")),
}
"""The lists of an answer, and under which names an entry has its words (TavernHeadless' contract, 3.6)."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """An entry of one of the lists. ``named`` is the short name of the item that it changes."""

    kind: Kind
    text: str
    quote: str
    named: str | None = None
    key: str | None = None
    importance: float | None = None
    scope: str | None = None
    contradicts: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model proposed. ``summaries`` are those of floors by their numbers, ``summary`` is one of all that it read."""

    entries: tuple[Proposed, ...] = ()
    summaries: Mapping[int, str] | None = None
    summary: str | None = None


def read_answer(text: str) -> Answer | None:
    """The answer in a model's words; None where there is no JSON object in them."""
    said = json_in(text)
    if said is None:
        return None
    entries = [entry for name, (kind, words) in _LISTS.items() for entry in _entries(said, name, kind, words)]
    summaries: dict[int, str] = {}
    for each in _list(said, "microSummaries"):
        number, words = each.get("floor"), _text(each, "summary", "text", "microSummary")
        if isinstance(number, int) and words:
            summaries[number] = words
    whole = _text(said, "microSummary", "turnSummary", "macroSummary")
    return Answer(tuple(entries), summaries, whole or None)


def json_in(text: str) -> Mapping[str, Json] | None:
    """The JSON object in a model's words, in a fenced block or not; None where there is none."""
    text = text.strip()
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end or len(text) > LONGEST_ANSWER:
        return None
    try:
        said = loads(text[start : end + 1].encode("utf-8", "replace"))
    except InvalidJson:
        return None
    return said if isinstance(said, dict) else None


def _entries(said: Mapping[str, Json], name: str, kind: Kind, words: tuple[str, ...]) -> Iterator[Proposed]:
    for each in _list(said, name)[:MOST_OF_A_KIND]:
        text, named = _text(each, *words), _text(each, "id")
        if not text or (kind in ("update", "deprecate", "resolve") and not named):
            continue
        importance = _value(each, "importance")
        is_number = isinstance(importance, (int, float)) and not isinstance(importance, bool)
        yield Proposed(
            kind,
            text,
            _text(each, "quote"),
            named or None,
            _text(each, "factKey")[:LONGEST_KEY] or None,
            min(1.0, max(0.0, float(importance))) if is_number else None,
            _text(each, "scope") or None,
            _value(each, "contradicts") is True,
        )


def _list(said: Mapping[str, Json], name: str) -> list[dict[str, Any]]:
    found = _value(said, name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _value(said: Mapping[str, Json], name: str) -> Json:
    """A member, under its name or as snake_case."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return said.get(name, said.get(snake))


def _text(said: Mapping[str, Json], *names: str) -> str:
    """The first of some members that is a text with words, as it can be stored."""
    for name in names:
        found = _value(said, name)
        if isinstance(found, str) and found.strip():
            # Half of a pair is no text that a database takes, and PostgreSQL keeps no U+0000.
            return found.strip().replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return ""
