"""The helpers give what their table promises, for whole answers and for answers that lack things."""

import json
import subprocess
import sys
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.sdk import AsyncTavernClient, TavernApiError, TavernClient, TavernTimeout, helpers
from agentui.sdk.helpers import (
    RespondStreamState,
    build_application_owner,
    build_plugin_owner,
    build_timeline_messages,
    create_initial_respond_stream_state,
    flatten_page_staged_variable_writes,
    flatten_variable_snapshot,
    format_variable_preview,
    get_active_page,
    get_display_page,
    group_items_by_collection,
    group_tool_events_by_execution,
    group_variable_promotion_trace,
    map_api_error_to_ui_state,
    organize_collection_items,
    reduce_respond_stream,
    resolve_item_by_path,
    resolve_usage,
    sort_variable_inspector_rows,
    summarize_runtime_tool_catalog,
    to_client_data_map,
)
from tests.conftest import ROOT

Json = Any

# --- usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"prompt_tokens": 12, "completion_tokens": 8}, (12, 8, 20)),
        ({"input_tokens": 3, "output_tokens": 2, "total_tokens": 99}, (3, 2, 99)),
        ({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}, (10, 5, 15)),
        ({"prompt_tokens": 1, "input_tokens": 2}, (2, 0, 2)),
        ({"prompt_tokens": "many", "completion_tokens": True}, (0, 0, 0)),
        ({}, (0, 0, 0)),
        (None, (0, 0, 0)),
    ],
)
def test_usage_has_one_shape_in_every_spelling(said: Json, expected: tuple[int, int, int]) -> None:
    usage = resolve_usage(said)
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == expected
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == expected[:2]


# --- pages and timelines ---------------------------------------------------------------------------------------------


def test_the_active_page_is_the_kept_one() -> None:
    active, first, second = {"id": "active"}, {"id": "page-1"}, {"id": "page-2"}
    assert get_active_page({"active_page": active, "pages": [first]}) is active
    assert get_active_page({"pages": [first, second]}) is first
    question, old, new = {"is_active": True}, {"is_active": False}, {"is_active": True, "version": 2}
    assert get_active_page({"active_page": None, "pages": [question, old, new]}) is new
    for empty in ({"pages": []}, {"pages": None}, {"pages": [None]}, {}):
        assert get_active_page(empty) is None


def test_what_is_pending_is_shown_first() -> None:
    pending, active = {"text": "draft"}, {"id": "page-1"}
    assert get_display_page({"pending_output": pending, "active_page": active}) is pending
    assert get_display_page({"pending_output": None, "active_page": active}) is active
    assert get_display_page({"pages": [active]}) is active
    assert get_display_page({}) is None


def floor(**fields: Json) -> Json:
    plain = {"id": "floor-1", "floor_no": 1, "state": "committed", "created_at": 100, "token_in": 5, "token_out": 7}
    return {**plain, "active_pages": [], "active_page": None, "pages": [], **fields}


def test_a_timeline_is_the_messages_of_the_active_pages() -> None:
    hello = {"id": "msg-1", "seq": 1, "role": "assistant", "content": "hello", "content_format": "markdown"}
    expected = {
        "at": 100, "content": "hello", "content_format": "markdown", "floor_id": "floor-1", "floor_no": 1,
        "floor_state": "committed", "id": "msg-1", "page_id": "page-1", "role": "assistant", "seq": 1, "token_in": 5,
        "token_out": 7,
    }  # fmt: skip
    page = {"id": "page-1", "messages": [hello]}
    assert build_timeline_messages([floor(active_page=page)]) == [expected]
    asked = {"id": "page-0", "messages": [{**hello, "id": "msg-0", "role": "user"}]}
    both = build_timeline_messages([floor(active_pages=[asked, page], pages=[page])])
    assert [(view["role"], view["page_id"]) for view in both] == [("user", "page-0"), ("assistant", "page-1")]


def test_a_timeline_leaves_out_other_roles_and_takes_unknown_formats_for_text() -> None:
    said = [
        {"id": "1", "seq": 1, "role": "tool", "content": "skip me", "content_format": "markdown"},
        {"id": "2", "seq": 2, "role": "user", "content": "plain", "content_format": "html"},
        {"id": "3", "seq": 3, "role": "system", "content": '{"ok":true}', "content_format": "json"},
        "no message",
    ]
    views = build_timeline_messages([floor(), floor(active_page={"id": "page-2", "messages": said})])
    assert [(view["id"], view["content_format"]) for view in views] == [("2", "text"), ("3", "json")]


