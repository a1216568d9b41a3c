"""The activation of entries, sweep by sweep, by the rules of SillyTavern 1.19 (``public/scripts/world-info.js``).

The first sweep looks at every entry. Later ones look only at those that could still join: a key of theirs was found somewhere,
or they need none. A sweep that differs from the one before in nothing but what joined meanwhile looks only at entries with a
key in that.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, TypeAlias

from agentui.lore.buffer import ScanBuffer, Window
from agentui.lore.compiled import CompiledEntry, compile_lore
from agentui.lore.gates import gate
from agentui.lore.given import MAX_SCAN_DEPTH, LoreInput
from agentui.lore.groups import GroupRules, group_losers
from agentui.lore.keys import Key
from agentui.lore.result import ActivatedEntry, LoreCause, LoreMatch, LoreReason, LoreResult, UnusedEntry
from agentui.lore.timed import TimedEffects

Sweep: TypeAlias = Literal["first", "recursion", "min_activations"]
"""Why the entries are gone through."""
MOST_LOOKS: Final = 500_000
"""Looks at an entry in one activation, some two seconds' work; after the sweep that reaches it there is no other."""


def activate(given: LoreInput) -> LoreResult:
    """The entries that join a prompt. The same input gives the same result; nothing raises but ``expand`` and ``count_tokens``.

    Regular expressions that take too long match nothing.
    """
    return _Activation(given).run()


@dataclass(frozen=True, slots=True)
class _Hit:
    """An entry that may join, and what called for it."""

    one: CompiledEntry
    cause: LoreCause
    match: LoreMatch | None = None


