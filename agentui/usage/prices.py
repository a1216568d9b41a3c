"""``Prices``: what a model costs, from the operator's file or from the package genai-prices, whose data lie inside of it.

Amounts are whole numbers, rounded up, so that no sum of them is less than what was spent: a price of a token is in billionths
of a thousandth of a dollar (10^-12, "pico"), a price of a call in billionths of a dollar (10^-9, "nano").

The only import of genai-prices, which waits for the first call that is counted: it takes a sixth of a second and 24 MB.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentui.chat.deltas import Usage
from agentui.chat.request import VendorName
from agentui.threads import in_thread

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice, Provider

NANO: Final = 1_000_000_000
"""Nano-dollars of a dollar."""
MOST_KNOWN: Final = 1000
"""Models whose prices are remembered."""
KNOWN_SECONDS: Final = 300.0
"""How long: some vendors charge less at night."""


@dataclass(frozen=True, slots=True)
class Step:
    """Prices of a token in pico-dollars for calls with more than ``start`` tokens of input. ``dearest`` is the most that a
    token of the input may cost, whichever cache it goes to."""

    start: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    dearest: int


@dataclass(frozen=True, slots=True)
class Rates:
    """What a model costs. ``steps`` are in the order of their starts, the first of which is 0; ``call`` is the price of each
    call in nano-dollars. ``window`` is the most tokens of input that the model takes, None where nobody knows."""

    steps: Sequence[Step]
    call: int = 0
    window: int | None = None

    def price(self, usage: Usage) -> int:
        """What a call with these tokens costs, in nano-dollars. Tokens that nobody told are none; fewer than none are none."""
        total = max(usage.input or 0, 0)
        read, write = max(usage.cache_read or 0, 0), max(usage.cache_write or 0, 0)
        step = self._step(max(total, read + write))
        fresh = max(total - read - write, 0)
        pico = fresh * step.input + read * step.cache_read + write * step.cache_write
        return self.call - (-(pico + max(usage.output or 0, 0) * step.output) // 1000)

    def bound(self, input: int, output: int) -> int:
        """The most that a call with at most so many tokens may cost, in nano-dollars, whatever a cache makes of them."""
        step = self._step(input)
        return self.call - (-(input * step.dearest + output * step.output) // 1000)

    def affordable_output(self, input: int, nano: int) -> int | None:
        """How many tokens of output a call with so many of input may have for this much; None for any number. Negative where
        the input alone costs more."""
        step = self._step(input)
        left = (nano - self.call) * 1000 - input * step.dearest
        if left < 0:
            return -1
        return None if step.output == 0 else left // step.output

    @property
    def is_free(self) -> bool:
        """Whether nothing costs anything."""
        return not self.call and all(step.dearest == step.output == 0 for step in self.steps)

    def _step(self, input: int) -> Step:
        """The last step that begins below so many tokens of input: its prices are those of all tokens."""
        chosen = self.steps[0]
        for step in self.steps:
            if input > step.start:
                chosen = step
        return chosen


FREE: Final = Rates((Step(0, 0, 0, 0, 0, 0),))
"""Costs nothing."""


def per_call(rates: Rates) -> Rates | None:
    """What a call costs whose tokens nobody can reckon with beforehand; None where it is charged by those."""
    return Rates(FREE.steps, rates.call) if rates.call or rates.is_free else None


class PriceRow(BaseModel):
    """What models cost that match all patterns of the row (``*`` and ``?``), in dollars for a million tokens, and ``call`` in
    dollars for each call. ``preset`` names the server that a provider preset calls."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str = "*"
    vendor: str = "*"
    host: str = "*"
    preset: str | None = None
    input: float = Field(0.0, ge=0, allow_inf_nan=False)
    output: float = Field(0.0, ge=0, allow_inf_nan=False)
    cache_read: float | None = Field(None, ge=0, allow_inf_nan=False)
    cache_write: float | None = Field(None, ge=0, allow_inf_nan=False)
    call: float = Field(0.0, ge=0, allow_inf_nan=False)

    def rates(self) -> Rates:
        """The row as prices."""
        input, output = _pico(Decimal(str(self.input))), _pico(Decimal(str(self.output)))
        read = input if self.cache_read is None else _pico(Decimal(str(self.cache_read)))
        write = input if self.cache_write is None else _pico(Decimal(str(self.cache_write)))
        step = Step(0, input, output, read, write, max(input, read, write))
        return Rates((step,), _ceiling(Decimal(str(self.call)) * NANO))


class PriceFile(BaseModel):
    """The operator's prices: of the rows that match, the first one counts."""

    model_config = ConfigDict(extra="forbid", strict=True)

    prices: list[PriceRow]