# --- variables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "preview"),
    [
        ("Museum", '"Museum"'),
        ("银币", '"银币"'),
        (85, "85"),
        (True, "true"),
        (None, "null"),
        ([1, 2, 3], "[Array(3)]"),
        ({"atk": 3}, '{"atk":3}'),
    ],
)
def test_a_value_is_shown_in_one_line(value: Json, preview: str) -> None:
    assert format_variable_preview(value) == preview


SEED = {
    "context": {"account_id": "default-admin", "session_id": "session-a", "branch_id": "alt-1", "global_scope_id": "global"},
    "resolved": [
        {
            "key": "route",
            "value": "campfire",
            "source_scope": "branch",
            "source_scope_id": "branch:session-a:alt-1",
            "source_scope_ref": {"session_id": "session-a", "branch_id": "alt-1"},
            "updated_at": 1735689720100,
        }
    ],
    "layers": {
        "branch": {
            "scope": "branch",
            "scope_id": "branch:session-a:alt-1",
            "scope_ref": {"session_id": "session-a", "branch_id": "alt-1"},
            "items": [
                {
                    "id": "var_branch_route",
                    "scope": "branch",
                    "scope_id": "branch:session-a:alt-1",
                    "key": "route",
                    "value": "campfire",
                    "updated_at": 1735689720100,
                }
            ],
        }
    },
}
"""The example of seed 000."""


def test_the_seeds_snapshot_is_one_row_with_one_layer() -> None:
    (row,) = flatten_variable_snapshot(SEED)
    ref = {"session_id": "session-a", "branch_id": "alt-1"}
    layer = {
        "scope": "branch", "scope_id": "branch:session-a:alt-1", "scope_ref": ref, "value": "campfire",
        "preview": '"campfire"', "updated_at": 1735689720100, "is_winning": True,
    }  # fmt: skip
    assert row == {
        "key": "route", "value": "campfire", "preview": '"campfire"', "source_scope": "branch", "source_scope_ref": ref,
        "source_scope_id": "branch:session-a:alt-1", "updated_at": 1735689720100, "layers": [layer],
    }  # fmt: skip
    assert flatten_variable_snapshot({"resolved": SEED["resolved"]}) == [row]


def resolved(key: str, scope: str, at: int, value: Json = 1, place: str = "x") -> Json:
    return {"key": key, "value": value, "source_scope": scope, "source_scope_id": place, "updated_at": at}


def test_layers_stand_in_the_order_in_which_they_win() -> None:
    def tier(scope: str, place: str, **values: Json) -> Json:
        items = [{"id": f"{scope}-{key}", "key": key, "value": value, "updated_at": 9} for key, value in values.items()]
        return {"scope": scope, "scope_id": place, "items": items}

    layers = {"global": tier("global", "global", mood="calm", theme="midnight"), "chat": tier("chat", "s", mood="wary"),
              "floor": tier("floor", "f", mood="grim"), "page": tier("page", "p", hp=95)}  # fmt: skip
    found = [resolved("mood", "floor", 200, "grim", "f"), resolved("theme", "global", 100, "midnight", "global"),
             resolved("hp", "page", 300, 95, "p")]  # fmt: skip
    rows = sort_variable_inspector_rows(flatten_variable_snapshot({"resolved": found, "layers": layers}))
    assert [row["key"] for row in rows] == ["hp", "mood", "theme"]
    told = [(layer["scope"], layer["is_winning"], layer["preview"]) for layer in rows[1]["layers"]]
    assert told == [("floor", True, '"grim"'), ("chat", False, '"wary"'), ("global", False, '"calm"')]


def test_rows_of_one_key_stand_by_tier_then_by_time_then_by_place() -> None:
    rows = flatten_variable_snapshot(
        {"resolved": [resolved("k", "global", 1), resolved("k", "page", 1), resolved("k", "page", 2, place="b"),
                      resolved("k", "page", 2, place="a"), resolved("k", "elsewhere", 9)]}
    )  # fmt: skip
    places = [(row["source_scope"], row["source_scope_id"]) for row in sort_variable_inspector_rows(reversed(rows))]
    assert places == [("page", "a"), ("page", "b"), ("page", "x"), ("global", "x"), ("elsewhere", "x")]


