"""The window: how many tokens a prompt may take, and which turns of the history go so that it does."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentui.prompt.prepared import DEFAULT_WINDOW, PromptInput, TrimReason

_RESERVED = 1024


def window_of(policys: int | None, models: int | None) -> int:
    """The tokens that prompt and answer share: the policy's, else the model's, else 8,192."""
    return next(window for window in (policys, models, DEFAULT_WINDOW) if window is not None and window > 0)


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens: ``window`` is what prompt and answer share, ``reserved`` what is kept of it for the answer."""

    window: int
    reserved: int

    @classmethod
    def of(cls, given: PromptInput) -> "Budget":
        """The policy's window, else the model's, else 8,192.

        For the answer as much is kept as the policy says, else as was asked for but no more than half, else 1,024 tokens or a
        quarter of the window.
        """
        policy = given.policy.budget
        window = window_of(policy.max_input_tokens, given.window)
        reserved = policy.reserved_completion_tokens
        if reserved is None:
            asked = given.max_output_tokens
            reserved = min(_RESERVED, window // 4) if asked is None else min(asked, window // 2)
        return cls(window, min(window, reserved))

    @property
    def limit(self) -> int:
        """The most tokens of a prompt."""
        return self.window - self.reserved

    def dropped(self, turns: Sequence[int], fixed: int, is_needed: bool) -> int:
        """How many of the oldest turns go, by their tokens; ``fixed`` is what stays anyway, with the newest turn where it
        ``is_needed``."""
        left = self.limit - fixed
        for number in range(len(turns) - 1, -1, -1):
            left -= turns[number]
            if left < 0 and not (is_needed and number == len(turns) - 1):
                return number + 1
        return 0

    def reasons(self, dropped: int, unit: str, tokens: int) -> tuple[TrimReason, ...]:
        """Why turns went, or messages (``unit``)."""
        if not dropped:
            return ()
        detail = f"The {dropped} oldest {unit}(s), about {tokens} tokens, do not fit into the {self.limit} that the prompt has."
        return (TrimReason("history", "budget_exceeded", tokens, detail),)
