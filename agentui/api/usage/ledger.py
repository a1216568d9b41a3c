"""``/usage``: what calls to models took and cost, one by one and summed up. Everybody sees what is one's own, admins all."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from aiohttp import web

from agentui.api.chats.protocol import account_asked, account_of, data_answer, described, place_of, read_query, route
from agentui.api.keys import METER, STORE
from agentui.http.keys import SETTINGS
from agentui.http.route import Route, answer
from agentui.http.writing import begin_stream, write_pieces
from agentui.schemas.forms import Data
from agentui.schemas.usage import UsageListQuery, UsagePage, UsageQuery, UsageSumQuery
from agentui.store.paging import Place
from agentui.threads import in_thread
from agentui.usage.reports import UsageItem, UsageSum, Wanted, list_usage, sum_usage

PAGE: Final = 100
AT_ONCE: Final = 500
"""Calls of a file that are read and written together."""


async def get_usage(request: web.Request) -> web.StreamResponse:
    """List calls to models, the newest first."""
    query = read_query(request, UsageListQuery)
    wanted, place = _wanted(request, query), place_of(query.cursor)
    await request.app[METER].writer.flush()
    if query.format == "csv":
        return await _file(request, wanted, place, query.limit, query.time_zone)
    return answer(UsagePage(*await request.app[STORE].read(list_usage, wanted, query.limit or PAGE, place)))


async def get_usage_sums(request: web.Request) -> web.Response:
    """Sum calls to models up."""
    query = read_query(request, UsageSumQuery)
    wanted = _wanted(request, query)
    await request.app[METER].writer.flush()
    sums = await request.app[STORE].read(sum_usage, wanted, query.by, query.time_zone, account_of(request))
    if query.format != "csv":
        return data_answer(sums)
    head = [field.name for field in fields(UsageSum)]
    body = await in_thread(partial(_written, [head, *(asdict(each).values() for each in sums)]))
    return web.Response(body=body, headers=_headers(f"usage by {query.by}"))


async def _file(
    request: web.Request, wanted: Wanted, place: Place | None, limit: int | None, zone: ZoneInfo
) -> web.StreamResponse:
    """All calls (or so many) as a file that is written as it is read: part after part, each behind the one before, so that a
    ledger of any length holds no more than one part in memory. What comes meanwhile is newer, and not in it."""
    read = request.app[STORE].read
    most = limit or AT_ONCE
    items, cursor = await read(list_usage, wanted, most, place)
    response = web.StreamResponse(headers=_headers("usage"))
    await begin_stream(request, response)
    lines: list[Iterable[Any]] = [["time", *(field.name for field in fields(UsageItem)), "price_usd"]]
    seconds = request.app[SETTINGS].write_timeout
    while True:
        body = await in_thread(partial(_rows, lines, items, zone))
        await write_pieces(request, response, body, seconds)
        if cursor is None or limit is not None:
            break
        lines = []
        items, cursor = await read(list_usage, wanted, AT_ONCE, place_of(cursor))
    await response.write_eof()
    return response


def _wanted(request: web.Request, query: UsageQuery) -> Wanted:
    """The rows that are asked for. Raises 403 ``account_forbidden`` for another's, but to admins."""
    return Wanted(
        account_asked(request, query.account),
        query.start,
        query.end,
        query.session_id,
        query.floor_id,
        query.run_id,
        query.key_id,
        query.pipeline_id,
        query.model,
        query.purpose,
        query.floors,
    )


def _headers(name: str) -> dict[str, str]:
    return {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": f'attachment; filename="{name}.csv"',
        "cache-control": "no-store",
    }


def _rows(lines: Sequence[Iterable[Any]], items: Sequence[UsageItem], zone: ZoneInfo) -> bytes:
    return _written([*lines, *(_line(item, zone) for item in items)])


def _line(item: UsageItem, zone: ZoneInfo) -> Iterable[Any]:
    """A call with the time as people read it, and the price in dollars: nothing where nobody knows it."""
    time = datetime.fromtimestamp(item.created_at / 1000, zone).isoformat(timespec="seconds")
    price = "" if item.price_nano is None else f"{Decimal(item.price_nano).scaleb(-9):f}"
    return [time, *asdict(item).values(), price]


def _written(lines: Iterable[Iterable[Any]]) -> bytes:
    """Lines for spreadsheets (RFC 4180)."""
    out = io.StringIO()
    csv.writer(out).writerows([_cell(value) for value in line] for line in lines)
    return out.getvalue().encode()


def _cell(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula: callers choose the names of models."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


ROUTES: tuple[Route, ...] = (
    route("GET", "/usage", get_usage, UsagePage, 403, query=described(UsageListQuery)),
    route("GET", "/usage/sums", get_usage_sums, Data[list[UsageSum]], 403, query=described(UsageSumQuery)),
)
