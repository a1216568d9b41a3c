"""The shapes of usage and budgets over HTTP."""

from dataclasses import dataclass
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator

from agentui.schemas.forms import NO_NUL, Form
from agentui.usage.records import Budget, Level, Period, Unit, UnknownPrice
from agentui.usage.reports import Grouping, UsageItem

MOST: int = 2**62
MOST_FLOORS: int = 100
Text = Annotated[str, Field(max_length=256), NO_NUL]


class UsageQuery(Form):
    """Which calls."""

    account: Text | None = Field(None, description="The account, for admins: another's, or * for all; unset: one's own.")
    start: int = Field(0, ge=0, le=MOST, description="Calls from this time on, in milliseconds since 1970.")
    end: int = Field(MOST, ge=0, le=MOST, description="Calls before this time.")
    session_id: Text | None = Field(None, description="Calls for this chat.")
    floor_id: Text | None = Field(None, description="Calls for this turn.")
    run_id: Text | None = Field(None, description="Calls of this run.")
    key_id: Text | None = Field(None, description="Calls by this client key.")
    pipeline_id: Text | None = Field(None, description="Calls of this pipeline.")
    model: Text | None = Field(None, description="Calls to this model.")
    purpose: Text | None = Field(None, description="Calls for this purpose: answer, try, director, verifier, tool, memory.")
    floor_ids: Annotated[str, Field(max_length=8192), NO_NUL] | None = Field(
        None, description="Calls for these turns: up to 100 ids, comma separated."
    )
    zone: Annotated[str, Field(max_length=64)] = Field(
        "UTC", description="Where days begin and end, and times are told in: an IANA name such as Europe/Berlin."
    )
    format: Literal["json", "csv"] = Field("json", description="json, or csv for a file.")

    @property
    def floors(self) -> list[str] | None:
        """The ids of the turns that are asked for together; None for any."""
        return None if self.floor_ids is None else [id for id in self.floor_ids.split(",") if id]

    @property
    def time_zone(self) -> ZoneInfo:
        """The zone of ``zone``, which was looked for when the query was read."""
        return ZoneInfo(self.zone)

    @field_validator("floor_ids")
    @classmethod
    def _are_few(cls, ids: str | None) -> str | None:
        if ids is not None and ids.count(",") >= MOST_FLOORS:
            raise ValueError(f"at most {MOST_FLOORS} ids are asked for at once")
        return ids

    @field_validator("zone")
    @classmethod
    def _is_a_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # a name may lead out of the folder, or to one
            raise ValueError(f"there is no time zone {name!r}; use an IANA name such as Europe/Berlin") from error
        return name


class UsageListQuery(UsageQuery):
    """Which calls, one by one."""

    limit: int | None = Field(
        None, ge=1, le=1000, description="Most items in the answer, at most 1000; unset: 100, or all in a file."
    )
    cursor: Text | None = Field(None, description="Where to go on: next_cursor of the answer before.")


class UsageSumQuery(UsageQuery):
    """Which calls, summed up."""

    by: Grouping = Field("day", description="day, model, key, pipeline, account, session, purpose, floor or node.")


@dataclass(frozen=True, slots=True)
class UsagePage:
    """Calls, the newest first; ``next_cursor`` where there are more."""

    items: list[UsageItem]
    next_cursor: str | None


class BudgetForm(Form):
    """A budget to set. ``subject`` is the id of the key, the project or the account; the server has none. Money is in
    billionths of a dollar."""

    level: Level
    subject: Text = ""
    unit: Unit = "money"
    period: Period = "ever"
    amount: int = Field(ge=0, le=MOST)


class BudgetSettingsForm(Form):
    """What is to become of calls whose price nobody knows, where their caller has a budget of money."""

    unknown_price: UnknownPrice


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """What budgets there can be, and how calls are counted. ``unknown_price`` is what becomes of a call whose price nobody
    knows where its caller has a budget of money; where ``is_unknown_price_fixed``, ``AGENTUI_UNKNOWN_PRICE`` says so and nobody
    chooses. ``keeps_usage`` tells whether the ledger is kept."""

    levels: list[Level]
    units: list[Unit]
    periods: list[Period]
    unknown_price: UnknownPrice
    is_unknown_price_fixed: bool
    keeps_usage: bool


@dataclass(frozen=True, slots=True)
class BudgetItem:
    """A budget as it stands: ``subject_name`` is what people call the key or account, None where it is gone or nobody is told;
    what is spent in its period, what is reserved for calls under way, and what is left of it. ``resets_at`` is when its next
    period begins, in milliseconds since 1970; None where none does."""

    id: str
    level: Level
    subject: str
    subject_name: str | None
    unit: Unit
    period: Period
    amount: int
    spent: int
    reserved: int
    left: int
    resets_at: int | None

    @classmethod
    def of(cls, budget: Budget, name: str | None, resets_at: int | None) -> "BudgetItem":
        """A budget for a caller."""
        place = (budget.id, budget.level, budget.subject, name, budget.unit, budget.period)
        return cls(*place, budget.amount, budget.spent, budget.reserved, budget.left, resets_at)
