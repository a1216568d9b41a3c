"""Regex scripts run over a text: which of them are for it, in which order, and what became of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final, Literal, TypeAlias

from agentui.assets.script import BoundScript, RegexScript, ScriptOrigin, ScriptPlacement
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import SEARCH_SECONDS, JsPattern
from agentui.regexes.replacing import Expand, compile_find, expand_escaped, replace_js

Channel: TypeAlias = Literal["persist", "prompt", "display", "edit"]
"""What the text is for: to be kept as it is said, sent to a model, shown, or kept after somebody edited it."""
Skip: TypeAlias = Literal[
    "not_allowed", "channel_filtered", "depth_filtered", "invalid_regex", "no_match", "timed_out", "too_large"
]

CHANNELS: Final[tuple[Channel, ...]] = ("persist", "prompt", "display", "edit")
ALL_SECONDS: Final = 2.0
"""How long the scripts of one prompt may take together."""
_ORDER: Final[tuple[ScriptOrigin, ...]] = ("global", "preset", "character")


@dataclass(frozen=True, slots=True)
class ScriptTrace:
    """What became of one script that is for texts of the placement: ``skipped`` is None for one that matched."""

    name: str
    origin: ScriptOrigin
    placement: ScriptPlacement
    channel: Channel
    skipped: Skip | None = None
    matches: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class ScriptsResult:
    """The text that the scripts made, and what became of each of them, in the order in which they run."""

    text: str
    trace: tuple[ScriptTrace, ...] = ()


class SearchTime:
    """
    How long searches may take: each of them ``limit`` seconds, all together ``in_all``.

    One of these is shared by the texts of a prompt. An expression that took too long once is not tried again.
    """

    def __init__(self, limit: float = SEARCH_SECONDS, in_all: float = ALL_SECONDS) -> None:
        self.limit = limit
        self._left = in_all
        self._given_up: set[tuple[str, str]] = set()

    def spend(self, pattern: JsPattern, work: Callable[[float, float], tuple[str, int]]) -> tuple[str, int]:
        """What the work gives, which is told how long a search and all of its searches may take. Raises TimeoutError."""
        key = (pattern.source, pattern.flags)
        if self._left <= 0 or key in self._given_up:
            raise TimeoutError
        started = monotonic()
        try:
            return work(self.limit, self._left)
        except TimeoutError:
            self._given_up.add(key)
            raise
        finally:
            self._left -= monotonic() - started


def run_scripts(
    text: str,
    scripts: Sequence[BoundScript],
    *,
    placement: ScriptPlacement,
    channel: Channel,
    depth: int | None = None,
    macros: Expand | None = None,
    time: SearchTime | None = None,
) -> ScriptsResult:
    """
    The text after the scripts, as SillyTavern 1.19 runs them: the profile's, the preset's, the card's, each in its order.

    ``depth`` counts messages from the newest, which is 0; None is a text that has none. ``macros`` replaces macros in what
    scripts look for and put in. Never raises: a script that fails leaves the text as it was, and the trace says why. Scripts
    that are disabled or for other placements are not in the trace.
    """
    if not text:
        return ScriptsResult(text)
    time = time or SearchTime()
    trace = []
    for bound in sorted(scripts, key=lambda bound: _ORDER.index(bound.origin)):
        script = bound.script
        if script.is_disabled or placement not in script.placements or not script.find:
            continue
        text, skipped, matches, error = _run(text, bound, channel, depth, macros, time)
        trace.append(ScriptTrace(script.name, bound.origin, placement, channel, skipped, matches, error))
    return ScriptsResult(text, tuple(trace))


def _run(
    text: str, bound: BoundScript, channel: Channel, depth: int | None, macros: Expand | None, time: SearchTime
) -> tuple[str, Skip | None, int, str]:
    """One script over a text: the text, why it was skipped, how often it matched, and what was wrong."""
    script = bound.script
    if not bound.is_allowed:
        return text, "not_allowed", 0, ""
    if not _is_for(script, channel):
        return text, "channel_filtered", 0, ""
    if depth is not None and not _reaches(script, depth):
        return text, "depth_filtered", 0, ""
    try:
        pattern = compile_find(_find_of(script, macros))
    except RegexError as error:
        return text, "invalid_regex", 0, str(error)

    def work(limit: float, in_all: float) -> tuple[str, int]:
        return replace_js(text, pattern, script.replace, trims=script.trim, expand=macros, limit=limit, in_all=in_all)

    try:
        replaced, matches = time.spend(pattern, work)
    except TimeoutError:
        return text, "timed_out", 0, f"a search took longer than {time.limit:g} seconds, or all of them too long"
    except RegexError as error:
        return text, "too_large", 0, error.reason
    return (replaced, None, matches, "") if matches else (text, "no_match", 0, "")


def _is_for(script: RegexScript, channel: Channel) -> bool:
    """Whether a script changes texts of the channel; one that is for neither what is shown nor sent changes what is kept."""
    match channel:
        case "display":
            return script.is_markdown_only
        case "prompt":
            return script.is_prompt_only
    is_kept = not script.is_markdown_only and not script.is_prompt_only
    return is_kept and (channel == "persist" or script.runs_on_edit)


def _reaches(script: RegexScript, depth: int) -> bool:
    """Whether a message is within the script's depths, both of which belong to it."""
    return (script.min_depth is None or depth >= script.min_depth) and (script.max_depth is None or depth <= script.max_depth)


def _find_of(script: RegexScript, macros: Expand | None) -> str:
    """What a script looks for, its macros replaced where it asks for that."""
    if macros is None or script.substitution == "none":
        return script.find
    return macros(script.find) if script.substitution == "raw" else expand_escaped(script.find, macros)
