"""The rows of defined tools. Every function is a transaction, or part of one."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from agentui.chats.codes import failure
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import AnyRow
from agentui.definitions.records import Definition, DefinitionSource, HandlerType, HttpHandler, PipelineHandler
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.store.tables import tool_definitions

MAX_DEFINITIONS = 200
"""Most tools that one account may define."""

_HANDLERS: Mapping[HandlerType, type[HttpHandler | PipelineHandler]] = {"http": HttpHandler, "pipeline": PipelineHandler}
_TOLD = ("description", "parameters", "side_effect_level", "allowed_slots")


@dataclass(frozen=True, slots=True)
class DefinitionFilter:
    """Which definitions are meant; None for any."""

    source: DefinitionSource | None = None
    source_id: str | None = None
    enabled: bool | None = None


def create_definition(db: Connection, account: str, fields: Mapping[str, Any], now: int) -> Definition:
    """Define a tool by the fields of ``Definition``. Raises 409 ``tool_definition_conflict`` for a second one of a name, or one
    too many."""
    count = db.execute(select(func.count()).where(tool_definitions.c.account_id == account)).scalar_one()
    if count >= MAX_DEFINITIONS:
        raise failure("tool_definition_conflict", f"There are {MAX_DEFINITIONS} defined tools already: delete one first.")
    id = new_short_id()
    values = {"id": id, "account_id": account, "created_at": now, "updated_at": now, **_columns(fields)}
    try:
        with db.begin_nested():
            db.execute(insert(tool_definitions).values(values))
    except IntegrityError as error:
        raise _taken(fields["name"]) from error
    return find_definition(db, account, id)


def find_definition(db: Connection, account: str, id: str) -> Definition:
    """A definition. Raises 404 ``tool_definition_not_found``."""
    query = select(tool_definitions).where(tool_definitions.c.account_id == account, tool_definitions.c.id == id)
    row = db.execute(query).first()
    if row is None:
        raise failure("tool_definition_not_found", "There is no such defined tool.")
    return _definition_of(row)


def list_definitions(db: Connection, account: str, paging: Paging, wanted: DefinitionFilter) -> Listed[Definition]:
    """A part of the definitions."""
    query = select(tool_definitions).where(tool_definitions.c.account_id == account)
    for name, value in asdict(wanted).items():
        if value is not None:
            query = query.where(tool_definitions.c[name] == value)
    listed = list_rows(db, query, paging, tool_definitions.c[paging.sort_by], tool_definitions.c.id)
    return Listed([_definition_of(row) for row in listed.items], listed.total)


def enabled_definitions(db: Connection, account: str) -> list[Definition]:
    """Every definition that is on, by name."""
    query = select(tool_definitions).where(tool_definitions.c.account_id == account, tool_definitions.c.enabled)
    return [_definition_of(row) for row in db.execute(query.order_by(tool_definitions.c.name))]


def change_definition(db: Connection, account: str, id: str, fields: Mapping[str, Any], now: int) -> Definition:
    """Define a tool anew by all fields of ``Definition``. Raises 404, and 409 ``tool_definition_conflict`` for a name that
    another has."""
    find_definition(db, account, id)
    try:
        with db.begin_nested():
            values = {"updated_at": now, **_columns(fields)}
            db.execute(update(tool_definitions).where(tool_definitions.c.id == id).values(values))
    except IntegrityError as error:
        raise _taken(fields["name"]) from error
    return find_definition(db, account, id)


def enable_definition(db: Connection, account: str, id: str, now: int, *, enabled: bool) -> Definition:
    """Offer a tool, or do not. Raises 404."""
    find_definition(db, account, id)
    db.execute(update(tool_definitions).where(tool_definitions.c.id == id).values(enabled=enabled, updated_at=now))
    return find_definition(db, account, id)


def delete_definition(db: Connection, account: str, id: str) -> None:
    """Forget a definition. Raises 404."""
    find_definition(db, account, id)
    db.execute(delete(tool_definitions).where(tool_definitions.c.id == id))


def _taken(name: str) -> Exception:
    return failure("tool_definition_conflict", f"There is a defined tool named {name} already.", name=name)


def _columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    columns = {name: fields[name] for name in ("name", "source", "source_id", "enabled", "handler_type")}
    told = {name: fields[name] for name in _TOLD}
    return {**columns, "told": dumps_text(told), "handler": dumps_text(asdict(fields["handler"]))}


def _definition_of(row: AnyRow) -> Definition:
    told: dict[str, Json] = loads(row.told)
    handler: dict[str, Any] = loads(row.handler)
    return Definition(
        id=row.id,
        name=row.name,
        **told,
        source=row.source,
        source_id=row.source_id,
        enabled=row.enabled,
        handler_type=row.handler_type,
        handler=_HANDLERS[row.handler_type](**handler),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