STAGED = {
    "id": "staged_001", "key": "mood", "op": "set", "value": "steady", "intent": "promote_to_floor_on_accept",
    "conflict_policy": "replace", "reason": "builtin:set_variable",
    "source": {"toolName": "set_variable", "providerId": "builtin"}, "evidence": {"runId": "run-1", "generationAttemptNo": 1},
    "status": "promoted", "decision_reason": None, "created_at": 1735689720000, "resolved_at": 1735689720100,
}  # fmt: skip
TRACE = {
    "id": "trace_001", "staged_write_id": "staged_001", "key": "mood", "from_scope": "page", "from_scope_id": "page-a",
    "to_scope": "floor", "to_scope_id": "floor-a", "conflict_policy": "replace", "source_variable_id": "var_page_001",
    "target_variable_id": "var_floor_001", "value": "steady", "created_at": 1735689720100,
}  # fmt: skip
"""The examples of seed 000."""


def test_staged_writes_are_rows_the_newest_first() -> None:
    newer = {**STAGED, "id": "staged_002", "key": "hp", "value": 95, "created_at": 1735689720001}
    rows = flatten_page_staged_variable_writes({"page_id": "page-a", "items": [STAGED, newer]})
    assert rows == [{**newer, "preview": "95"}, {**STAGED, "preview": '"steady"'}]
    assert flatten_page_staged_variable_writes(None) == []


def test_promotions_stand_by_key_the_newest_first() -> None:
    hp = {**TRACE, "id": "trace_002", "key": "hp", "value": 95, "created_at": 1735689720900}
    mood = {**TRACE, "id": "trace_003", "value": "tense", "created_at": 1735689720500}
    groups = group_variable_promotion_trace({"items": [TRACE, hp, mood]})
    assert groups == [
        {"key": "hp", "latest_created_at": 1735689720900, "items": [{**hp, "preview": "95"}]},
        {
            "key": "mood",
            "latest_created_at": 1735689720500,
            "items": [{**mood, "preview": '"tense"'}, {**TRACE, "preview": '"steady"'}],
        },
    ]
    assert group_variable_promotion_trace(None) == []


# --- tools -----------------------------------------------------------------------------------------------------------


def step(id: str, phase: str, **fields: Json) -> Json:
    plain = {"execution_id": id, "tool_name": "set_variable", "provider_id": "builtin", "replay_safety": "uncertain"}
    return {**plain, "phase": phase, **fields}


def test_the_events_of_tools_are_grouped_by_call() -> None:
    events = [step("1", "start"), step("2", "blocked", message="blocked", replay_safety="safe"),
              step("1", "success", duration_ms=7, replay_safety="safe"), {"phase": "start"}]  # fmt: skip
    first, second = group_tool_events_by_execution(events)
    assert (first["execution_id"], first["phases"], first["is_terminal"]) == ("1", ["start", "success"], True)
    assert (first["replay_safety"], first["duration_ms"]) == ("safe", 7)
    assert (second["execution_id"], second["phases"], second["message"]) == ("2", ["blocked"], "blocked")
    assert group_tool_events_by_execution([step("3", "start")])[0]["is_terminal"] is False


def test_a_catalog_is_counted() -> None:
    def tool(availability: str, safety: str) -> Json:
        return {"name": "t", "availability": availability, "replay_safety": safety}

    catalog = {
        "tools": [tool("available", "safe"), tool("available", "never_auto_replay"), tool("conflict", "confirm_on_replay")],
        "conflicts": [{"tool_name": "t", "provider_ids": ["custom:acc-1", "mcp:mcp-2"], "reason": "name_conflict"}],
    }
    assert summarize_runtime_tool_catalog(catalog) == {
        "available_tools": 2, "confirm_on_replay_tools": 1, "conflict_records": 1, "conflict_tools": 1,
        "never_auto_replay_tools": 1, "replay_warnings": 2, "safe_tools": 1, "total_tools": 3, "unavailable_tools": 0,
        "uncertain_tools": 0,
    }  # fmt: skip
    assert set(summarize_runtime_tool_catalog(None).values()) == {0}


# --- client data -----------------------------------------------------------------------------------------------------


