"""``UsageMeter``: counts every call to a model that somebody asked to count, and writes it into the ledger."""

from dataclasses import dataclass
from functools import partial

from agentui.chat.deltas import Usage
from agentui.ids import Clock, new_id
from agentui.pipeline.metering import OutgoingCall, Settled, Tally
from agentui.principal import Principal
from agentui.usage.ledger import Basis, UsageRow
from agentui.usage.prices import FREE, Prices, Rates
from agentui.usage.writer import LedgerWriter

NOTHING = Usage(0, 0)
"""The tokens of a call that nobody charges for."""


@dataclass
class UsageMeter:
    """Counts calls. ``keeps`` says whether the ledger is kept of everybody's."""

    writer: LedgerWriter
    prices: Prices
    clock: Clock
    keeps: bool

    def covers(self, principal: Principal) -> bool:
        """Whether the ledger is kept."""
        return self.keeps

    async def begin(self, call: OutgoingCall) -> Tally:
        """Raises Busy where calls cannot be counted."""
        self.writer.check_room()
        rates = FREE if call.is_free else await self.prices.of(call.vendor, call.url, call.model)
        settle = partial(self._settle, rates)
        return Tally(call, settle, settle)

    async def close(self) -> None:
        """Write what is counted."""
        await self.writer.close()

    def _settle(self, rates: Rates | None, settled: Settled) -> None:
        usage, basis = used(settled)
        price = None if rates is None or basis == "unknown" else rates.price(usage)
        if not settled.was_sent or settled.outcome == "refused":
            price = 0
        elif rates is not None and basis == "unknown" and (rates.call or rates is FREE):
            price = rates.call
        latency, now = round(settled.latency * 1000), self.clock.now_ms()
        row = UsageRow(new_id("usage"), settled.call, settled.outcome, settled.status, usage, price, basis, latency, now)
        self.writer.put(row)


def used(settled: Settled) -> tuple[Usage, Basis]:
    """The tokens that a call is charged for, and whence that is known.

    What did not go out, and what the upstream refused, costs nothing at any vendor. Where nobody told tokens they are those
    that there were at most: as many of input as the body has bytes, and of output as the request lets the model say, or else
    as many as the words have bytes that were heard. What is no chat has no such bound.
    """
    call, told = settled.call, settled.usage
    if not settled.was_sent or settled.outcome == "refused" or call.is_free:
        return told or NOTHING, "told"
    is_told = told is not None and told.input is not None and (told.output is not None or call.limit is None)
    if told is not None and is_told and settled.outcome == "answered":
        return told, "told"
    if call.operation == "forward" or (call.limit is None and call.operation != "embeddings"):
        return told or Usage(), "unknown"
    known = told or Usage()
    limit = call.limit
    output = 0 if limit is None else settled.said if limit.tokens is None else limit.tokens * limit.answers
    estimated = Usage(
        call.size if known.input is None else known.input,
        max(output, known.output or 0),
        known.cache_read,
        known.cache_write,
        known.reasoning,
    )
    return estimated, "estimated"
