"""Budgets that hold: what a call may cost at most is reserved before it goes out, and settled when it is over.

    reserve   reserved += bound, at every level or at none      spent + reserved <= amount
    settle    reserved -= bound, spent += what it was
    book_lost as settle, at the bound, for calls whose process died

A budget is of a key, a project, an account or the server; of money, tokens, requests, or calls at once; and for a minute, a
day, a month (of the calendar in UTC) or ever. The functions are transactions, or parts of them: they lock the budgets of a
caller in the order of their ids, decide, and write. A clock that goes back starts no period anew.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import BigInteger, ColumnElement, Connection, and_, bindparam, delete, func, insert, or_, select, text, update

from agentui.accounts.clients import account_of_key
from agentui.accounts.codes import failure
from agentui.accounts.stored import find_account
from agentui.errors import ApiError, BudgetExceeded, LimitLeft
from agentui.ids import new_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.principal import Principal
from agentui.store.prepared import INSERT, DatabaseTime, OneOf, Prepared, named, texts
from agentui.store.tables import accounts, budgets, client_keys, projects, reservations, sessions, usage_rules
from agentui.usage.ledger import UsageRow, add_values
from agentui.usage.prices import Rates
from agentui.usage.records import (
    MOST,
    MOST_PRICE,
    MOST_TOKENS,
    Amounts,
    Budget,
    Level,
    Period,
    Unit,
    UnknownPrice,
    window_end,
    window_start,
)

LEAST_OUTPUT: Final = 16
"""Tokens of output that a call is worth making for, and the least that OpenAI's API for responses lets one ask for."""
MOST_OUTPUT: Final = 32_768
"""Tokens of output that are reserved for a call which sets no limit."""
LEASE_MS: Final = 60_000
"""How long a reservation outlives its process."""
LOST_AT_ONCE: Final = 500
"""Calls of dead processes that are booked in one transaction."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a call may take at most. ``output`` is for each of the ``answers``, None where the request sets no limit."""

    input: int
    output: int | None
    answers: int
    rates: Rates

    def amounts(self, output: int) -> Amounts:
        """What it takes with so many tokens in each answer."""
        total = output * self.answers
        money = self.rates.bound(self.input, total)
        return {"money": min(money, MOST), "tokens": min(self.input + total, MOST), "requests": 1, "calls": 1}


@dataclass(frozen=True, slots=True)
class Reserved:
    """What is held for a call: by the ids of the budgets. ``id`` is that of the reservation, and of the row in the ledger;
    ``cap`` is the most tokens of each answer, where the request sets
    no limit; ``amounts`` are what it takes at most, ``levels`` the budgets as they stand with that."""

    held: Mapping[str, int]
    amounts: Amounts
    cap: int | None
    levels: Sequence[Budget]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Settlement:
    """A call that is over: its row in the ledger (None where none is kept) and what it took. ``id`` is the reservation's."""

    row: UsageRow | None
    id: str | None = None
    used: Amounts | None = None


def decide(levels: Sequence[Budget], bound: Bound, now: int) -> Reserved:
    """What is reserved for a call from budgets that stand as ``at`` says. Raises BudgetExceeded where one has not enough."""
    output, cap = bound.output, None
    if output is None:
        output = cap = _affordable(levels, bound)
        output = max(output, LEAST_OUTPUT)  # less is not worth a call: the budget that has not so much refuses it
    amounts = bound.amounts(max(output, 0))
    for budget in levels:
        if amounts[budget.unit] > budget.left:
            raise exceeded(budget, amounts[budget.unit], now, limits_left(levels, now))
    held = {budget.id: amounts[budget.unit] for budget in levels}
    return Reserved(held, amounts, cap, [replace(budget, reserved=budget.reserved + held[budget.id]) for budget in levels])


def limits_left(levels: Sequence[Budget], now: int) -> list[LimitLeft]:
    """What is left of limits for a minute; of several for the same the one with the least."""
    found: dict[str, LimitLeft] = {}
    for budget in levels:
        if budget.period == "minute" and (budget.unit == "requests" or budget.unit == "tokens"):
            end = budget.window_start + 60_000
            left = LimitLeft(budget.unit, budget.amount, budget.left, end, max(round((end - now) / 1000, 3), 0))
            if budget.unit not in found or left.remaining < found[budget.unit].remaining:
                found[budget.unit] = left
    return list(found.values())


