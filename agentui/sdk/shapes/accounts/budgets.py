"""What the server speaks of: accounts, budgets."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class BudgetItem(TypedDict):
    """A budget as it stands: ``subject_name`` is what people call the key or account, None where it is gone or nobody
    is told; what is spent in its period, what is reserved for calls under way, and what is left of it.
    ``resets_at`` is when its next period begins, in milliseconds since 1970; None where none does.
    """

    id: str
    level: Literal["key", "project", "account", "server"]
    subject: str
    subject_name: str | None
    unit: Literal["money", "tokens", "requests", "calls"]
    period: Literal["minute", "day", "month", "ever"]
    amount: int
    spent: int
    reserved: int
    left: int
    resets_at: int | None


class BudgetSettings(TypedDict):
    """What budgets there can be, and how calls are counted. ``unknown_price`` is what becomes of a call whose price
    nobody knows where its caller has a budget of money; where ``is_unknown_price_fixed``, ``AGENTUI_UNKNOWN_PRICE``
    says so and nobody chooses. ``keeps_usage`` tells whether the ledger is kept.
    """

    levels: list[Literal["key", "project", "account", "server"]]
    units: list[Literal["money", "tokens", "requests", "calls"]]
    periods: list[Literal["minute", "day", "month", "ever"]]
    unknown_price: Literal["refuse", "free"]
    is_unknown_price_fixed: bool
    keeps_usage: bool


class BudgetSettingsForm(TypedDict):
    """What is to become of calls whose price nobody knows, where their caller has a budget of money."""

    unknown_price: Literal["refuse", "free"]


class UsageBudgetForm(TypedDict):
    """A budget to set. ``subject`` is the id of the key, the project or the account; the server has none. Money is in
    billionths of a dollar.
    """

    level: Literal["key", "project", "account", "server"]
    subject: NotRequired[str]
    unit: NotRequired[Literal["money", "tokens", "requests", "calls"]]
    period: NotRequired[Literal["minute", "day", "month", "ever"]]
    amount: int
