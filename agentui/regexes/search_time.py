"""How much searching a prompt may have: counted by what is searched, not by a clock, so that it is the same every time."""

from typing import Final

from agentui.regexes.javascript import SEARCH_SECONDS, JsPattern

ALL_SECONDS: Final = 2.0
"""What all searches of one prompt may count for together."""
TEXT_SECONDS: Final = 1e-6
"""What a search counts for, whatever its text is."""
CHARACTER_SECONDS: Final = 1e-9
"""What a character counts for that a search passes. The engine needs some 0.3e-9 of a usual expression."""


class SearchTime:
    """
    What searches may take: each ``limit`` seconds, all together ``in_all``. One of these is shared by the texts of a prompt.

    Searches are counted as TEXT_SECONDS and CHARACTER_SECONDS, compiling as ``JsPattern.compile_seconds``, one that took too
    long as twice the limit: a machine that is slow or busy counts the same. A clock, the thread's own, measures only what goes
    ``beyond``, which expressions do that search a text again and again.
    """

    def __init__(self, limit: float = SEARCH_SECONDS, in_all: float = ALL_SECONDS, beyond: float = ALL_SECONDS) -> None:
        self.limit = limit
        self.left = in_all
        self._beyond = beyond
        self._compiled: set[str] = set()
        self._given_up: set[tuple[str, str]] = set()

    @property
    def is_over(self) -> bool:
        """Whether nothing more is searched."""
        return self.left <= 0 or self._beyond < 0

    @property
    def given_up(self) -> int:
        """How many expressions took too long; none of them is tried again."""
        return len(self._given_up)

    def compile(self, source: str, counted: float, measured: float) -> None:
        """Count the compiling of an expression, once, also where it was kept from before. ``measured`` is as in ``spend``."""
        if source not in self._compiled:
            self._compiled.add(source)
            self.spend(counted, measured)

    def give_up(self, pattern: JsPattern) -> None:
        """An expression took too long."""
        self._given_up.add((pattern.source, pattern.flags))

    def gave_up(self, pattern: JsPattern) -> bool:
        """Whether an expression took too long."""
        return (pattern.source, pattern.flags) in self._given_up

    def spend(self, counted: float, measured: float = 0.0) -> None:
        """Count what was searched. ``measured`` is what this thread computed for it."""
        self.left -= counted
        self._beyond -= max(0.0, measured - counted)