def read_prices(path: Path) -> tuple[PriceRow, ...]:
    """The rows of a file. Raises ValueError, with the place of what is wrong, and OSError."""
    try:
        return tuple(PriceFile.model_validate_json(path.read_bytes()).prices)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ValueError(f"{path}: {place}: {first['msg']}") from None


class Prices:
    """What calls cost. ``lists`` are whose prices count in each dialect (``Billing.price_list``), ``rows`` the operator's own;
    ``preset_host`` gives whom a preset calls, None where it is not known; ``now`` is the time in seconds since 1970."""

    def __init__(
        self,
        lists: Mapping[VendorName, str],
        rows: Sequence[PriceRow] = (),
        preset_host: Callable[[str], str | None] = lambda _: None,
        *,
        now: Callable[[], float],
    ) -> None:
        self._lists = lists
        self._rows = [(row, row.rates()) for row in rows]
        self._preset_host = preset_host
        self._now = now
        self._providers: Sequence[Provider] | None = None
        self._loading: asyncio.Lock = asyncio.Lock()
        self._known: dict[tuple[str, str, str], tuple[float, Rates | None]] = {}

    async def of(self, vendor: VendorName, url: str, model: str) -> Rates | None:
        """The prices of a model in a dialect at an address; None where nobody knows them."""
        parts = urlsplit(url)
        key, now = (vendor, parts.netloc, model), self._now()
        known = self._known.get(key)
        if known is not None and now < known[0]:
            return known[1]
        rates = self._own(vendor, parts.netloc, model)
        if rates is None:
            if self._providers is None:
                async with self._loading:  # the module is read once, for all that wait
                    self._providers = await in_thread(_providers)
            rates = await in_thread(lambda: self._listed(vendor, f"{parts.scheme}://{parts.netloc}{parts.path}", model))
        if len(self._known) >= MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[key] = (now + KNOWN_SECONDS, rates)
        return rates

    def _own(self, vendor: VendorName, host: str, model: str) -> Rates | None:
        for row, rates in self._rows:
            if row.preset is not None and self._preset_host(row.preset) != host:
                continue
            if fnmatchcase(model, row.model) and fnmatchcase(vendor, row.vendor) and fnmatchcase(host, row.host):
                return rates
        return None

    def _listed(self, vendor: VendorName, url: str, model: str) -> Rates | None:
        """The package's prices."""
        providers = self._providers or ()
        provider = next((each for each in providers if re.match(each.api_pattern, url)), None)
        if provider is None:
            provider = next((each for each in providers if each.id == self._lists[vendor]), None)
        found = None if provider is None else provider.find_model(model.lower(), all_providers=list(providers))
        if found is None:
            return None
        prices = found.get_prices(datetime.fromtimestamp(self._now(), UTC))
        return _rates(prices, found.context_window)


def _providers() -> Sequence["Provider"]:
    from genai_prices.data_snapshot import get_snapshot

    return get_snapshot().providers


def _rates(prices: "ModelPrice", window: int | None) -> Rates | None:
    """The package's prices as ours; None for a model that is not charged by its tokens."""
    told: dict[str, Any] = {name: value for name, value in vars(prices).items() if value is not None}
    input = told.get("input_mtok")
    if input is None and "output_mtok" not in told:
        return None
    starts = {0, *(tier.start for value in told.values() for tier in getattr(value, "tiers", ()))}
    steps = []
    for start in sorted(starts):

        def at(name: str, start: int = start) -> int | None:
            return _pico(_at(told[name], start)) if name in told else None

        fresh = at("input_mtok") or 0
        read, write = at("cache_read_mtok"), at("cache_write_mtok")
        output = max(at("output_mtok") or 0, at("output_reasoning_mtok") or 0)
        dearest = max(fresh, read or 0, write or 0, at("cache_write_1h_mtok") or 0)
        steps.append(Step(start, fresh, output, fresh if read is None else read, fresh if write is None else write, dearest))
    return Rates(steps, _ceiling(told.get("requests_kcount", Decimal(0)) * NANO / 1000), window)


def _at(price: Any, start: int) -> Decimal:
    """A price for inputs that are larger than ``start``."""
    value: Decimal = getattr(price, "base", price)
    for tier in getattr(price, "tiers", ()):
        if start >= tier.start:
            value = tier.price
    return value


def _pico(dollars: Decimal) -> int:
    """Dollars for a million tokens as pico-dollars for one."""
    return _ceiling(dollars * 1_000_000)


def _ceiling(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_CEILING))
