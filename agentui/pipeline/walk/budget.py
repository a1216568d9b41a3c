"""What the model calls within a part of a run may cost together: how many there are, and their tokens."""

import asyncio
from collections.abc import Mapping

from agentui.jsonio import Json

COUNTED = ("input_tokens", "output_tokens")
"""What a node tells in its ``usage`` and counts here."""


class Budget:
    """The calls and tokens of one loop; None: as many as there are. A call counts when it begins, tokens when a node has told
    of them."""

    __slots__ = ("calls", "max_calls", "max_tokens", "tokens")

    def __init__(self, max_calls: int | None, max_tokens: int | None) -> None:
        self.max_calls = max_calls
        self.max_tokens = max_tokens
        self.calls = 0
        self.tokens = 0

    @property
    def is_spent(self) -> bool:
        """Whether no other call may begin."""
        spent = self.max_calls is not None and self.calls >= self.max_calls
        return spent or (self.max_tokens is not None and self.tokens >= self.max_tokens)


class Allowance:
    """What one iteration may take of its loop's budget, and of those of the loops around it (``outer``).

    ``clock`` is the timeout within which the iteration runs: it ends where the iteration wants a call that is not allowed.
    """

    __slots__ = ("_budget", "_clock", "_outer")

    def __init__(self, budget: Budget, clock: asyncio.Timeout, outer: "Allowance | None") -> None:
        self._budget = budget
        self._clock = clock
        self._outer = outer

    async def begin_call(self) -> None:
        """Count a call to a model; where a budget is spent, the iteration that has it is cancelled and this never returns."""
        allowances = self._all()
        for allowance in allowances:
            if allowance._budget.is_spent:
                if not allowance._clock.expired():  # else it is being cancelled already
                    allowance._clock.reschedule(asyncio.get_running_loop().time())
                await asyncio.Event().wait()
        for allowance in allowances:
            allowance._budget.calls += 1

    def count(self, usage: Json, sign: int = 1) -> None:
        """Count the tokens that a node tells of, or with -1 take them back."""
        tokens = sum(tokens_of(usage).values())
        for allowance in self._all():
            allowance._budget.tokens += sign * tokens

    def _all(self) -> "list[Allowance]":
        """This one and those around it."""
        return [self] if self._outer is None else [self, *self._outer._all()]


def tokens_of(usage: Json) -> dict[str, int]:
    """The tokens of a node's ``usage`` by their names; those that it does not tell are left out."""
    told = usage if isinstance(usage, Mapping) else {}
    return {name: count for name in COUNTED if type(count := told.get(name)) is int}
