"""The calls of tools that turns made: what is kept of them whatever becomes of the turn, and how they are listed."""

import asyncio
from collections.abc import Mapping
from typing import Final

import pytest
from sqlalchemy import select

from agentui.chat.messages import ToolCall
from agentui.chats.parts import Content
from agentui.errors import AgentUIError, BadRequest
from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT, DEFAULT_PRINCIPAL
from agentui.store.tables import tool_executions
from agentui.tools.catalog import Catalog
from agentui.tools.errors import OutcomeUnknown
from agentui.tools.executor import Executor, Surroundings
from agentui.tools.permissions import Permissions
from agentui.tools.tool import CallPlace, HostedTool, SideEffect, ToolAnswer, ToolCallContext
from agentui.turns.recovery import recover
from agentui.turns.request import Outcome, TurnRequest
from agentui.turns.service import Turn
from tests.api.chats.conftest import Reader, postgres_reader, reader

__all__ = ["postgres_reader", "reader"]

ERROR: Final = {"code": "upstream_error", "message": "Gone."}
FAR: Final = 2**53 + 1


@pytest.fixture(params=["reader", "postgres_reader"])
def caller(request: pytest.FixtureRequest) -> Reader:
    """A caller of a fresh server on each engine."""
    found: Reader = request.getfixturevalue(request.param)
    return found


