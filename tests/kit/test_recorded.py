"""The helpers on what a server answers: a streamed turn with a tool, and everything that is read of it afterwards."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentui.jsonio import loads
from agentui.sdk import AsyncTavernClient, StreamFailed
from agentui.sdk.events import EventParser
from agentui.sdk.helpers import (
    RespondStreamState,
    build_timeline_messages,
    create_initial_respond_stream_state,
    flatten_page_staged_variable_writes,
    flatten_variable_snapshot,
    get_active_page,
    group_tool_events_by_execution,
    group_variable_promotion_trace,
    map_api_error_to_ui_state,
    reduce_respond_stream,
    resolve_usage,
    sort_variable_inspector_rows,
    summarize_runtime_tool_catalog,
)
from agentui.sdk.shapes import StateWriteForm
from tests.conftest import Server
from tests.kit.pairs import HERE

Json = Any


async def test_the_helpers_read_what_the_server_answers(kit_server: Server) -> None:
    async with AsyncTavernClient(kit_server.origin) as client:
        session = (await client.sessions.create(title="Campfire"))["id"]
        await client.tools.put_permissions(session, enabled=True)
        events: list[Json] = []
        state = create_initial_respond_stream_state()
        said = "Call set_variable"
        async for event in client.sessions.respond_stream(session, message=said, config={"enableTools": True}):
            events.append(event)
            state = reduce_respond_stream(state, event)
        assert {event["type"] for event in events} == {"start", "run", "chunk", "tool", "done"}
        done = events[-1]["payload"]
        assert state.result is not None
        assert (state.status, state.content) == ("done", done["generated_text"])
        assert state.result["total_tokens"] == resolve_usage(done["total_usage"])["total_tokens"] > 0
        assert (state.active_tools, state.warnings) == ({}, [])
        (call,) = group_tool_events_by_execution(state.tool_events)
        assert (call["tool_name"], call["phases"], call["is_terminal"]) == ("set_variable", ["start", "success"], True)

        floors = (await client.sessions.get_timeline(session))["data"]["floors"]
        assert [(view["role"], view["content"]) for view in build_timeline_messages(floors)] == [
            ("user", said),
            ("assistant", done["generated_text"]),
        ]
        page = get_active_page(floors[0])
        assert page is not None
        assert page["page_kind"] == "output"
        page_id = str(page["id"])
        (staged,) = flatten_page_staged_variable_writes(await client.variables.get_page_staged_writes(page_id))
        assert (staged["key"], staged["preview"], staged["status"]) == ("demo", '"demo"', "promoted")
        (group,) = group_variable_promotion_trace(await client.variables.get_page_promotions(page_id))
        assert (group["key"], group["items"][0]["to_scope"]) == ("demo", "floor")
        await client.variables.put(scope="global", scope_id="global", key="demo", value=[1])
        snapshot = await client.variables.resolve_context(session_id=session, page_id=page_id, include_layers=True)
        (row,) = sort_variable_inspector_rows(flatten_variable_snapshot(snapshot))
        assert [(layer["scope"], layer["is_winning"], layer["preview"]) for layer in row["layers"]] == [
            ("page", True, '"demo"'),
            ("floor", False, '"demo"'),
            ("global", False, "[Array(1)]"),
        ]
        summary = summarize_runtime_tool_catalog(await client.sessions.get_runtime_tool_catalog(session))
        assert summary["available_tools"] + summary["unavailable_tools"] == summary["total_tools"] > summary["safe_tools"] > 0
        await client.sessions.update(session, status="archived")
        try:
            await client.sessions.respond_stream(session, message="On").result()
        except StreamFailed as failed:
            failure = reduce_respond_stream(create_initial_respond_stream_state(), failed.event)
            assert (failure.status, failure.error and failure.error["code"]) == ("error", "session_archived")
            assert map_api_error_to_ui_state(failed)["code"] == "session_archived"


async def test_the_examples_of_the_kits_page_in_python(kit_server: Server) -> None:
    async with AsyncTavernClient(kit_server.origin, account_id="account-1") as client:
        user = await client.users.create(snapshot={"name": "Bo"})
        session = (await client.sessions.create(title="Campfire", user_id=user["id"]))["id"]
        policy = await client.prompt_runtime.patch_policy(
            session,
            budget={"max_input_tokens": 4096, "reserved_completion_tokens": 1024},
            source_selection={"history": {"mode": "windowed", "max_messages": 24}, "examples": {"enabled": False}},
        )
        envelope = policy["persistent_policy_envelope"]
        assert envelope is not None
        assert (envelope["version"], envelope["value"]["budget"]["max_input_tokens"]) == (1, 4096)
        await client.session_state.register_namespace(
            session, namespace="quest_flags", logical_owner_type="application", logical_owner_id="my-app"
        )
        written: list[StateWriteForm] = [{"namespace": "quest_flags", "slot": "companion", "value": {"mood": "ally"}}]
        inspected = await client.prompt_runtime.inspect(
            session,
            message="Please continue the campfire scene.",
            branch_id="alt-branch",
            prompt_intent="continue",
            generation_params={"max_output_tokens": 256, "temperature": 0.7},
            session_state_writes=written,
        )
        turn = inspected["prepared_turn"]
        assert "Please continue the campfire scene." in [message["content"] for message in turn["messages"]]
        assert turn["prompt_snapshot"]["prompt_digest"]
        assert {"memory", "budgets"} <= turn["runtime_trace"].keys()
        assert turn["session_state_writes"]["total"] == len(written)
        assert {"entries", "mismatches"} <= inspected["governance"].keys()
        left, right = [
            (await client.sessions.respond(session, message=text, session_state_writes=writes))["floor_id"]
            for text, writes in (("By the fire.", written), ("And rain.", []))
        ]
        explained = await client.prompt_runtime.get_floor_explain(left)
        assert (explained["snapshot_available"], explained["floor"]["id"]) == (True, left)
        compared = await client.prompt_runtime.compare(session, left_floor_id=left, right_floor_id=right)
        assert (compared["left"]["floor_id"], compared["right"]["floor_id"]) == (left, right)
        preview = await client.prompt_runtime.preview_text(
            session,
            branch_id="main",
            text="{{setvar::资产.金币::3}}{{getvar::资产}}",
            visibility={"mode": "allow_all_except_hidden", "hidden_floor_ranges": [{"start_floor_no": 1, "end_floor_no": 2}]},
        )
        trace = preview["runtime_trace"]
        assert (preview["text"], trace["macro"]["staged_mutations"]) == ('{"金币":"3"}', [])
        assert trace["macro"]["mutation_preview"] and trace["visibility"]["filtered_floor_nos"] == [1]
        assert trace["source_selection"]["excluded_sources"]
        assert {"runtime_mode", "scope_resolution"} <= preview["memory"].keys()
        [slot] = await client.session_state.resolve(session, branch_id="main", namespace="quest_flags", slot="companion")
        assert slot["value"] == {"mood": "ally"}
        [change] = await client.session_state.diff(session, floor_id=left, against=f"floor:{right}", namespace="quest_flags")
        assert change["change_type"] == "unchanged"


STREAM = (HERE / "turn.sse").read_bytes()
"""A turn with a tool, as a server of this project streamed it."""


def heard(chunks: list[bytes]) -> list[Json]:
    parser = EventParser()
    return [raw.as_event() for chunk in chunks for raw in parser.feed(chunk)]


def reduced(events: list[Json]) -> RespondStreamState:
    state = create_initial_respond_stream_state()
    for event in events:
        state = reduce_respond_stream(state, event)
    return state


@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_however_a_recorded_stream_is_cut_it_comes_to_its_result(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    events = heard([STREAM[first:last] for first, last in pairwise(places)])
    state = reduced(events)
    done = loads(STREAM.split(b"event: done\ndata: ")[1].split(b"\n")[0])
    assert state.result is not None
    assert state.result["generated_text"] == state.content == done["generated_text"]
    assert state.result["summaries"] == done["summaries"]


@given(st.integers(0, len(STREAM)))
def test_every_prefix_of_a_recorded_stream_is_a_turn_under_way(length: int) -> None:
    whole = heard([STREAM])
    events = heard([STREAM[:length]])
    assert events == whole[: len(events)]
    state = reduced(events)
    assert state.status in ("idle", "streaming", "done")
    assert len(state.tool_events) <= 2