def foreseen(levels: Sequence[Budget], bound: Bound, now: int) -> Reserved | None:
    """What will be reserved if the budgets of a caller stand as they stood a moment ago; None where that would not do: a
    new period has begun, or so little is left that it has to be known exactly."""
    if any(budget.at(now) is not budget for budget in levels):
        return None
    try:
        reserved = decide(levels, bound, now)
    except BudgetExceeded:
        return None
    return None if reserved.cap is not None and reserved.cap < MOST_OUTPUT else reserved


def _affordable(levels: Sequence[Budget], bound: Bound) -> int:
    """The tokens of each answer that all levels have left."""
    total = MOST_OUTPUT * bound.answers
    for budget in levels:
        if budget.unit == "tokens":
            total = min(total, budget.left - bound.input)
        elif budget.unit == "money":
            most = bound.rates.affordable_output(bound.input, budget.left)
            total = total if most is None else min(total, most)
    return total // bound.answers


def exceeded(budget: Budget, asked: int, now: int, limits: Sequence[LimitLeft] = ()) -> BudgetExceeded:
    """The error for a call that a budget has not enough for; ``limits`` are what is left of those for a minute."""
    frees = None if budget.unit == "calls" else window_end(budget.period, max(now, budget.window_start))
    of = "the server" if budget.level == "server" else f"this {budget.level}"
    every = {"minute": "a minute", "day": "a day", "month": "a month", "ever": "in all"}[budget.period]
    what, left = _shown(budget.unit, budget.amount), _shown(budget.unit, budget.left)
    per = "at once" if budget.unit == "calls" else every
    until = "" if frees is None else f" It is free again at {datetime.fromtimestamp(frees / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC."
    wait = 1.0 if budget.unit == "calls" else None if frees is None else max((frees - now) / 1000, 1.0)
    return BudgetExceeded(
        f"The budget of {of} ({what} {per}) has {left} left, and this call may take {_shown(budget.unit, asked)}.{until}",
        retry_after=wait,
        limits=limits,
        level=budget.level,
        subject=budget.subject,
        unit=budget.unit,
        period=budget.period,
        left=budget.left,
        asked=asked,
        frees_at=frees,
    )


def _shown(unit: Unit, amount: int) -> str:
    return f"${amount / 1_000_000_000:.6f}" if unit == "money" else f"{amount} {unit}"


def reserve(
    db: Connection,
    principal: Principal,
    bound: Bound,
    id: str,
    owner: str,
    row: Mapping[str, Json],
    now: int,
    project: str | None = None,
) -> Reserved | None:
    """Reserve what a call may take, at every level or at none; None where no budget is set for this caller, or the ``project``
    of the chat that it is made for. ``row`` is what the ledger says should the process ``owner`` die. Raises
    BudgetExceeded."""
    levels = [budget.at(now) for budget in _locked(db, principal, project)]
    if not levels:
        return None
    reserved = decide(levels, bound, now)
    _write(db, reserved.levels)
    own = {"id": id, "account_id": principal.account, "owner": owner, "lease": LEASE_MS}
    _RESERVE.run(db, {**own, "held_json": dumps_text(dict(reserved.held)), "row_json": _lost_row(row, bound, reserved)})
    return replace(reserved, id=id)


def reserve_at_once(
    db: Connection,
    principal: Principal,
    bound: Bound,
    reserved: Reserved,
    id: str,
    owner: str,
    row: Mapping[str, Json],
    project: str | None = None,
) -> Reserved | None:
    """Reserve what was foreseen, in one statement of PostgreSQL (``Store.write_one``): where all budgets of the caller, and no
    others, are those that were seen, in the same period and with room. None, and nothing is held, where they are not."""
    asked = {budget.id: (reserved.held[budget.id], budget.window_start) for budget in reserved.levels}
    found = _AT_ONCE.all(
        db,
        {
            "owned_by": principal.account,
            "account": principal.account,
            "key": principal.key or "",
            "project": project or "",
            "asked": dumps_text(asked),
            "id": id,
            "owner": owner,
            "lease": LEASE_MS,
            "held": dumps_text(dict(reserved.held)),
            "row": _lost_row(row, bound, reserved),
        },
    )
    return replace(reserved, levels=[Budget(*row) for row in found], id=id) if found else None


