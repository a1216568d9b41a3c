"""What a process keeps in memory is kept for an account, and statements name it."""

import importlib
import pkgutil
import sys
from dataclasses import replace

import pytest
from sqlalchemy.dialects import sqlite

import agentui
from agentui.api.keys import MCP, SERVICES
from agentui.jsonio import dumps
from agentui.pipeline.caches.thought_cache import conversation_of
from agentui.principal import DEFAULT_ACCOUNT, Principal
from agentui.store.prepared import Prepared
from agentui.tools.tool import CallPlace, HostedTool, ToolCallContext
from tests.accounts.conftest import ALICE, StartTeam, bearer
from tests.api.editor_client import say
from tests.conftest import Server, StartServer
from tests.isolation.estate import OWNED
from tests.mcp.conftest import Says, says
from tests.unit.pipeline.parts import make_incoming
from tests.upstreams.server import Mock

__all__ = ["says"]

KEY = "the-key-of-the-server-0123"
BOB = Principal("bob", "user", may_edit=False)

BY_WHAT_WAS_FOUND = {
    "agentui.accounts.clients._BY_HASH",  # finds out whose key it is
    "agentui.chats.projects._PROJECT_OF",
    # Budgets of the server are everybody's; an account's and a key's are found by whose they are.
    "agentui.usage.budgets._AT_ONCE", "agentui.usage.budgets._OF_CALLER", "agentui.usage.budgets._OF_IDS",
    "agentui.usage.budgets._TAKE", "agentui.usage.budgets._UPDATE",
    "agentui.chats.questions._ANSWERED_UNASKED", "agentui.chats.questions._ASKED", "agentui.chats.questions._QUESTION_PAGE",
    "agentui.chats.rows._TOUCH_BRANCH", "agentui.chats.rows._TOUCH_BRANCH_ABOVE", "agentui.chats.rows._TOUCH_SESSION",
    "agentui.chats.rows._TOUCH_SESSION_ABOVE", "agentui.chats.rows._RESHAPE", "agentui.chats.rows._RESHAPE_ABOVE",
    "agentui.chats.state.heads._FORGET_HEADS",
    "agentui.chats.state.heads._FORGET_SNAPSHOT", "agentui.chats.state.heads._HEADS", "agentui.chats.state.heads._MARK",
    "agentui.chats.state.heads._SNAPSHOT", "agentui.chats.state.heads._WRITTEN_BY", "agentui.chats.text_index._NOTE",
    "agentui.chats.timeline._MESSAGES", "agentui.chats.timeline._PAGES", "agentui.chats.versions._ACTIVE_OUTPUT",
    "agentui.chats.versions._JOURNALED", "agentui.chats.working.checkpoints._FORGET", "agentui.chats.working.journal._BEHIND",
    "agentui.turns.ending._LET_LIVE", "agentui.turns.ending._SPEND", "agentui.turns.history._PARTIAL",
    "agentui.turns.locks._RENEW", "agentui.turns.transactions._END_RUN", "agentui.turns.transactions._SET_ASIDE",
}  # fmt: skip
"""Prepared statements that go by the id of a session or a floor which their transaction has found in the account."""


def test_prepared_statements_name_the_account_or_go_by_what_was_found_in_it() -> None:
    for module in pkgutil.walk_packages(agentui.__path__, "agentui."):
        if ".migrations" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    named = {
        f"{module.__name__}.{name}": value
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("agentui")
        for name, value in vars(module).items()
        if isinstance(value, Prepared)
    }
    assert len(named) > 90
    tables = {table.name for table in OWNED}
    nameless = set()
    for name, prepared in named.items():
        words = str(prepared._of("sqlite").compile(dialect=sqlite.dialect()))  # type: ignore[attr-defined]  # every statement can
        is_owned = any(f"{table}." in words or f" {table} " in words for table in tables)
        if is_owned and not words.startswith("INSERT") and "account_id = " not in words.partition("WHERE")[2]:
            nameless.add(name)
    assert nameless == BY_WHAT_WAS_FOUND


def test_a_conversation_is_an_accounts() -> None:
    incoming = make_incoming()
    assert conversation_of("alice", incoming) == conversation_of("alice", incoming) != conversation_of("bob", incoming)


@pytest.mark.parametrize("for_all", [False, True])
async def test_the_operators_mcp_server_is_for_others_where_the_file_says_so(
    start_server: StartServer, says: Says, for_all: bool
) -> None:
    server: Server = await start_server({"default": say()})
    server.data.mkdir(exist_ok=True)
    own = {**says.stdio, "tool_prefix": "own_", "for_all_accounts": for_all}
    (server.data / "mcp.json").write_bytes(dumps({"mcpServers": {"own": own}}))
    servers = server.app[MCP]
    servers.start()
    [status] = await servers.statuses(DEFAULT_ACCOUNT)
    await servers.connect(DEFAULT_ACCOUNT, status.server_id)
    assert "own_greet" in {tool.name for tool in await servers.tools(DEFAULT_ACCOUNT, ())}
    assert await servers.statuses("bob") == [], "its configuration is the operator's"
    tools: dict[str, HostedTool] = {tool.name: tool for tool in await server.app[SERVICES].tools.catalog("bob")}
    assert ("own_greet" in tools) is for_all
    if not for_all:
        return
    context = ToolCallContext("execution", CallPlace(BOB, "run"), 1e9)
    assert not (await tools["own_greet"].handler({"name": "Bob"}, context)).is_error
    kept = servers._links
    assert {account for account, _ in kept} == {DEFAULT_ACCOUNT, "bob"}
    assert len({id(link.connection) for link in kept.values()}) == 2, "a program is started for each account"
    await servers.disconnect(DEFAULT_ACCOUNT, status.server_id)
    again = await tools["own_greet"].handler({"name": "Bob"}, replace(context, execution_id="again"))
    assert not again.is_error


async def test_tools_and_mcp_servers_of_others_get_none_of_the_servers_keys(start_team: StartTeam, mock: Mock) -> None:
    team = await start_team(secret_env={"AGENTUI_SECRET_PARTS": KEY, "AGENTUI_SECRET_PARTS_ORIGINS": mock.origin})
    await team.account("alice")
    alice = team.person(**bearer(ALICE))
    handler = {"method": "GET", "url": f"{mock.origin}/v1/models", "headers": {"authorization": "Bearer [[SECRET:parts]]"}}
    tool = {"name": "look", "description": "", "parameters": {}, "handler_type": "http", "handler": handler, "source": "custom"}
    server = {"name": "x", "transport": "http", "http": {"url": f"{mock.origin}/mcp", "headers": {"x-key": "[[SECRET:parts]]"}}}
    for person, is_given in ((alice, False), (team.operator, True)):
        before = len(mock.requests)
        id = (await person.made("/tools/definitions", **tool))["data"]["id"]
        tried = await person.post(f"/tools/definitions/{id}/test", {"arguments": {}})
        assert tried.status == 200, tried.text
        assert ("keys of this server" in tried.text) is not is_given
        id = (await person.made("/mcp/servers", **server))["data"]["id"]
        connected = await person.post(f"/mcp/servers/{id}/connect", {})
        assert (connected.code == "forbidden") is not is_given, connected.text
        assert (len(mock.requests) > before) is is_given
        assert KEY not in tried.text + connected.text