class _Activation:
    """One activation, while it goes on."""

    def __init__(self, given: LoreInput) -> None:
        self.given = given
        self.settings = given.settings.with_books(given.books)
        self.lore = compile_lore(given.books, self.settings).opened(given.expand)
        length = len(given.messages) if given.chat_length is None else given.chat_length
        self.timed = TimedEffects(given.timed, self.lore.entries, length)
        self.buffer = ScanBuffer(given, self.lore)
        self.skew = 0
        self.sweeps = 0
        self.looks = 0
        self.level = 0
        levels = sorted({one.entry.recursion_delay for one in self.lore.entries if one.entry.recursion_delay})
        self.released = levels.pop(0) if levels else 0
        self.levels = levels
        self.activated: dict[int, ActivatedEntry] = {}
        self.taken: set[str] = set()
        self.unused: dict[int, UnusedEntry] = {}
        self.open: set[int] = set()
        """Entries that later sweeps look at."""
        self.fresh: set[int] = set()
        """Those of them for which something may have changed since the sweep before."""
        self.latest: tuple[Sweep, float] | None = None
        """What the sweep before was, and the level of recursion that it had."""
        self.gone: set[int] = set()
        """Entries that no later sweep looks at."""
        self.budget = self.settings.budget_of(given.max_context)
        self.recursed_tokens = 0
        self.tokens = 0
        self.is_cut = False

    def run(self) -> LoreResult:
        """Go through the entries until nothing more can come of it."""
        if self.lore.entries:
            self._read()
            sweep: Sweep | None = "first"
            while sweep and not self._is_enough():
                self.sweeps += 1
                self.level += sweep == "recursion"
                joined = self._join(self._hits(sweep), sweep)
                sweep = self._next(sweep, joined)
            self.timed.begin(self.lore.entries[index] for index in self.activated)
        unused = tuple(self.unused[index] for index in sorted(self.unused))
        told = self.timed.as_json(), self.tokens, self.is_cut
        return LoreResult(tuple(self.activated.values()), unused, *told, tuple(self.buffer.left_out))

    def _is_enough(self) -> bool:
        """Whether no sweep may follow: the settings bound them, and so does the time that ever more of them would take."""
        return 0 < self.settings.max_recursion_steps <= self.sweeps or self.looks > MOST_LOOKS

    @property
    def depth(self) -> int:
        """Messages that are looked through for entries that name no depth."""
        return self.settings.depth + self.skew

    def _read(self) -> None:
        """Look through the texts that are there from the start."""
        depths = [one.entry.scan_depth for one in self.lore.entries if one.entry.scan_depth is not None]
        found = self.buffer.read_messages(max([self.depth, *depths]))
        found |= self.buffer.read_others(dict.fromkeys(chain(*(one.entry.sources for one in self.lore.entries))))
        self.open |= self.lore.patterned | self.timed.sticky
        self.open |= {one.index for one in self.lore.entries if one.entry.is_constant or one.entry.decorators}
        self._open_with(found)

    def _open_with(self, needles: Iterable[int]) -> None:
        """Have the entries looked at that have one of these as a key."""
        for needle in needles:
            self.fresh.update(self.lore.by_needle.get(needle, ()))
        self.open |= self.fresh

    def _hits(self, sweep: Sweep) -> list[_Hit]:
        """The entries that something calls for now: those that stay from before first, then in their order."""
        entries = self.lore.entries
        is_alike = self.latest == ("recursion", self.released) and sweep == "recursion"
        waiting = self.fresh | self.lore.patterned if is_alike else self.open
        looked_at = entries if sweep == "first" else [entries[index] for index in sorted(waiting - self.gone)]
        self.looks += len(looked_at)
        self.latest, self.fresh = (sweep, self.released), set()
        hits = []
        for one in looked_at:
            hit = self._hit(one, sweep)
            if isinstance(hit, _Hit):
                hits.append(hit)
                # One that loses in a group may win the next time.
                self.fresh.add(one.index)
            else:
                self.unused[one.index] = hit
        return sorted(hits, key=lambda hit: not self.timed.is_sticky(hit.one))

    def _hit(self, one: CompiledEntry, sweep: Sweep) -> _Hit | UnusedEntry:
        """What calls for an entry, or why it does not join."""
        reason = gate(one, self.given, self.timed)
        if reason is not None:
            self.gone.add(one.index)
            return self._unused(one, reason)
        entry, is_sticky = one.entry, self.timed.is_sticky(one)
        if entry.recursion_delay and not is_sticky and (sweep != "recursion" or entry.recursion_delay > self.released):
            return self._unused(one, "recursion_delay")
        is_recursing = sweep == "recursion" and self.settings.is_recursive
        if is_recursing and entry.is_excluded_from_recursion and not is_sticky:
            return self._unused(one, "recursion_excluded")
        if "@@activate" in entry.decorators:
            return _Hit(one, "decorator")
        if "@@dont_activate" in entry.decorators:
            return self._unused(one, "decorator")
        if entry.is_constant or is_sticky:
            return _Hit(one, "constant" if entry.is_constant else "sticky")
        if not one.keys:
            return self._unused(one, "no_keys")
        return self._found(one, sweep)

    def _found(self, one: CompiledEntry, sweep: Sweep) -> _Hit | UnusedEntry:
        """Whether an entry's keys call for it."""
        if one.index not in self.open:
            return self._unused(one, "no_match")
        window = self._window(one, sweep)
        key = next((key for key in one.keys if self.buffer.holds(key, window)), None)
        if key is None:
            return self._unused(one, "no_match")
        match = self._match(key, window)
        if not self._is_selected(one, window):
            return self._unused(one, "secondary", match=match)
        return _Hit(one, "keys", match)

    def _window(self, one: CompiledEntry, sweep: Sweep) -> Window:
        """What an entry looks through."""
        depth = self.depth if one.entry.scan_depth is None else one.entry.scan_depth
        return Window(min(depth, MAX_SCAN_DEPTH), one.entry.sources, sweep != "min_activations")

    def _match(self, key: Key, window: Window) -> LoreMatch | None:
        place = self.buffer.place(key, window)
        return None if place is None else LoreMatch.of(key.text, "regex" if key.pattern else "plain", place)

    def _is_selected(self, one: CompiledEntry, window: Window) -> bool:
        """Whether the secondary keys let an entry join."""
        if not one.secondary_keys:
            return True
        found = (self.buffer.holds(key, window) for key in one.secondary_keys)
        match one.entry.logic:
            case "and_any":
                return any(found)
            case "not_all":
                return not all(found)
            case "not_any":
                return not any(found)
            case "and_all":
                return all(found)

    def _join(self, hits: list[_Hit], sweep: Sweep) -> list[_Hit]:
        """Let those join that win in their groups, by chance, and have room; gives them."""
        rules = GroupRules(self.given, self.timed, lambda one: self._score(one, sweep), self.taken)
        losers = group_losers([hit.one for hit in hits], rules)
        joined: list[_Hit] = []
        spent = 0
        for hit in hits:
            one = hit.one
            if one.index in losers:
                self.unused[one.index] = self._unused(one, "group", losers[one.index], hit.match)
            elif self.is_cut and not one.entry.is_ignoring_budget:
                self.unused[one.index] = self._unused(one, "budget", match=hit.match)
            elif (rolled := self._missed_chance(one)) is not None:
                self.gone.add(one.index)
                self.unused[one.index] = self._unused(one, "probability", f"{rolled:.1f}", hit.match)
            else:
                spent += self._admit(hit, spent, joined)
        self.taken |= {hit.one.entry.group for hit in joined if hit.one.entry.group}
        return joined

    def _admit(self, hit: _Hit, spent: int, joined: list[_Hit]) -> int:
        """Let an entry join if there is room for it; gives the tokens of its content."""
        one = hit.one
        content = self.given.expand(one.entry.content)
        tokens = self.given.count_tokens(content + "\n")
        if not one.entry.is_ignoring_budget and self.recursed_tokens + spent + tokens >= self.budget:
            self.is_cut = True
            self.unused[one.index] = self._unused(one, "budget", match=hit.match)
            return tokens
        self.activated[one.index] = ActivatedEntry(one.bound, one.entry, content, hit.cause, self.level, hit.match)
        self.unused.pop(one.index, None)
        self.gone.add(one.index)
        self.tokens += tokens
        joined.append(hit)
        return tokens

    def _missed_chance(self, one: CompiledEntry) -> float | None:
        """What was rolled for an entry that does not join because of it, in percent."""
        if one.entry.probability is None or self.timed.is_sticky(one):
            return None
        rolled = self.given.rolls.roll(f"entry {one.name}") * 100
        return rolled if rolled > one.entry.probability else None

    def _score(self, one: CompiledEntry, sweep: Sweep) -> int:
        """How many keys of an entry are found; secondary ones count where the logic asks for them."""
        if not one.keys:
            return 0
        window = self._window(one, sweep)
        score = sum(self.buffer.holds(key, window) for key in one.keys)
        secondary = sum(self.buffer.holds(key, window) for key in one.secondary_keys)
        counts = one.entry.logic == "and_any" or (one.entry.logic == "and_all" and secondary == len(one.secondary_keys))
        return score + secondary if counts else score

    def _next(self, sweep: Sweep, joined: list[_Hit]) -> Sweep | None:
        """What comes after a sweep; None for nothing."""
        recursing = [self.activated[hit.one.index] for hit in joined if not hit.one.entry.is_preventing_recursion]
        following: Sweep | None = None
        may_recurse = self.settings.is_recursive and not self.is_cut
        if may_recurse and (recursing or (sweep == "min_activations" and self.buffer.has_recursion)):
            following = "recursion"
        if following is None and not self.is_cut and self._reach_further():
            following = "min_activations"
        if following is None and self.levels:
            following, self.released = "recursion", self.levels.pop(0)
        text = "\n".join(one.content for one in recursing)
        if following and text:
            self._open_with(self.buffer.add_recursion(text))
            self.recursed_tokens += self.given.count_tokens(text + "\n")
        return following

    def _reach_further(self) -> bool:
        """Look one message further back, where too few entries have joined and there is one."""
        least, deepest = self.settings.min_activations, self.settings.min_activations_depth
        limit = min(len(self.given.messages), MAX_SCAN_DEPTH)
        if len(self.activated) >= least or 0 < deepest < self.depth or self.depth > limit:
            return False
        self.skew += 1
        self._open_with(self.buffer.read_messages(self.depth))
        return True

    @staticmethod
    def _unused(one: CompiledEntry, reason: LoreReason, detail: str = "", match: LoreMatch | None = None) -> UnusedEntry:
        return UnusedEntry(one.bound, one.entry, reason, detail, match)