def _lost_row(row: Mapping[str, Json], bound: Bound, reserved: Reserved) -> str:
    """The row in the ledger of a call whose process died: at its bound."""
    input, total = min(bound.input, MOST_TOKENS), min(reserved.amounts["tokens"], MOST_TOKENS)
    price = min(reserved.amounts["money"], MOST_PRICE)
    return dumps_text({**row, "price_nano": price, "input_tokens": input, "output_tokens": max(total - input, 0)})


def settle(db: Connection, settlements: Sequence[Settlement], now: int) -> None:
    """Write calls that are over into the ledger, and what they took into their budgets. One whose reservation is gone was
    booked before, at its bound."""
    taken: dict[str, list[tuple[int, Amounts]]] = {}
    used = {each.id: each.used for each in settlements if each.id is not None and each.used is not None}
    for id, held_json in _TAKE.all(db, {"ids": texts(list(used))}) if used else ():
        for budget, held in loads(held_json.encode()).items():
            taken.setdefault(budget, []).append((held, used[id]))
    _book(db, taken, now)
    add_values(db, [each.row.values() for each in settlements if each.row is not None])


def book_lost(db: Connection, now: int, *, keeps: bool, owner: str | None = None) -> int:
    """Book calls of processes that died at their bound, at most ``LOST_AT_ONCE``; how many they were.

    ``owner`` is the process that asks: the others are dead whose leases are over by the clock of the database. None says that
    there is no other process, and none whose calls are under way.
    """
    query = select(reservations.c.id, reservations.c.held_json, reservations.c.row_json).order_by(reservations.c.id)
    if owner is not None:
        query = query.where(reservations.c.expires_at < DatabaseTime(), reservations.c.owner != owner)
    found = db.execute(query.limit(LOST_AT_ONCE).with_for_update(skip_locked=True)).all()
    taken: dict[str, list[tuple[int, Amounts]]] = {}
    rows = []
    for _, held_json, row_json in found:
        row = loads(row_json.encode())
        rows.append(row)
        tokens = row["input_tokens"] + row["output_tokens"]
        used: Amounts = {"money": row["price_nano"], "tokens": tokens, "requests": 1, "calls": 0}
        for budget, held in loads(held_json.encode()).items():
            taken.setdefault(budget, []).append((held, used))
    _TAKE.all(db, {"ids": texts([id for id, _, _ in found])})
    _book(db, taken, now)
    if keeps:
        add_values(db, rows)
    return len(found)


def renew(db: Connection, owner: str, lease: int | None = None) -> None:
    """A process lives: so do its reservations, for so many milliseconds more (``LEASE_MS``)."""
    end = DatabaseTime() + (LEASE_MS if lease is None else lease)
    db.execute(update(reservations).where(reservations.c.owner == owner).values(expires_at=end))


def set_budget(
    db: Connection, level: Level, subject: str, account: str, unit: Unit, period: Period, amount: int, now: int
) -> Budget:
    """Set a budget, or change its amount: what was spent of it stays spent."""
    place = and_(budgets.c.level == level, budgets.c.subject == subject, budgets.c.unit == unit, budgets.c.period == period)
    own = {"id": new_id("bud"), "account_id": account, "level": level, "subject": subject, "unit": unit, "period": period}
    fresh = {"amount": amount, "window_start": window_start(period, now), "spent": 0, "reserved": 0}
    made = INSERT[db.dialect.name](budgets).values({**own, **fresh, "created_at": now, "updated_at": now})
    # Two admins may set the same one at once.
    db.execute(
        made.on_conflict_do_update(
            index_elements=["level", "subject", "unit", "period"], set_={"amount": amount, "updated_at": now}
        )
    )
    return Budget(*db.execute(select(*_COLUMNS).where(place)).one()).at(now)


def put_budget(db: Connection, level: Level, subject: str, unit: Unit, period: Period, amount: int, now: int) -> Budget:
    """Set the budget of the server, an account, a project or a key. Raises 404 for what is not there."""
    account = ""
    match level:
        case "server":
            subject = ""
        case "account":
            account = find_account(db, subject).id
        case "key":
            found = account_of_key(db, subject)
            if found is None:
                raise failure("client_api_key_not_found", f"There is no key {subject!r}.", id=subject)
            account = found
        case "project":
            owner = db.execute(select(projects.c.account_id).where(projects.c.id == subject)).scalar()
            if owner is None:
                raise ApiError(f"There is no project {subject!r}.", status=404, code="project_not_found", id=subject)
            account = owner
    # So many at once are so many at any time.
    return set_budget(db, level, subject, account, unit, "ever" if unit == "calls" else period, amount, now)


