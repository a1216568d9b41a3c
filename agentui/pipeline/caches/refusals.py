"""What models refused, by account, address and model, so that only the first request pays for finding out
(``vendors.amending``)."""

from collections import OrderedDict
from typing import Final

from agentui.vendors.amending import Refusal

MAX_MODELS: Final = 256
MAX_REFUSALS: Final = 8
"""Refusals that are remembered of one model."""
KEPT_SECONDS: Final = 3600.0
"""After that it is tried again: servers learn."""


class Refusals:
    """Remembers the refusals of the models that were asked last, in this process alone. ``now`` is ``time.monotonic()``."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, str], tuple[float, tuple[Refusal, ...]]] = OrderedDict()

    def of(self, account: str, url: str, model: str, now: float) -> tuple[Refusal, ...]:
        """What the server at an address refused an account for a model, the oldest first. Whoever asks is about to ask the
        model."""
        known = self._known.get((account, url, model))
        if known is None:
            return ()
        self._known.move_to_end((account, url, model))
        since, refusals = known
        if now - since > KEPT_SECONDS:
            del self._known[account, url, model]
            return ()
        return refusals

    def remember(self, account: str, url: str, model: str, refusal: Refusal, now: float) -> None:
        """Keep one more. The time counts from the first one on."""
        before = self.of(account, url, model, now)
        since = self._known[account, url, model][0] if before else now
        if refusal not in before and len(before) < MAX_REFUSALS:
            self._known[account, url, model] = (since, (*before, refusal))
            while len(self._known) > MAX_MODELS:
                self._known.popitem(last=False)
