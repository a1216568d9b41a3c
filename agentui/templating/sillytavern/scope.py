"""What macros read from, how much they may do, and what they leave behind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Literal

from agentui.jsonio import Json

Phase = Literal["import", "preview", "dry_run", "assemble", "commit_consume"]
"""``import`` replaces nothing, ``commit_consume`` writes nothing, ``preview`` and ``dry_run`` write what nobody keeps."""


class MacroRefused(Exception):
    """A macro that stays as it was written. ``code`` is the warning's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one text may do.

    ``depth`` macros and blocks within each other, ``steps`` macros, ``length`` characters that macros make (in arguments and
    in the text), ``mutations`` writes, ``looked`` characters that its conditions look through.
    """

    depth: int = 32
    steps: int = 10_000
    length: int = 1024 * 1024
    mutations: int = 1_000
    looked: int = 64 * 1024 * 1024


def _silence(made: str, given: str, make: Callable[[str], str]) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class MacroScope:
    """What macros read.

    ``values`` are the texts of the read-only macros by their names; one that is not there is missing. ``local`` and
    ``globals`` are the stored variables of the two views. ``plain`` are values that a bare ``{{name}}`` reads before the
    variables. ``now`` has a zone. ``seed`` names the chat: ``{{pick}}`` gives the same in it every time. ``idle`` is the time
    since the last message of the user. ``made`` hears of every text that a macro made of another: the text, what it was made
    of, and what makes more of the kind.
    """

    phase: Phase
    now: datetime
    values: Mapping[str, str] = field(default_factory=dict)
    local: Mapping[str, Json] = field(default_factory=dict)
    globals: Mapping[str, Json] = field(default_factory=dict)
    plain: Mapping[str, Json] = field(default_factory=dict)
    greetings: Sequence[str] = ()
    outlets: Mapping[str, str] = field(default_factory=dict)
    random: Random = field(default_factory=Random)
    seed: str = ""
    idle: timedelta | None = None
    limits: Limits = Limits()
    made: Callable[[str, str, Callable[[str], str]], None] = _silence


@dataclass(frozen=True, slots=True)
class MacroWarning:
    """What was wrong with a macro. The codes stand in docs/macros.md."""

    code: str
    message: str
    macro: str | None = None
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class MacroTrace:
    """What became of one macro or block; long texts are cut. ``branch`` is which way an ``if`` went."""

    macro: str
    raw: str
    resolved: str
    phase: Phase
    source: Literal["macro", "if", "raw"]
    branch: Literal["then", "else", "raw"] | None = None