def limit_key(db: Connection, key: str, limits: Sequence[tuple[Unit, Period, int]], now: int) -> None:
    """Let a key have these budgets and no others; of several for the same the last counts, and of one that it had already what
    was spent stays spent. Raises 404 for a key that there is not."""
    kept = [put_budget(db, "key", key, unit, period, amount, now).id for unit, period, amount in limits]
    db.execute(delete(budgets).where(budgets.c.level == "key", budgets.c.subject == key, budgets.c.id.not_in(kept)))


def list_budgets(db: Connection, now: int, account: str | None = None) -> list[Budget]:
    """All budgets as they stand now, or those of an account, its projects and its keys."""
    query = select(*_COLUMNS).order_by(budgets.c.level, budgets.c.subject, budgets.c.unit, budgets.c.period)
    if account is not None:
        query = query.where(budgets.c.account_id == account)
    return [Budget(*row).at(now) for row in db.execute(query)]


def remove_budget(db: Connection, id: str) -> bool:
    """Remove a budget; whether there was such a one."""
    return db.execute(delete(budgets).where(budgets.c.id == id)).rowcount > 0


def chosen_unknown_price(db: Connection) -> UnknownPrice | None:
    """What an admin chose to become of calls whose price nobody knows; None where nobody chose."""
    found: UnknownPrice | None = db.execute(select(usage_rules.c.value).where(_UNKNOWN_PRICE)).scalar()
    return found


def choose_unknown_price(db: Connection, choice: UnknownPrice, now: int) -> None:
    """Choose what becomes of calls whose price nobody knows."""
    if not db.execute(update(usage_rules).where(_UNKNOWN_PRICE).values(value=choice, updated_at=now)).rowcount:
        row = {"account_id": "", "name": "unknown_price", "value": choice, "updated_at": now}
        db.execute(insert(usage_rules).values(row))


def subject_names(db: Connection, found: Sequence[Budget], reader: str) -> dict[tuple[str, str], str]:
    """What people call the keys and accounts (by level and id) that budgets are of; those that are gone are left out."""
    names: dict[tuple[str, str], str] = {}
    for level, (id, name, own) in _NAMED.items():
        ids = {budget.subject for budget in found if budget.level == level}
        query = select(id, name).where(id.in_(ids))
        if own is not None:
            query = query.where(own == reader)
        if ids:
            names |= {(level, row[0]): row[1] for row in db.execute(query) if row[1] is not None}
    return names


_UNKNOWN_PRICE: Final = and_(usage_rules.c.account_id == "", usage_rules.c.name == "unknown_price")
_NAMED: Final[Mapping[str, tuple[ColumnElement[str], ColumnElement[str | None], ColumnElement[str] | None]]] = {
    "key": (client_keys.c.id, func.coalesce(client_keys.c.name, client_keys.c.key_prefix), None),
    "account": (accounts.c.id, accounts.c.name, None),
    # Projects are called as somebody called a chat: that is told to whom they belong alone.
    "project": (projects.c.id, projects.c.name, projects.c.account_id),
}
"""The ids and names of what budgets are of, by their level, and whose a name is where only its owner may read it."""


def limited_units(db: Connection) -> Mapping[tuple[str, str], set[Unit]]:
    """Who has budgets, by level and subject, and of which units."""
    found: dict[tuple[str, str], set[Unit]] = {}
    for level, subject, unit in db.execute(select(budgets.c.level, budgets.c.subject, budgets.c.unit).distinct()):
        found.setdefault((level, subject), set()).add(unit)
    return found