async def echo(arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
    """Says what it was given."""
    return ToolAnswer("ok", {"said": arguments})


async def broken(_: Mapping[str, Json], __: ToolCallContext) -> ToolAnswer:
    """Never works."""
    raise BadRequest("The door is shut.")


def tool(name: str, side_effect: SideEffect = "none", handler: Json = echo) -> HostedTool:
    return HostedTool(name, "A tool.", {"type": "object"}, handler, "test", side_effect=side_effect)


async def begun(caller: Reader, run_id: str = "run_1", session: str | None = None) -> Turn:
    """A turn under way."""
    session = session or await caller.session_id()
    return await caller.server.state.turns.begin(TurnRequest(DEFAULT_ACCOUNT, run_id, session, user=Content("Hi")))


def executor(turn: Turn, *tools: HostedTool, **permissions: Json) -> Executor:
    """What runs the calls of a turn's model."""
    place = turn.place
    where = CallPlace(
        DEFAULT_PRINCIPAL,
        place.run_id,
        place.session_id,
        place.branch_id,
        place.floor_id,
        place.floor.input_page_id,
        node_id="ask",
    )
    allowed = Permissions(enabled=True, allow_irreversible=True, **permissions)
    return Executor(Catalog.of(tools), allowed, where, Surroundings(listeners=(turn.calls,)))


async def listed(caller: Reader, path: str = "/tool-executions", **query: str) -> list[Json]:
    words = "&".join(f"{name}={value}" for name, value in query.items())
    answer = await caller.get(f"{path}?sort_order=asc&{words}")
    assert answer.status == 200, answer.text
    found: list[Json] = answer.body["data"]
    return found


async def test_the_calls_of_a_turn_are_kept_with_it(caller: Reader) -> None:
    turn = await begun(caller)
    tools = executor(turn, tool("echo"), tool("broken", handler=broken))
    for number, (name, arguments) in enumerate((("echo", '{"a":"ä\\u0000"}'), ("broken", "{}"), ("nobody", "{"))):
        await tools.execute(ToolCall(f"call_{number}", name, arguments), step=number + 1)
    run = turn.place.run_id
    assert await listed(caller, run_id=run) == []
    await turn.commit(Outcome(Content("Done.")))
    good, bad, unknown = await listed(caller, run_id=run)
    assert good | {"created_at": 0, "started_at": 0, "finished_at": 0, "duration_ms": 0, "policy": {}} == {
        "id": good["id"],
        "execution_id": good["id"],
        "run_id": run,
        "session_id": turn.place.session_id,
        "branch_id": "main",
        "floor_id": turn.place.floor_id,
        "page_id": turn.place.floor.input_page_id,
        "seq": 0,
        "caller_slot": "narrator",
        "provider_type": "builtin",
        "provider_id": "builtin",
        "tool_name": "echo",
        "args": {"a": "ä\0"},
        "result": {"said": {"a": "ä\0"}},
        "delivery_mode": "inline",
        "status": "success",
        "lifecycle_state": "finished",
        "commit_outcome": "committed",
        "side_effect_level": "none",
        "error_code": None,
        "error_message": None,
        "duration_ms": 0,
        "created_at": 0,
        "started_at": 0,
        "finished_at": 0,
        "attempt_no": 1,
        "replay_safety": "safe",
        "replay_reason": None,
        "runtime_job": None,
        "policy": {},
        "provenance": {"node_id": "ask", "call_id": "call_0"},
        "roundtrip": {"step": 1, "is_truncated": False},
    }
    assert (bad["status"], bad["error_code"]) == ("error", "bad_request") and "The door is shut." in bad["error_message"]
    assert (unknown["status"], unknown["provider_type"], unknown["args"]) == ("error", "unknown", "{")
    assert (await caller.get(f"/tool-executions/{good['id']}")).body == {"data": good}


async def test_the_calls_of_a_turn_that_failed_are_discarded(caller: Reader) -> None:
    turn = await begun(caller)
    tools = executor(turn, tool("echo"), tool("send", "irreversible"))
    await tools.execute(ToolCall("1", "echo", "{}"))
    await tools.execute(ToolCall("2", "send", "{}"))
    (durable,) = await listed(caller, floor_id=turn.place.floor_id)
    assert (durable["tool_name"], durable["status"], durable["commit_outcome"]) == ("send", "success", "pending")
    await turn.fail(ERROR)
    calls = await listed(caller, floor_id=turn.place.floor_id, sort_by="started_at")
    assert {call["tool_name"]: call["commit_outcome"] for call in calls} == {"echo": "discarded", "send": "discarded"}


async def test_words_that_are_kept_do_not_keep_the_calls(caller: Reader) -> None:
    turn = await begun(caller)
    await executor(turn, tool("echo")).execute(ToolCall("1", "echo", "{}"))
    await turn.fail(ERROR, cancelled=True, partial=Content("Once upon"))
    assert [call["commit_outcome"] for call in await listed(caller, floor_id=turn.place.floor_id)] == ["discarded"]


async def test_a_failed_edit_leaves_its_branch_where_a_call_cannot_be_undone(caller: Reader) -> None:
    first = await begun(caller)
    await first.commit(Outcome(Content("Done.")))
    session = first.place.session_id
    (message,) = (await caller.get(f"/messages?page_id={first.place.floor.input_page_id}")).body["data"]
    for branch, side_effect in (("seen", "none"), ("sent", "irreversible")):
        edit = TurnRequest(
            DEFAULT_ACCOUNT,
            f"run_{branch}",
            None,
            branch,
            "edit_and_regenerate",
            Content("Bye"),
            source_message_id=message["id"],
        )
        turn = await caller.server.state.turns.begin(edit)
        await executor(turn, tool("send", side_effect)).execute(ToolCall("1", "send", "{}"))
        await turn.fail(ERROR)
    calls = await listed(caller, session_id=session)
    assert [(call["branch_id"], call["commit_outcome"]) for call in calls] == [("sent", "discarded")]


async def test_an_attempt_that_was_given_up_discards_its_calls(caller: Reader) -> None:
    turn = await begun(caller)
    tools = executor(turn, tool("echo"))
    await tools.execute(ToolCall("1", "echo", "{}"))
    turn.begin_again()
    await tools.execute(ToolCall("2", "echo", "{}"))
    await turn.commit(Outcome(Content("Done.")))
    calls = await listed(caller, "/tools/call-records", floor_id=turn.place.floor_id, sort_by="seq")
    assert [call["seq"] for call in calls] == [0, 1]
    calls = await listed(caller, floor_id=turn.place.floor_id)
    assert sorted(call["commit_outcome"] for call in calls) == ["committed", "discarded"]


@pytest.mark.parametrize(("side_effect", "status", "outcome"), [
    ("irreversible", "uncertain", "uncertain"),
    ("none", "error", "discarded"),
])  # fmt: skip
async def test_a_call_whose_end_nobody_saw(caller: Reader, side_effect: SideEffect, status: str, outcome: str) -> None:
    """The turn is stopped while the tool runs."""
    turn = await begun(caller)
    runs = asyncio.Event()

    async def forever(_: Mapping[str, Json], __: ToolCallContext) -> ToolAnswer:
        runs.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody waits for this")

    calling = asyncio.ensure_future(
        executor(turn, tool("send", side_effect, forever)).execute(ToolCall("1", "send", '{"to": "all"}'))
    )
    await runs.wait()
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)
    await turn.fail(ERROR, cancelled=True)
    (call,) = await listed(caller, floor_id=turn.place.floor_id)
    assert (call["status"], call["lifecycle_state"], call["commit_outcome"]) == (status, "finished", outcome)
    assert call["args"] == {"to": "all"}


