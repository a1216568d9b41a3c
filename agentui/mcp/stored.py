"""The rows of MCP servers. Every function is a transaction, or part of one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from agentui.chats.codes import failure
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import AnyRow
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.mcp.records import Endpoint, McpServer, Program, Settings, Source, ToolDefinition, ToolOverride, Transport
from agentui.store.tables import mcp_servers
from agentui.tools.vars.rules import SkillRule

MAX_SERVERS = 100
"""Most servers of one account."""


def create_server(
    db: Connection,
    account: str,
    name: str,
    reached: Program | Endpoint,
    settings: Settings,
    now: int,
    *,
    enabled: bool = True,
    source: Source = "api",
) -> McpServer:
    """Configure a server. Raises 409 ``mcp_server_conflict`` for a second one of a name, or one too many."""
    count = db.execute(select(func.count()).where(mcp_servers.c.account_id == account)).scalar_one()
    if count >= MAX_SERVERS:
        raise failure("mcp_server_conflict", f"There are {MAX_SERVERS} MCP servers already: delete one first.")
    id = new_short_id()
    values: dict[str, Any] = {
        "id": id,
        "account_id": account,
        "name": name,
        "source": source,
        "enabled": enabled,
        "approved": None,
        "created_at": now,
        "updated_at": now,
        **_columns(reached, settings),
    }
    try:
        with db.begin_nested():
            db.execute(insert(mcp_servers).values(values))
    except IntegrityError as error:
        raise failure("mcp_server_conflict", f"There is an MCP server named {name} already.", name=name) from error
    return find_server(db, account, id)


def find_server(db: Connection, account: str, id: str) -> McpServer:
    """A server. Raises 404 ``mcp_server_not_found``."""
    row = db.execute(select(mcp_servers).where(mcp_servers.c.account_id == account, mcp_servers.c.id == id)).first()
    if row is None:
        raise failure("mcp_server_not_found", "There is no such MCP server.")
    return _server_of(row)


def list_servers(db: Connection, account: str, paging: Paging, enabled: bool | None) -> Listed[McpServer]:
    """A part of the servers; ``enabled`` is which of them, None for all."""
    query = select(mcp_servers).where(mcp_servers.c.account_id == account)
    if enabled is not None:
        query = query.where(mcp_servers.c.enabled == enabled)
    listed = list_rows(db, query, paging, mcp_servers.c[paging.sort_by], mcp_servers.c.id)
    return Listed([_server_of(row) for row in listed.items], listed.total)


def all_servers(db: Connection, account: str) -> list[McpServer]:
    """Every server, by name."""
    query = select(mcp_servers).where(mcp_servers.c.account_id == account).order_by(mcp_servers.c.name)
    return [_server_of(row) for row in db.execute(query)]


def usable_servers(db: Connection, account: str) -> list[McpServer]:
    """Every server whose tools an account may be offered, by name: its own, and the operator's that are for all accounts."""
    query = select(mcp_servers).where(or_(mcp_servers.c.account_id == account, *_FOR_ALL)).order_by(mcp_servers.c.name)
    return [server for row in db.execute(query) if _may_use(account, server := _server_of(row))]


def find_usable(db: Connection, account: str, id: str) -> McpServer:
    """One of these. Raises 404 ``mcp_server_not_found``."""
    query = select(mcp_servers).where(or_(mcp_servers.c.account_id == account, *_FOR_ALL), mcp_servers.c.id == id)
    row = db.execute(query).first()
    if row is None or not _may_use(account, server := _server_of(row)):
        raise failure("mcp_server_not_found", "There is no such MCP server.")
    return server


_FOR_ALL = (mcp_servers.c.source == "file",)
"""Which rows of other accounts may be for all: those of the operator's file, where it says so."""


def _may_use(account: str, server: McpServer) -> bool:
    return server.account == account or (server.source == "file" and server.settings.for_all_accounts)