_COLUMNS: Final = (
    budgets.c.id,
    budgets.c.level,
    budgets.c.subject,
    budgets.c.unit,
    budgets.c.period,
    budgets.c.amount,
    budgets.c.window_start,
    budgets.c.spent,
    budgets.c.reserved,
)
_OF_CALLER: Final = Prepared(
    select(*_COLUMNS)
    .where(
        or_(
            budgets.c.level == "server",
            and_(budgets.c.level == "account", budgets.c.subject == bindparam("account")),
            and_(budgets.c.level == "key", budgets.c.subject == bindparam("key")),
            and_(budgets.c.level == "project", budgets.c.subject == bindparam("project")),
        )
    )
    .order_by(budgets.c.id)
    .with_for_update()
)
_PROJECT: Final = Prepared(
    select(sessions.c.project_id).where(sessions.c.id == bindparam("session"), sessions.c.account_id == bindparam("account"))
)
_OF_IDS: Final = Prepared(select(*_COLUMNS).where(OneOf(budgets.c.id, "ids")).order_by(budgets.c.id).with_for_update())
_UPDATE: Final = Prepared(
    {
        # One statement for all budgets of a caller: each further one costs as much as what it writes.
        "sqlite": text(
            "UPDATE budgets SET window_start = json_extract(each.value, '$[0]'), "
            "spent = json_extract(each.value, '$[1]'), reserved = json_extract(each.value, '$[2]') "
            "FROM json_each(:changed) AS each WHERE budgets.id = each.key"
        ),
        "postgresql": text(
            "UPDATE budgets SET window_start = CAST(each.value ->> 0 AS bigint), spent = CAST(each.value ->> 1 AS bigint), "
            "reserved = CAST(each.value ->> 2 AS bigint) "
            "FROM jsonb_each(CAST(:changed AS jsonb)) AS each WHERE budgets.id = each.key"
        ),
    }
)
_RESERVE: Final = Prepared(
    insert(reservations).values(
        {
            **named(reservations, "id", "account_id", "owner", "held_json", "row_json"),
            "expires_at": DatabaseTime() + bindparam("lease", type_=BigInteger),
        }
    )
)
_TAKE: Final = Prepared(
    delete(reservations).where(OneOf(reservations.c.id, "ids")).returning(reservations.c.id, reservations.c.held_json)
)


_AT_ONCE: Final = Prepared(
    text(
        # One who locks a row gets it as it is at that moment, and not as it was when the statement began; and so does who
        # changes it. Sums of two columns may be more than a column holds.
        """
        WITH levels AS (
            SELECT id, amount, window_start, spent, reserved FROM budgets
            WHERE level = 'server' OR level = 'account' AND subject = :account OR level = 'key' AND subject = :key
                OR level = 'project' AND subject = :project
            ORDER BY id FOR UPDATE
        ), asked AS (
            SELECT levels.id, CAST(each.value ->> 0 AS bigint) AS more,
                coalesce(levels.window_start = CAST(each.value ->> 1 AS bigint) AND CAST(levels.spent AS numeric)
                    + levels.reserved + CAST(each.value ->> 0 AS bigint) <= levels.amount, false) AS fits
            FROM levels LEFT JOIN jsonb_each(CAST(:asked AS jsonb)) AS each ON each.key = levels.id
        ), room AS (
            SELECT coalesce(bool_and(fits), false) AS is_there FROM asked
        ), noted AS (
            INSERT INTO reservations (id, account_id, owner, expires_at, held_json, row_json)
            SELECT CAST(:id AS text), CAST(:owned_by AS text), CAST(:owner AS text),
                CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) + CAST(:lease AS bigint),
                CAST(:held AS text), CAST(:row AS text)
            FROM room WHERE is_there
        )
        UPDATE budgets SET reserved = budgets.reserved + asked.more FROM asked, room
        WHERE budgets.id = asked.id AND room.is_there
        RETURNING budgets.id, level, subject, unit, period, amount, window_start, spent, reserved
        """
    )
)


def _locked(db: Connection, principal: Principal, project: str | None) -> Iterable[Budget]:
    places = {"account": principal.account, "key": principal.key or "", "project": project or ""}
    return [Budget(*row) for row in _OF_CALLER.all(db, places)]


def project_of(db: Connection, account: str, session: str) -> str | None:
    """The project that a chat of an account is in; None for a chat that is not there any more."""
    row = _PROJECT.first(db, {"session": session, "account": account})
    return None if row is None else row[0]


def _book(db: Connection, taken: Mapping[str, Sequence[tuple[int, Amounts]]], now: int) -> None:
    """Free what was held, and book what was used."""
    if not taken:
        return
    changed = []
    for row in _OF_IDS.all(db, {"ids": texts(list(taken))}):
        budget = Budget(*row).at(now)
        held = sum(held for held, _ in taken[budget.id])
        used = sum(used[budget.unit] for _, used in taken[budget.id])
        changed.append(replace(budget, reserved=max(budget.reserved - held, 0), spent=budget.spent + used))
    _write(db, changed)


def _write(db: Connection, changed: Sequence[Budget]) -> None:
    if changed:
        values = {each.id: (each.window_start, min(each.spent, MOST), min(each.reserved, MOST)) for each in changed}
        _UPDATE.run(db, {"changed": dumps_text(values)})