def item(id: str, collection: str, key: str, value: Json) -> Json:
    return {"id": id, "domain_id": "domain-1", "collection_id": collection, "item_key": key, "value_json": value, "version": 1}


ITEMS = [item("1", "a", "theme", {"mode": "dark"}), item("2", "a", "locale", "en-US"), item("3", "b", "layout", "compact")]


def test_owners_are_named_as_calls_take_them() -> None:
    assert build_plugin_owner("chat-annotator") == {"owner_type": "plugin", "owner_id": "chat-annotator"}
    assert build_application_owner("my-app") == {"owner_type": "application", "owner_id": "my-app"}


def test_items_are_grouped_by_their_collection() -> None:
    assert group_items_by_collection(ITEMS) == {"a": ITEMS[:2], "b": ITEMS[2:]}
    sections = [{"collection_id": "a", "items": ITEMS[:2]}, {"collection_id": "b", "items": ITEMS[2:]}]
    assert organize_collection_items(ITEMS) == sections


def test_items_become_a_map_by_collection_and_key() -> None:
    collections = [{"id": "a", "collection_name": "settings"}, {"id": "b", "collection_name": "layout"}]
    named = {"settings": {"theme": {"mode": "dark"}, "locale": "en-US"}, "layout": {"layout": "compact"}}
    assert to_client_data_map(ITEMS, collections) == named
    assert to_client_data_map(ITEMS) == {"a": named["settings"], "b": named["layout"]}


BY_KEY = "/client-data/domains/domain%2F1/items/by-key?collection_name=settings&item_key=theme.dark"
OWNED = {"x-account-id": "account-1", "x-client-owner-type": "plugin", "x-client-owner-id": "chat-annotator"}


def by_key(request: httpx.Request) -> httpx.Response:
    """The answer of a server that keeps client data."""
    assert (request.method, request.url.raw_path.decode()) == ("GET", BY_KEY)
    assert OWNED.items() <= dict(request.headers).items()
    return httpx.Response(200, json={"data": ITEMS[0]})


async def test_an_item_is_read_by_its_path() -> None:
    place = ("domain/1", "settings", "theme.dark")
    owner = build_plugin_owner("chat-annotator")
    with TavernClient("http://kit", transport=httpx.MockTransport(by_key)) as client:
        assert resolve_item_by_path(client, *place, account_id="account-1", caller_owner=owner) == ITEMS[0]
    async with AsyncTavernClient("http://kit", transport=httpx.MockTransport(by_key)) as client:
        assert await resolve_item_by_path(client, *place, account_id="account-1", caller_owner=owner) == ITEMS[0]


# --- errors ----------------------------------------------------------------------------------------------------------


def answered(status: int, code: str) -> TavernApiError:
    """An error of a server, as the client has it."""
    return TavernApiError("Why", status=status, code=code)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (401, "authentication", False),
        (403, "authorization", False),
        (404, "not_found", False),
        (409, "conflict", True),
        (400, "validation", False),
        (422, "validation", False),
        (429, "server", True),
        (503, "server", True),
        (418, "unknown", False),
    ],
)
def test_an_error_is_shown_by_its_status(status: int, kind: str, retryable: bool) -> None:
    shown = {"code": "something_else", "kind": kind, "message": "Why", "retryable": retryable, "status": status}
    assert map_api_error_to_ui_state(answered(status, "something_else")) == shown


@pytest.mark.parametrize(
    ("code", "status", "kind", "retryable"),
    [
        ("generation_conflict", 500, "conflict", True),
        ("generation_queue_timeout", 200, "server", True),
        ("generation_timeout", 200, "server", True),
        ("generation_cancelled", 499, "network", True),
        ("commit_busy", 200, "server", True),
        ("preset_conflict", 409, "conflict", True),
        ("replay_confirmation_required", 409, "conflict", True),
        ("profile_in_use", 409, "conflict", False),
        ("turn_commit_failed", 409, "server", True),
    ],
)
def test_a_known_code_says_more_than_its_status(code: str, status: int, kind: str, retryable: bool) -> None:
    shown = map_api_error_to_ui_state(answered(status, code))
    assert (shown["kind"], shown["retryable"], shown["code"], shown["status"]) == (kind, retryable, code, status)