def change_server(
    db: Connection,
    account: str,
    id: str,
    now: int,
    *,
    name: str,
    reached: Program | Endpoint,
    settings: Settings,
) -> McpServer:
    """Configure a server anew. One that is reached otherwise than before has no approved tools, and none are approved before
    somebody connects to it; the operator's file is somebody's word that its first connection may. Raises 404, and 409
    ``mcp_server_conflict`` for a name that another has."""
    before = find_server(db, account, id)
    values: dict[str, Any] = {"name": name, "updated_at": now, **_columns(reached, settings)}
    if reached != (before.stdio or before.http):
        values["approved"] = None if before.source == "file" else "[]"
    try:
        with db.begin_nested():
            db.execute(update(mcp_servers).where(mcp_servers.c.id == id).values(values))
    except IntegrityError as error:
        raise failure("mcp_server_conflict", f"There is an MCP server named {name} already.", name=name) from error
    return find_server(db, account, id)


def enable_server(db: Connection, account: str, id: str, now: int, *, enabled: bool) -> McpServer:
    """Switch a server on or off. Raises 404."""
    find_server(db, account, id)
    db.execute(update(mcp_servers).where(mcp_servers.c.id == id).values(enabled=enabled, updated_at=now))
    return find_server(db, account, id)


def approve_tools(db: Connection, account: str, id: str, tools: Sequence[ToolDefinition], *, only_first: bool) -> McpServer:
    """Offer these tools from now on, as they are; with ``only_first`` only where none were approved yet. Raises 404."""
    server = find_server(db, account, id)
    if not only_first or server.approved is None:
        text = dumps_text([asdict(tool) for tool in tools])
        db.execute(update(mcp_servers).where(mcp_servers.c.id == id).values(approved=text))
    return find_server(db, account, id)


def delete_server(db: Connection, account: str, id: str) -> None:
    """Forget a server. Raises 404."""
    find_server(db, account, id)
    db.execute(delete(mcp_servers).where(mcp_servers.c.id == id))


def keep_file_servers(
    db: Connection, account: str, configured: Mapping[str, tuple[Program | Endpoint, Settings, bool]], now: int
) -> None:
    """Make the servers of the operator's file what the file says; those that it no longer names are forgotten. A name that
    the API took first stays the API's."""
    present = {server.name: server for server in all_servers(db, account)}
    for name, server in present.items():
        if server.source == "file" and name not in configured:
            delete_server(db, account, server.id)
    for name, (reached, settings, enabled) in configured.items():
        known = present.get(name)
        if known is None:
            create_server(db, account, name, reached, settings, now, enabled=enabled, source="file")
            continue
        is_other = (known.stdio or known.http, known.settings, known.enabled) != (reached, settings, enabled)
        if known.source == "file" and is_other:
            change_server(db, account, known.id, now, name=name, reached=reached, settings=settings)
            enable_server(db, account, known.id, now, enabled=enabled)


def _columns(reached: Program | Endpoint, settings: Settings) -> dict[str, Any]:
    transport: Transport = "stdio" if isinstance(reached, Program) else "http"
    return {"transport": transport, "reached": dumps_text(asdict(reached)), "settings": dumps_text(asdict(settings))}


def _server_of(row: AnyRow) -> McpServer:
    reached: dict[str, Any] = loads(row.reached)
    settings: dict[str, Any] = loads(row.settings)
    overrides = tuple(ToolOverride(**override) for override in settings.pop("metadata_overrides"))
    rules = tuple(SkillRule(**rule) for rule in settings.pop("skill_rules", ()))
    approved: list[dict[str, Json]] | None = None if row.approved is None else loads(row.approved)
    return McpServer(
        id=row.id,
        account=row.account_id,
        name=row.name,
        source=row.source,
        transport=row.transport,
        stdio=Program(**reached) if row.transport == "stdio" else None,
        http=Endpoint(**reached) if row.transport == "http" else None,
        settings=Settings(**settings, metadata_overrides=overrides, skill_rules=rules),
        enabled=row.enabled,
        approved=None if approved is None else tuple(ToolDefinition(**tool) for tool in approved),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
