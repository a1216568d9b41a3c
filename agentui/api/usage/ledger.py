"""``/usage``: what calls to models took and cost, one by one and summed up. Everybody sees what is one's own, admins all."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any

from aiohttp import web

from agentui.api.chats.protocol import account_of, data_answer, described, read_query, route
from agentui.api.keys import METER, STORE
from agentui.http.rights import check_right
from agentui.http.route import Route, answer
from agentui.schemas.forms import Data
from agentui.schemas.usage import UsageListQuery, UsagePage, UsageQuery, UsageSumQuery
from agentui.threads import in_thread
from agentui.usage.reports import UsageItem, UsageSum, Wanted, list_usage, sum_usage

EVERYBODY = "*"


async def get_usage(request: web.Request) -> web.Response:
    """List calls to models, the newest first."""
    query = read_query(request, UsageListQuery)
    await request.app[METER].writer.flush()
    items = await request.app[STORE].read(list_usage, _wanted(request, query), query.limit + 1, query.cursor)
    shown = items[: query.limit]
    if query.format == "csv":
        return await _csv(UsageItem, shown, "usage")
    return answer(UsagePage(shown, shown[-1].id if len(items) > query.limit else None))


async def get_usage_sums(request: web.Request) -> web.Response:
    """Sum calls to models up."""
    query = read_query(request, UsageSumQuery)
    await request.app[METER].writer.flush()
    sums = await request.app[STORE].read(sum_usage, _wanted(request, query), query.by)
    return await _csv(UsageSum, sums, f"usage by {query.by}") if query.format == "csv" else data_answer(sums)


def _wanted(request: web.Request, query: UsageQuery) -> Wanted:
    """The rows that are asked for. Raises 403 ``account_forbidden`` for another's, but to admins."""
    account: str | None = query.account or account_of(request)
    if account != account_of(request):
        check_right(request, "admin")
    return Wanted(
        None if account == EVERYBODY else account, query.start, query.end, query.session_id, query.floor_id, query.run_id
    )


async def _csv(shape: type[Any], rows: Sequence[Any], name: str) -> web.Response:
    """Rows as a file for spreadsheets (RFC 4180)."""
    body = await in_thread(partial(_written, shape, rows))
    headers = {"content-disposition": f'attachment; filename="{name}.csv"', "cache-control": "no-store"}
    return web.Response(body=body, content_type="text/csv", charset="utf-8", headers=headers)


def _written(shape: type[Any], rows: Sequence[Any]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([field.name for field in fields(shape)])
    writer.writerows([_cell(value) for value in asdict(row).values()] for row in rows)
    return out.getvalue().encode()


def _cell(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula: callers choose the names of models."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


ROUTES: tuple[Route, ...] = (
    route("GET", "/usage", get_usage, UsagePage, 403, query=described(UsageListQuery)),
    route("GET", "/usage/sums", get_usage_sums, Data[list[UsageSum]], 403, query=described(UsageSumQuery)),
)