@pytest.mark.parametrize(("ends", "told"), [
    ("sent", ("success", "discarded", "confirm_on_replay")),
    ("unknown", ("uncertain", "uncertain", "uncertain")),
])  # fmt: skip
async def test_what_a_process_was_doing_that_is_taken_for_dead_is_uncertain_until_it_says_more(
    caller: Reader, ends: str, told: tuple[str, str, str]
) -> None:
    turn = await begun(caller)
    store = caller.server.state.store
    rows: list[Json] = []

    async def look(_: Mapping[str, Json], __: ToolCallContext) -> ToolAnswer:
        rows.extend(await store.read(lambda db: db.execute(select(tool_executions.c.status)).scalars().all()))
        assert await store.write(recover, "another process", FAR) == 1
        rows.extend(await store.read(lambda db: db.execute(select(tool_executions.c.status)).scalars().all()))
        if ends == "unknown":
            raise OutcomeUnknown("The connection broke off.")
        return ToolAnswer("sent")

    with pytest.raises(AgentUIError):
        await executor(turn, tool("send", "irreversible", look)).execute(ToolCall("1", "send", "{}"))
        await turn.commit(Outcome(Content("Too late.")))
    assert rows == ["running", "uncertain"]
    await turn.fail(ERROR)
    (call,) = await listed(caller, floor_id=turn.place.floor_id)
    assert (call["status"], call["commit_outcome"], call["replay_safety"]) == told


async def test_lists_are_of_a_place_and_of_what_is_asked_for(caller: Reader) -> None:
    session = await caller.session_id()
    for number in range(2):
        turn = await begun(caller, f"run_{number}", session)
        tools = executor(turn, tool("echo"), tool("look"), slot_deny_list={"narrator": frozenset({"look"})})
        await tools.execute_all([ToolCall("1", "echo", "{}"), ToolCall("2", "look", "{}")])
        await turn.commit(Outcome(Content("Done.")))
    assert len(await listed(caller, session_id=session)) == 4
    assert len(await listed(caller, session_id=session, limit="1", offset="3")) == 1
    assert [call["tool_name"] for call in await listed(caller, session_id=session, status="denied")] == ["look", "look"]
    assert len(await listed(caller, run_id="run_1", tool_name="echo", commit_outcome="committed")) == 1
    assert await listed(caller, session_id=session, caller_slot="director") == []
    assert await listed(caller, session_id=session, provider_type="mcp") == []
    page = turn.place.floor.input_page_id
    assert [call["tool_name"] for call in await listed(caller, "/tools/call-records", page_id=page, sort_by="seq")] == [
        "echo",
        "look",
    ]
    assert len(await listed(caller, "/tools/call-records", status="success")) == 2
    for path in ("/tool-executions", "/tool-executions?session_id=", f"/tool-executions?session_id={session}&status=odd"):
        answer = await caller.get(path)
        assert (answer.status, answer.body["error"]["code"]) == (400, "validation_error")
    assert (await caller.get("/tool-executions/none")).status == 404
    floor = f"/floors/{turn.place.floor_id}/tool-executions"
    assert await listed(caller, floor) == await listed(caller, floor_id=turn.place.floor_id)
    assert {call["tool_name"] for call in await listed(caller, floor, tool_name="echo")} == {"echo"}
    assert (await caller.get("/floors/none/tool-executions")).code == "floor_not_found"


async def test_the_calls_go_with_their_session(caller: Reader) -> None:
    turn = await begun(caller)
    await executor(turn, tool("echo")).execute(ToolCall("1", "echo", "{}"))
    await turn.commit(Outcome(Content("Done.")))
    assert (await caller.delete(f"/sessions/{turn.place.session_id}")).status == 200
    assert await listed(caller, run_id=turn.place.run_id) == []
