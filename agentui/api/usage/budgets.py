"""``/budgets``: how much may be spent, and how much is. Everybody sees one's own, admins see and set all."""

from typing import Any

from aiohttp import web

from agentui.api.chats.protocol import account_of, commit, data_answer, now_ms, path_id, read_form, route
from agentui.api.keys import METER, STORE
from agentui.errors import NotFound
from agentui.http.keys import PRINCIPAL
from agentui.http.route import Route
from agentui.schemas.forms import Data, Deleted
from agentui.schemas.usage import BudgetForm, BudgetItem
from agentui.usage.budgets import list_budgets, remove_budget
from agentui.usage.budgets import put_budget as put
from agentui.usage.records import Budget, window_end


async def get_budgets(request: web.Request) -> web.Response:
    """List budgets as they stand: an admin all of them, others those of their account and its keys."""
    meter, store, now = request.app[METER], request.app[STORE], now_ms()
    await meter.writer.flush()
    await meter.book_lost()
    account = None if request[PRINCIPAL].role == "admin" else account_of(request)
    return data_answer([_shown(budget, now) for budget in await store.read(list_budgets, now, account)])


async def put_budget(request: web.Request) -> web.Response:
    """Set a budget, or change the amount of the one that there is: what was spent stays spent."""
    form, now = await read_form(request, BudgetForm), now_ms()
    set_to = form.level, form.subject, form.unit, form.period, form.amount, now
    budget = await commit(request, lambda db, _: put(db, *set_to))
    await request.app[METER].told()
    return data_answer(_shown(budget, now))


async def delete_budget(request: web.Request) -> web.Response:
    """Remove a budget: it limits nothing any more."""
    id = path_id(request)
    await commit(request, _removed, id)
    await request.app[METER].told()
    return data_answer(Deleted(id))


def _removed(db: Any, _: str, id: str) -> None:
    if not remove_budget(db, id):
        raise NotFound(f"There is no budget {id!r}.", id=id)


def _shown(budget: Budget, now: int) -> BudgetItem:
    return BudgetItem.of(budget, None if budget.unit == "calls" else window_end(budget.period, now))


ROUTES: tuple[Route, ...] = (
    route("GET", "/budgets", get_budgets, Data[list[BudgetItem]]),
    route("PUT", "/budgets", put_budget, Data[BudgetItem], 403, 404, 413, body=BudgetForm, needs="admin", writes=False),
    route("DELETE", "/budgets/{id}", delete_budget, Data[Deleted], 403, needs="admin", writes=False),
)
