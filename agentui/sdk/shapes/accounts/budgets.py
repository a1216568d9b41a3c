"""What the server speaks of: accounts, budgets."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class BudgetItem(TypedDict):
    """A budget as it stands: what is spent in its period, what is reserved for calls under way, and what is left of
    it. ``resets_at`` is when its next period begins, in milliseconds since 1970; None where none does.
    """

    id: str
    level: Literal["key", "account", "server"]
    subject: str
    unit: Literal["money", "tokens", "requests", "calls"]
    period: Literal["minute", "day", "month", "ever"]
    amount: int
    spent: int
    reserved: int
    left: int
    resets_at: int | None


class UsageBudgetForm(TypedDict):
    """A budget to set. ``subject`` is the id of the key or the account; the server has none. Money is in billionths of
    a dollar.
    """

    level: Literal["key", "account", "server"]
    subject: NotRequired[str]
    unit: NotRequired[Literal["money", "tokens", "requests", "calls"]]
    period: NotRequired[Literal["minute", "day", "month", "ever"]]
    amount: int