def test_what_no_server_said_is_the_networks_or_unknown() -> None:
    lost = {"kind": "network", "message": "Connection lost", "retryable": True}
    assert map_api_error_to_ui_state(ConnectionError("Connection lost")) == lost
    assert map_api_error_to_ui_state(TavernTimeout("ReadTimeout"))["kind"] == "network"
    assert map_api_error_to_ui_state(ValueError("Boom")) == {"kind": "unknown", "message": "Boom", "retryable": False}
    assert map_api_error_to_ui_state("boom") == {"kind": "unknown", "message": "Unknown error", "retryable": False}


# --- streams ---------------------------------------------------------------------------------------------------------


def event(type: str, **payload: Json) -> Json:
    return {"type": type, "payload": payload}


def reduced(*events: Json) -> RespondStreamState:
    state = create_initial_respond_stream_state()
    for each in events:
        state = reduce_respond_stream(state, each)
    return state


START = event("start", branch_id="branch-1", floor_id="floor-1", floor_no=2)
DONE = event(
    "done", final_state="committed", floor_id="floor-1", floor_no=2, generated_text="Hello", summaries=["summary-1"],
    total_usage={"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, prompt_snapshot={"preset_id": None},
)  # fmt: skip


def test_a_stream_comes_to_its_result() -> None:
    assert reduced().status == "idle"
    begun = reduced(START, event("chunk", chunk="Hel"))
    assert (begun.status, begun.content, begun.branch_id, begun.floor_no) == ("streaming", "Hel", "branch-1", 2)
    done = reduced(START, event("chunk", chunk="Hel"), event("chunk", chunk="lo"), DONE)
    assert (done.status, done.content, done.summaries) == ("done", "Hello", ["summary-1"])
    assert done.result == {
        "branch_id": "branch-1", "final_state": "committed", "floor_id": "floor-1", "floor_no": 2, "generated_text": "Hello",
        "summaries": ["summary-1"], "total_usage": DONE["payload"]["total_usage"], "input_tokens": 10, "output_tokens": 5,
        "total_tokens": 15, "prompt_snapshot": {"preset_id": None},
    }  # fmt: skip


def test_what_the_end_leaves_out_is_what_has_arrived() -> None:
    told = event("summary", summaries=["s1", "s2"])
    done = reduced(event("chunk", chunk="Hello"), event("chunk", chunk=" world"), told, event("done", floor_id="f", floor_no=9))
    assert done.result is not None
    assert (done.result["generated_text"], done.result["summaries"], done.result["total_tokens"]) == (
        "Hello world", ["s1", "s2"], 0,
    )  # fmt: skip


def test_a_run_tells_the_words_of_its_attempt() -> None:
    run = {"run_id": "run-1", "floor_id": "floor-1", "phase": "page_generating"}
    heard = reduced(event("chunk", chunk="par"), event("run", **run, pending_output={"text": "partial", "attempt_no": 1}))
    assert heard.run is not None
    assert (heard.run["run_id"], heard.content, heard.floor_id, heard.status) == ("run-1", "partial", "floor-1", "streaming")
    again = reduce_respond_stream(heard, event("run", **run, pending_output={"text": "", "attempt_no": 2}))
    assert (again.content, heard.content) == ("", "partial")
    assert reduce_respond_stream(heard, event("run", **run, pending_output=None)).content == "partial"


def test_a_failure_has_words_in_any_case() -> None:
    assert reduced(event("error", code="stream_failed")).error == {"code": "stream_failed", "message": "Stream request failed"}
    failed = reduced(START, event("error", code="generation_timeout", message="Too long."), DONE)
    assert (failed.status, failed.result, failed.error) == (
        "error", None, {"code": "generation_timeout", "message": "Too long."},
    )  # fmt: skip


def test_tools_are_active_until_they_end_and_warn_of_what_nobody_knows() -> None:
    begun = reduced(event("tool", **step("exec-1", "start")))
    assert begun.active_tools == {"exec-1": step("exec-1", "start")}
    ended = reduce_respond_stream(begun, event("tool", **step("exec-1", "success", replay_safety="safe")))
    lost = reduce_respond_stream(ended, event("tool", **step("exec-2", "uncertain", message="timeout")))
    assert (ended.active_tools, len(lost.tool_events), ended.warnings) == ({}, 3, [])
    warning = {"code": "tool_execution_uncertain", "execution_id": "exec-2", "message": "timeout", "tool_name": "set_variable"}
    assert lost.warnings == [warning]
    made = reduced(event("tool", **step("1", "success", replay_safety="confirm_on_replay")),
                   event("tool", **step("2", "success", replay_safety="never_auto_replay")))  # fmt: skip
    assert [each["code"] for each in made.warnings] == ["tool_confirm_on_replay", "tool_never_auto_replay"]


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
lists = st.lists(scalars, max_size=3)
values = scalars | lists | st.dictionaries(st.text(max_size=3), scalars | lists, max_size=3)
NAMES = ("branch_id", "floor_id", "floor_no", "chunk", "summaries", "pending_output", "execution_id", "phase", "message",
         "code", "generated_text", "total_usage", "replay_safety", "text")  # fmt: skip
payloads = values | st.dictionaries(st.sampled_from(NAMES), values, max_size=6)
events = st.fixed_dictionaries(
    {"type": st.sampled_from(("start", "run", "chunk", "tool", "summary", "error", "done", "other")), "payload": payloads}
)


@given(st.lists(events, max_size=5))
def test_no_stream_is_too_odd_to_be_reduced(stream: list[Json]) -> None:
    states = [create_initial_respond_stream_state()]
    for each in stream:
        states.append(reduce_respond_stream(states[-1], each))
    # What came later changed no state of before.
    for length, state in enumerate(states):
        again = reduced(*stream[:length])
        assert again == state
        assert (again.active_tools, again.warnings) == (state.active_tools, state.warnings)


@given(st.lists(st.text(max_size=8), max_size=20), st.lists(st.text(max_size=8), max_size=4), st.integers(0, 20))
def test_a_state_may_be_gone_on_from_twice(chunks: list[str], others: list[str], at: int) -> None:
    fork = reduced(*(event("chunk", chunk=chunk) for chunk in chunks[:at]))
    one, other = fork, fork
    for chunk in chunks[at:]:
        one = reduce_respond_stream(one, event("chunk", chunk=chunk))
    for chunk in others:
        other = reduce_respond_stream(other, event("chunk", chunk=chunk))
    assert one.content == "".join(chunks)
    assert other.content == "".join(chunks[:at] + others)
    assert fork.content == "".join(chunks[:at])


@given(st.text(max_size=60), st.lists(st.integers(1, 7), max_size=60))
def test_however_a_text_is_cut_every_prefix_is_a_beginning_and_the_end_is_the_result(text: str, lengths: list[int]) -> None:
    pieces, left = [], text
    for length in lengths:
        pieces.append(left[:length])
        left = left[length:]
    state = reduce_respond_stream(create_initial_respond_stream_state(), START)
    for piece in [*pieces, left]:
        state = reduce_respond_stream(state, event("chunk", chunk=piece))
        assert text.startswith(state.content)
    done = reduce_respond_stream(state, event("done", **{**DONE["payload"], "generated_text": text}))
    assert done.result is not None
    assert done.result["generated_text"] == done.content == state.content == text


# --- the package -----------------------------------------------------------------------------------------------------

TABLE = (
    "resolve_usage", "build_timeline_messages", "create_initial_respond_stream_state", "reduce_respond_stream",
    "get_display_page", "group_tool_events_by_execution", "get_active_page", "flatten_variable_snapshot",
    "flatten_page_staged_variable_writes", "group_variable_promotion_trace", "sort_variable_inspector_rows",
    "format_variable_preview", "map_api_error_to_ui_state", "summarize_runtime_tool_catalog", "build_plugin_owner",
    "build_application_owner", "group_items_by_collection", "organize_collection_items", "to_client_data_map",
    "resolve_item_by_path",
)  # fmt: skip
"""The functions of the table in seed 001, by their Python names."""


def test_every_function_of_the_table_is_there() -> None:
    assert {name for name in helpers.__all__ if name[0].islower()} >= set(TABLE)
    assert all(callable(getattr(helpers, name)) for name in helpers.__all__)


def test_the_helpers_need_no_package_at_all() -> None:
    program = """
import json, sys, agentui.sdk.helpers
print(json.dumps(sorted(name for name in sys.modules if name.startswith("agentui.") and ".sdk" not in name)))
"""
    # Without site-packages there is the standard library, and the checkout.
    run = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == []
