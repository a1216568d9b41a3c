"""A regex script: what it looks for in a text, and what it puts in its place.

Content is SillyTavern's script, with its members and its numbers.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Final, Literal, Self, TypeAlias

from agentui.assets.values import flag, number, text, texts, whole
from agentui.jsonio import Json

ScriptPlacement: TypeAlias = Literal["user_input", "ai_output", "slash_command", "world_info", "reasoning"]
ScriptOrigin: TypeAlias = Literal["global", "preset", "character"]
"""Where a script is from. Scripts run in this order."""
Substitution: TypeAlias = Literal["none", "raw", "escaped"]

PLACEMENT_BY_NUMBER: Final[Mapping[int, ScriptPlacement]] = {
    1: "user_input",
    2: "ai_output",
    3: "slash_command",
    5: "world_info",
    6: "reasoning",
}
"""By SillyTavern's number."""
NUMBER_BY_PLACEMENT: Final[Mapping[ScriptPlacement, int]] = {name: number for number, name in PLACEMENT_BY_NUMBER.items()}
"""SillyTavern's number of each."""
_DISPLAY: Final = 0
"""A placement of old scripts: its scripts change what is shown and what is sent, and alone it stands for every placement."""
_SENT_AS: Final = 4
"""A placement of old scripts, which the slash commands' has taken in."""
_SUBSTITUTIONS: Final[tuple[Substitution, ...]] = ("none", "raw", "escaped")


@dataclass(frozen=True, slots=True)
class RegexScript:
    """One script, read.

    ``find`` is ``/pattern/flags`` or a bare pattern, ``trim`` texts that are taken out of what is put in. ``substitution`` says
    whether macros in ``find`` are replaced, and whether what they insert is a pattern (``raw``) or a text (``escaped``).
    Depths count messages from the end of the chat, 0 for the last one; None is no limit.
    """

    id: str = ""
    name: str = ""
    find: str = ""
    replace: str = ""
    trim: tuple[str, ...] = ()
    placements: frozenset[ScriptPlacement] = frozenset()
    is_disabled: bool = False
    is_markdown_only: bool = False
    is_prompt_only: bool = False
    runs_on_edit: bool = False
    substitution: Substitution = "none"
    min_depth: int | None = None
    max_depth: int | None = None

    @classmethod
    def of(cls, content: Mapping[str, Json]) -> Self:
        """The script that the content tells of. A minimum below -1 and a maximum below 0 are no limits, as in SillyTavern."""
        placement = content.get("placement")
        numbers = {whole(each, -1) for each in placement} if isinstance(placement, list) else set()
        is_old = _DISPLAY in numbers
        substitution = content.get("substituteRegex")
        at = int(substitution) if isinstance(substitution, bool) else whole(substitution, 0)
        return cls(
            id=text(content.get("id")),
            name=text(content.get("scriptName")),
            find=_exact(content.get("findRegex")),
            replace=_exact(content.get("replaceString")),
            trim=texts(content.get("trimStrings")),
            placements=_placements(numbers),
            is_disabled=flag(content.get("disabled")),
            is_markdown_only=flag(content.get("markdownOnly")) or is_old,
            is_prompt_only=flag(content.get("promptOnly")) or is_old,
            runs_on_edit=flag(content.get("runOnEdit")),
            substitution=_SUBSTITUTIONS[at] if 0 <= at < len(_SUBSTITUTIONS) else "none",
            min_depth=_limit(content.get("minDepth"), -1),
            max_depth=_limit(content.get("maxDepth"), 0),
        )


MOST_PATTERNS: Final = 262_144
"""Characters that the expressions of one profile may have together, and those among the keys of one lorebook: a prompt compiles
them."""


def too_many_patterns(count: int, what: str) -> str | None:
    """What is wrong with so many characters of expressions; None where they may be kept."""
    if count <= MOST_PATTERNS:
        return None
    return f"the regular expressions of one {what} have at most {MOST_PATTERNS:,} characters together, these have {count:,}"


def pattern_characters(scripts: Iterable[Json]) -> int:
    """The characters that scripts look for, in their contents."""
    found = (script.get("findRegex") for script in scripts if isinstance(script, Mapping))
    return sum(len(find) for find in found if isinstance(find, str))


@dataclass(frozen=True, slots=True)
class BoundScript:
    """A script and where it is from. One that is not ``is_allowed`` came with a card or a preset, and waits for
    somebody to allow it."""

    script: RegexScript
    origin: ScriptOrigin = "global"
    is_allowed: bool = True


def _placements(numbers: Set[int]) -> frozenset[ScriptPlacement]:
    if numbers == {_DISPLAY}:
        return frozenset(PLACEMENT_BY_NUMBER.values())
    return frozenset(
        PLACEMENT_BY_NUMBER[each] for each in ({3} if numbers == {_SENT_AS} else numbers) if each in PLACEMENT_BY_NUMBER
    )


def _exact(value: Json) -> str:
    """A text with the line ends that it has."""
    return value if isinstance(value, str) else text(value)


def _limit(value: Json, least: int) -> int | None:
    found = number(value, None)
    return int(found) if found is not None and found >= least else None
