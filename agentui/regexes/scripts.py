"""Regex scripts run over texts: which of them are for a text, in which order, and what became of each.

    ScriptRun ─▶ the scripts for a placement, sorted and compiled once ─▶ those for a depth (a chain) ─▶ texts

Neighbours in a chain whose macros do not matter are one link. What a link makes of a text is kept (``KeptResults``), so that
a chat's next turn searches only what is new in it.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from time import thread_time
from typing import Final, Literal, TypeAlias

from agentui.assets.script import BoundScript, RegexScript, ScriptOrigin, ScriptPlacement
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import BRIEF, MATCH_SECONDS, SEARCHES, JsPattern, halved, reading_seconds
from agentui.regexes.kept_results import KeptResults, LinkResult, Skip, name_of_link, name_of_text
from agentui.regexes.replacing import Expand, compile_find, expand_escaped, has_macros, replace_js
from agentui.regexes.search_time import CHARACTER_SECONDS, TEXT_SECONDS, SearchTime

Channel: TypeAlias = Literal["persist", "prompt", "display", "edit"]
"""What the text is for: to be kept as it is said, sent to a model, shown, or kept after somebody edited it."""

CHANNELS: Final[tuple[Channel, ...]] = ("persist", "prompt", "display", "edit")
_ORDER: Final[tuple[ScriptOrigin, ...]] = ("global", "preset", "character")
_TOO_LONG: Final = "a search took longer than {:g} seconds, or all of them too long"
KEPT: Final = KeptResults()
"""What scripts made of texts, for all prompts of this process."""


@dataclass(frozen=True, slots=True)
class SearchedText:
    """A text that scripts were for, before and after them; ``depth`` counts messages from the newest, None for one that has
    none."""

    depth: int | None
    before: str
    after: str

    def is_newer(self, depth: int | None) -> bool:
        """Whether it stands nearer to the end than one at a depth."""
        return self.depth is not None and (depth is None or self.depth < depth)


@dataclass(frozen=True, slots=True)
class ScriptTrace:
    """What became of one script that is for texts of the placement: ``skipped`` is None for one that matched. ``newest`` is the
    newest of those texts."""

    name: str
    origin: ScriptOrigin
    placement: ScriptPlacement
    channel: Channel
    skipped: Skip | None = None
    matches: int = 0
    error: str = ""
    newest: SearchedText | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ScriptsResult:
    """The text that the scripts made, and what became of each of them, in the order in which they run."""

    text: str
    trace: tuple[ScriptTrace, ...] = ()


@dataclass(frozen=True, slots=True)
class _Step:
    """A script at its place among those of its placement. Without a ``pattern`` it runs over no text: ``skipped`` says why.
    ``search`` looks for it without a clock, where it needs none in texts of BRIEF characters."""

    index: int
    script: RegexScript
    origin: ScriptOrigin
    pattern: JsPattern | None = None
    search: "Callable[[str], object] | None" = None
    is_unicode: bool = False
    find: str = ""
    is_plain: bool = False
    skipped: Skip | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Link:
    """Steps that are kept as one; ``name`` tells what they do."""

    steps: tuple[_Step, ...]
    name: bytes


@dataclass(slots=True)
class _Chain:
    """The steps for texts at a depth; ``skips`` are of those that run over none of them. ``texts`` counts."""

    steps: Sequence[_Step]
    links: tuple[_Link, ...]
    skips: dict[int, Skip]
    texts: int = 0


_Fates: TypeAlias = "dict[int, tuple[Skip | None, int, str]]"
"""What became of steps by their places: why they were skipped, how often they matched, what was wrong. Others found nothing."""


@dataclass(slots=True)
class _Placed:
    """What the run has done for texts of one placement. ``fates`` have how often steps matched, and of how many texts."""

    steps: tuple[_Step, ...]
    depths: list[int]
    chains: dict[tuple[int, int], _Chain] = field(default_factory=dict)
    fates: dict[tuple[int, Skip | None, str], list[int]] = field(default_factory=dict)
    newest: SearchedText | None = None


class ScriptRun:
    """
    Scripts over the texts of one prompt, as SillyTavern 1.19 runs them: the profile's, the preset's, the card's, each in its
    order.

    ``macros`` replaces macros in what scripts look for, which it does once, and in what they put in. All texts share the
    ``time``. Scripts that are disabled are passed over.
    """

    def __init__(
        self, scripts: Sequence[BoundScript], channel: Channel, macros: Expand | None = None, time: SearchTime | None = None
    ) -> None:
        ordered = sorted(scripts, key=lambda bound: _ORDER.index(bound.origin))
        self._scripts = [each for each in ordered if not each.script.is_disabled and each.script.find]
        self._channel: Channel = channel
        self._macros = macros
        self._time = time or SearchTime()
        self._placed: dict[ScriptPlacement, _Placed] = {}

    def run(self, text: str, placement: ScriptPlacement, depth: int | None = None) -> str:
        """
        The text after the scripts for its placement. ``depth`` counts messages from the newest, which is 0; None is a text that
        has none. Never raises: a script that fails leaves the text as it was.
        """
        return self._run(text, placement, depth)[0] if text and self._scripts else text

    def traced(self, text: str, placement: ScriptPlacement, depth: int | None = None) -> ScriptsResult:
        """The same, with what became of each script that is for texts of the placement."""
        if not text or not self._scripts:
            return ScriptsResult(text)
        made, used, fates = self._run(text, placement, depth)
        trace = []
        newest = SearchedText(depth, text, made)
        for step in used.steps:
            skipped, matches, error = fates.get(step.index) or (used.skips.get(step.index, "no_match"), 0, "")
            trace.append(self._trace(step, newest, placement, skipped, matches, error or self._error(step, skipped)))
        return ScriptsResult(made, tuple(trace))

    def traces(self) -> Iterator[tuple[ScriptTrace, int]]:
        """What became of each script in all texts so far, and in how many of them."""
        for placement, placed in self._placed.items():
            counted: dict[tuple[int, Skip | None, str], list[int]] = dict(placed.fates)
            others: dict[tuple[int, Skip | None], int] = {}
            for used in placed.chains.values():
                for step in used.steps:
                    key = step.index, used.skips.get(step.index, "no_match")
                    others[key] = others.get(key, 0) + used.texts
            for (index, _, _), (_, texts) in placed.fates.items():
                others[index, "no_match"] -= texts
            for (index, skipped), texts in others.items():
                if texts:
                    told = counted.setdefault((index, skipped, ""), [0, 0])
                    counted[index, skipped, ""] = [told[0], told[1] + texts]
            for (index, skipped, error), (matches, texts) in sorted(counted.items(), key=lambda each: each[0][0]):
                step = placed.steps[index]
                error = error or self._error(step, skipped)
                yield self._trace(step, placed.newest, placement, skipped, matches, error), texts

    def _trace(
        self,
        step: _Step,
        newest: SearchedText | None,
        placement: ScriptPlacement,
        skipped: Skip | None,
        matches: int,
        error: str,
    ) -> ScriptTrace:
        return ScriptTrace(step.script.name, step.origin, placement, self._channel, skipped, matches, error, newest)

    def _error(self, step: _Step, skipped: Skip | None) -> str:
        return _TOO_LONG.format(self._time.limit) if skipped == "timed_out" else step.error if skipped == step.skipped else ""

    def _run(self, text: str, placement: ScriptPlacement, depth: int | None) -> tuple[str, _Chain, _Fates]:
        """A text after its chain, the chain, and what became of those steps that did not merely find nothing."""
        placed = self._placed.get(placement)
        if placed is None:
            placed = self._placed[placement] = self._place(placement)
        used = self._chain(placed, depth)
        used.texts += 1
        first = text
        fates: _Fates = {}
        named = name_of_text(text)
        for link in used.links:
            kept = KEPT.get(link.name, named)
            if kept is None or kept.seconds > self._time.left:
                made, result, is_whole = self._run_link(link, text)
                if is_whole:
                    KEPT.keep(link.name, named, result)
            else:
                result = kept
                made = text if kept.text is None else kept.text
                self._time.spend(kept.seconds)
            for at, skipped, matches, error in result.fates:
                step = link.steps[at]
                if skipped == "timed_out" and step.pattern is not None and not self._time.is_over:
                    self._time.give_up(step.pattern)
                fates[step.index] = skipped, matches, error
            if result.text is not None:
                text, named = made, name_of_text(made)
        for index, (skipped, matches, error) in fates.items():
            told = placed.fates.setdefault((index, skipped, error), [0, 0])
            told[0] += matches
            told[1] += 1
        if placed.newest is None or not placed.newest.is_newer(depth):
            placed.newest = SearchedText(depth, first, text)
        return text, used, fates

    def _place(self, placement: ScriptPlacement) -> _Placed:
        """The scripts for a placement, compiled."""
        bound = [each for each in self._scripts if placement in each.script.placements]
        steps = tuple(self._step(index, each) for index, each in enumerate(bound))
        least = (step.script.min_depth for step in steps)
        most = (None if step.script.max_depth is None else step.script.max_depth + 1 for step in steps)
        return _Placed(steps, sorted({depth for depth in (*least, *most) if depth is not None}))

    def _step(self, index: int, bound: BoundScript) -> _Step:
        script, origin = bound.script, bound.origin
        if not bound.is_allowed:
            return _Step(index, script, origin, skipped="not_allowed")
        if not _is_for(script, self._channel):
            return _Step(index, script, origin, skipped="channel_filtered")
        if self._time.is_over:
            return _Step(index, script, origin, skipped="timed_out")
        find = _find_of(script, self._macros)
        began = thread_time()
        try:
            pattern = compile_find(find)
        except RegexError as error:
            self._time.compile(find, reading_seconds(find), thread_time() - began)
            return _Step(index, script, origin, skipped="invalid_regex", error=str(error))
        self._time.compile(find, pattern.compile_seconds, thread_time() - began)
        is_plain = self._macros is None or not any(map(has_macros, (script.replace, *script.trim)))
        search = pattern.find if pattern.is_brief else None
        return _Step(index, script, origin, pattern, search, pattern.is_unicode, find, is_plain)

    def _chain(self, placed: _Placed, depth: int | None) -> _Chain:
        """The chain for texts at a depth; those between the same two bounds have the same."""
        key = -1 if depth is None else bisect_right(placed.depths, depth), self._time.given_up
        found = placed.chains.get(key)
        if found is None:
            found = placed.chains[key] = self._made_chain(placed.steps, depth)
        return found

    def _made_chain(self, steps: Sequence[_Step], depth: int | None) -> _Chain:
        skips: dict[int, Skip] = {}
        running: list[_Step] = []
        for step in steps:
            if step.skipped in ("not_allowed", "channel_filtered"):
                skips[step.index] = step.skipped
            elif depth is not None and not _reaches(step.script, depth):
                skips[step.index] = "depth_filtered"
            elif step.skipped is not None:
                skips[step.index] = step.skipped
            elif step.pattern is not None and self._time.gave_up(step.pattern):
                skips[step.index] = "timed_out"
            else:
                running.append(step)
        # A script with macros is a link of its own: what it makes depends on more than the text.
        links = [tuple(some) for _, some in groupby(running, lambda step: -1 if step.is_plain else step.index)]
        return _Chain(steps, tuple(_Link(some, self._named(some)) for some in links), skips)

    def _named(self, steps: Iterable[_Step]) -> bytes:
        """The name of a link: what its steps do, how long they may search, and whether macros are replaced."""
        told = ((str(len(step.script.trim)), step.find, step.script.replace, *step.script.trim) for step in steps)
        return name_of_link(chain((str(self._time.limit), str(self._macros is None)), *told))

    def _run_link(self, link: _Link, text: str) -> tuple[str, LinkResult, bool]:
        """A link over a text: the text, what is to be kept, and whether it is the same every time."""
        time, macros = self._time, self._macros
        left = 0.0 if time.is_over else time.left
        limit = time.limit
        first = text
        units = halved(text)
        each_search, is_long = TEXT_SECONDS + CHARACTER_SECONDS * len(units), len(units) > BRIEF
        is_whole = True
        seconds = 0.0
        began = thread_time()
        fates: list[tuple[int, Skip | None, int, str]] = []

        def expand(source: str) -> str:
            # Macros have limits of their own, so that their time is not the searches'.
            nonlocal is_whole, began
            is_whole = False
            before = thread_time()
            made = source if macros is None else macros(source)
            began += thread_time() - before
            return made

        for at, step in enumerate(link.steps):
            pattern = step.pattern
            assert pattern is not None  # those without one are in no link
            if seconds >= left:
                fates += ((each, "timed_out", 0, "") for each in range(at, len(link.steps)))
                is_whole = False
                break
            seconds += each_search
            searched = text if step.is_unicode else units
            try:
                search = step.search
                found = pattern.first(searched, limit) if is_long or search is None else search(searched)
                if found is None:
                    continue
                replaced, matches = replace_js(
                    text,
                    pattern,
                    step.script.replace,
                    trims=step.script.trim,
                    expand=None if macros is None else expand,
                    limit=limit,
                    in_all=left - seconds,
                )
            except TimeoutError:
                # Where little is left of all time, it may have ended before the search's own.
                is_whole = is_whole and left - seconds > SEARCHES * limit
                seconds += 2 * limit
                fates.append((at, "timed_out", 0, ""))
                continue
            except RegexError as error:
                fates.append((at, "too_large", 0, error.reason))
                continue
            seconds += MATCH_SECONDS * matches
            fates.append((at, None, matches, ""))
            text, units = replaced, halved(replaced)
            each_search, is_long = TEXT_SECONDS + CHARACTER_SECONDS * len(units), len(units) > BRIEF
        time.spend(seconds, thread_time() - began)
        return text, LinkResult(None if text == first else text, tuple(fates), seconds), is_whole


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
    """One text after the scripts, as in a ``ScriptRun`` of its own."""
    return ScriptRun(scripts, channel, macros, time).traced(text, placement, depth)


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
