"""A regex script: what it looks for in a text, and what it puts in its place.

Content is SillyTavern's script, with its members and its numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Self, TypeAlias

from agentui.assets.values import flag, number, text, texts, whole
from agentui.jsonio import Json

ScriptPlacement: TypeAlias = Literal["display", "user_input", "ai_output", "slash_command", "world_info", "reasoning"]
ScriptOrigin: TypeAlias = Literal["global", "character", "preset"]
"""Where a script is from. Scripts run in this order."""
Substitution: TypeAlias = Literal["none", "raw", "escaped"]

_PLACEMENTS: Final[Mapping[int, ScriptPlacement]] = {
    0: "display",
    1: "user_input",
    2: "ai_output",
    3: "slash_command",
    5: "world_info",
    6: "reasoning",
}
"""By SillyTavern's number; 0 is from before ``markdownOnly``, and 4 is no longer made."""
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
        placements = content.get("placement")
        numbers = [whole(each, -1) for each in placements] if isinstance(placements, list) else []
        substitution = content.get("substituteRegex")
        at = int(substitution) if isinstance(substitution, bool) else whole(substitution, 0)
        return cls(
            id=text(content.get("id")),
            name=text(content.get("scriptName")),
            find=text(content.get("findRegex")),
            replace=text(content.get("replaceString")),
            trim=texts(content.get("trimStrings")),
            placements=frozenset(_PLACEMENTS[each] for each in numbers if each in _PLACEMENTS),
            is_disabled=flag(content.get("disabled")),
            is_markdown_only=flag(content.get("markdownOnly")),
            is_prompt_only=flag(content.get("promptOnly")),
            runs_on_edit=flag(content.get("runOnEdit")),
            substitution=_SUBSTITUTIONS[at] if 0 <= at < len(_SUBSTITUTIONS) else "none",
            min_depth=_limit(content.get("minDepth"), -1),
            max_depth=_limit(content.get("maxDepth"), 0),
        )


@dataclass(frozen=True, slots=True)
class BoundScript:
    """A script and where it is from. One that is not ``is_allowed`` came with a card or a preset, and waits for
    somebody to allow it."""

    script: RegexScript
    origin: ScriptOrigin = "global"
    is_allowed: bool = True


def _limit(value: Json, least: int) -> int | None:
    found = number(value, None)
    return int(found) if found is not None and found >= least else None
