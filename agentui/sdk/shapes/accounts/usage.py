"""What the server speaks of: accounts, usage."""

from __future__ import annotations

from typing import TypedDict


class UsageItem(TypedDict):
    """A request that went out to a model. ``price_nano`` is in billionths of a dollar, None where the price is not
    known; ``basis`` says whence the tokens are.
    """

    id: str
    account_id: str
    key_id: str | None
    session_id: str | None
    floor_id: str | None
    run_id: str
    pipeline_id: str
    node_id: str
    vendor: str
    host: str
    model: str
    operation: str
    purpose: str
    outcome: str
    status: int | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    price_nano: int | None
    basis: str
    latency_ms: int
    created_at: int


class UsagePage(TypedDict):
    """Calls, the newest first; ``next_cursor`` where there are more."""

    items: list[UsageItem]
    next_cursor: str | None


class UsageSum(TypedDict):
    """What calls of one day, model or the like came to. ``name`` is the day (YYYY-MM-DD) or the id or name, None for
    calls without one; ``label`` is what people call it, where that is told. ``price_nano`` is the sum of the prices
    that are known, and ``estimated_nano`` the part of it that rests on estimated tokens. ``unpriced`` are calls
    whose price nobody knows, ``estimated`` those whose tokens nobody told, ``uncounted`` those without any count of
    tokens.
    """

    name: str | None
    label: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    price_nano: int
    estimated_nano: int
    unpriced: int
    estimated: int
    uncounted: int
