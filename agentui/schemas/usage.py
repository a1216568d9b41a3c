"""The shapes of usage and budgets over HTTP."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from agentui.schemas.forms import NO_NUL, Form
from agentui.usage.records import Budget, Level, Period, Unit
from agentui.usage.reports import Grouping, UsageItem

MOST: int = 2**62
Text = Annotated[str, Field(max_length=256), NO_NUL]


class UsageQuery(Form):
    """Which calls."""

    account: Text | None = Field(None, description="The account, for admins: another's, or * for all; unset: one's own.")
    start: int = Field(0, ge=0, le=MOST, description="Calls from this time on, in milliseconds since 1970.")
    end: int = Field(MOST, ge=0, le=MOST, description="Calls before this time.")
    session_id: Text | None = Field(None, description="Calls for this chat.")
    floor_id: Text | None = Field(None, description="Calls for this turn.")
    run_id: Text | None = Field(None, description="Calls of this run.")
    format: Literal["json", "csv"] = Field("json", description="json, or csv for a file.")


class UsageListQuery(UsageQuery):
    """Which calls, one by one."""

    limit: int = Field(100, ge=1, le=1000, description="Most items in the answer, at most 1000.")
    cursor: Text | None = Field(None, description="Where to go on: next_cursor of the answer before.")


class UsageSumQuery(UsageQuery):
    """Which calls, summed up."""

    by: Grouping = Field("day", description="day, model, key, pipeline, account, session or purpose.")


@dataclass(frozen=True, slots=True)
class UsagePage:
    """Calls, the newest first; ``next_cursor`` where there are more."""

    items: list[UsageItem]
    next_cursor: str | None


class BudgetForm(Form):
    """A budget to set. ``subject`` is the id of the key or the account; the server has none. Money is in billionths of a
    dollar."""

    level: Level
    subject: Text = ""
    unit: Unit = "money"
    period: Period = "ever"
    amount: int = Field(ge=0, le=MOST)


@dataclass(frozen=True, slots=True)
class BudgetItem:
    """A budget as it stands: what is spent in its period, what is reserved for calls under way, and what is left of it.
    ``resets_at`` is when its next period begins, in milliseconds since 1970; None where none does."""

    id: str
    level: Level
    subject: str
    unit: Unit
    period: Period
    amount: int
    spent: int
    reserved: int
    left: int
    resets_at: int | None

    @classmethod
    def of(cls, budget: Budget, resets_at: int | None) -> "BudgetItem":
        """A budget for a caller."""
        place = (budget.id, budget.level, budget.subject, budget.unit, budget.period)
        return cls(*place, budget.amount, budget.spent, budget.reserved, budget.left, resets_at)
