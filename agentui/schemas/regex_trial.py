"""Shapes of trying regex scripts on a text."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from agentui.jsonio import Json
from agentui.regexes.kept_results import Skip
from agentui.schemas.forms import NO_NUL, Form, Line


class RegexTestForm(Form):
    """
    Scripts in SillyTavern's members, and a text of a kind: ``placement`` is SillyTavern's number. ``depth`` counts messages
    from the newest, which is 0; null is a text without one. ``macros`` are values of macros by name.
    """

    scripts: Annotated[list[dict[str, Json]], Field(min_length=1, max_length=500)]
    text: Annotated[str, Field(max_length=262_144), NO_NUL]
    placement: Literal[1, 2, 3, 5, 6] = 2
    depth: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    macros: dict[str, Line] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TriedScript:
    """What became of one script: ``skipped`` says why it changed nothing, null that it matched."""

    name: str
    matches: int
    skipped: Skip | None
    error: str


@dataclass(frozen=True, slots=True)
class TriedChannel:
    """The text as it becomes in one channel, how long that took, and what became of the scripts that are for its placement."""

    text: str
    milliseconds: float
    trace: list[TriedScript]


@dataclass(frozen=True, slots=True)
class TriedText:
    """The text as it is kept, sent to a model, shown, and kept after an edit."""

    persist: TriedChannel
    prompt: TriedChannel
    display: TriedChannel
    edit: TriedChannel
