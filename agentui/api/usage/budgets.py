"""``/budgets``: how much may be spent, and how much is. Everybody sees one's own, admins see and set all."""

from collections.abc import Sequence
from typing import Any, get_args

from aiohttp import web

from agentui.api.chats.protocol import account_of, commit, data_answer, now_ms, path_id, read_form, route
from agentui.api.keys import METER, STORE
from agentui.errors import Conflict, NotFound
from agentui.http.keys import PRINCIPAL
from agentui.http.route import Route
from agentui.schemas.forms import Data, Deleted
from agentui.schemas.usage import BudgetForm, BudgetItem, BudgetSettings, BudgetSettingsForm
from agentui.usage.budgets import choose_unknown_price, list_budgets, remove_budget, subject_names
from agentui.usage.budgets import put_budget as put
from agentui.usage.meter import UsageMeter
from agentui.usage.records import UNITS, Budget, Level, Period, Unit, UnknownPrice, window_end


async def get_budgets(request: web.Request) -> web.Response:
    """List budgets as they stand: an admin all of them, others those of their account, its projects and its keys."""
    meter, store, now = request.app[METER], request.app[STORE], now_ms()
    await meter.writer.flush()
    await meter.book_lost()
    account = None if request[PRINCIPAL].role == "admin" else account_of(request)
    return data_answer(await store.read(_listed, now, account, account_of(request)))


async def get_settings(request: web.Request) -> web.Response:
    """Read what budgets there can be, and what becomes of calls whose price nobody knows."""
    meter = request.app[METER]
    await request.app[STORE].start()
    await meter.refresh()
    return data_answer(_settings(meter))


async def put_settings(request: web.Request) -> web.Response:
    """Choose what becomes of calls whose price nobody knows. 409 ``conflict`` where the operator has said so."""
    form, meter = await read_form(request, BudgetSettingsForm), request.app[METER]
    if meter.unknown_price is not None:
        raise Conflict("AGENTUI_UNKNOWN_PRICE says what becomes of unknown prices: unset it to choose here.")
    await commit(request, _chosen, form.unknown_price, now_ms())
    await meter.told()
    return data_answer(_settings(meter))


def _settings(meter: UsageMeter) -> BudgetSettings:
    levels, periods = list(get_args(Level)), list(get_args(Period))
    return BudgetSettings(levels, list(UNITS), periods, meter.unknown_rule, meter.unknown_price is not None, meter.keeps)


def _chosen(db: Any, _: str, choice: UnknownPrice, now: int) -> None:
    choose_unknown_price(db, choice, now)


async def put_budget(request: web.Request) -> web.Response:
    """Set a budget, or change the amount of the one that there is: what was spent stays spent."""
    form, now = await read_form(request, BudgetForm), now_ms()
    set_to = form.level, form.subject, form.unit, form.period, form.amount, now
    budget = await commit(request, lambda db, account: _put(db, account, *set_to))
    await request.app[METER].told()
    return data_answer(budget)


async def delete_budget(request: web.Request) -> web.Response:
    """Remove a budget: it limits nothing any more."""
    id = path_id(request)
    await commit(request, _removed, id)
    await request.app[METER].told()
    return data_answer(Deleted(id))


def _removed(db: Any, _: str, id: str) -> None:
    if not remove_budget(db, id):
        raise NotFound(f"There is no budget {id!r}.", id=id)


def _listed(db: Any, now: int, account: str | None, reader: str) -> list[BudgetItem]:
    return _shown(db, list_budgets(db, now, account), reader, now)


def _put(db: Any, reader: str, level: Level, subject: str, unit: Unit, period: Period, amount: int, now: int) -> BudgetItem:
    (item,) = _shown(db, [put(db, level, subject, unit, period, amount, now)], reader, now)
    return item


def _shown(db: Any, found: Sequence[Budget], reader: str, now: int) -> list[BudgetItem]:
    """Budgets as they stand, with the names that ``reader`` may read."""
    names = subject_names(db, found, reader)
    ends = [None if budget.unit == "calls" else window_end(budget.period, now) for budget in found]
    return [
        BudgetItem.of(budget, names.get((budget.level, budget.subject)), end) for budget, end in zip(found, ends, strict=True)
    ]


ROUTES: tuple[Route, ...] = (
    route("GET", "/budgets", get_budgets, Data[list[BudgetItem]]),
    route("PUT", "/budgets", put_budget, Data[BudgetItem], 403, 404, 413, body=BudgetForm, needs="admin", writes=False),
    route("GET", "/budgets/settings", get_settings, Data[BudgetSettings]),
    route(
        "PUT",
        "/budgets/settings",
        put_settings,
        Data[BudgetSettings],
        403,
        409,
        413,
        body=BudgetSettingsForm,
        needs="admin",
        writes=False,
    ),
    route("DELETE", "/budgets/{id}", delete_budget, Data[Deleted], 403, needs="admin", writes=False),
)
