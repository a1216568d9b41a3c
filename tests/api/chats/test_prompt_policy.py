"""Prompt modes and policies over HTTP."""

import asyncio

import pytest

from agentui.chats.parts import Content
from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT
from agentui.turns.request import Outcome, TurnRequest
from tests.api.chats.conftest import Reader

NO_DEBUG = {"include_prompt_snapshot": False, "include_runtime_trace": False, "include_worldbook_matches": False}
DEFAULTS = {
    "structure": {
        "mode": "default",
        "merge_adjacent_same_role": False,
        "assistant_rewrite_strategy": "to_system",
        "preserve_system_messages": True,
    },
    "delivery": {"allow_assistant_prefill": True, "require_last_user": False, "no_assistant": False},
    "budget": {},
    "source_selection": {
        "history": {"mode": "full"},
        "memory": {"enabled": True},
        "worldbook": {"enabled": True},
        "examples": {"enabled": True},
    },
    "visibility": {
        "mode": "allow_all_except_hidden",
        "hidden_floor_ranges": [],
        "visible_floor_ranges": [],
        "hidden_floor_ids": [],
    },
    "debug": NO_DEBUG,
}
SEED_PATCH: dict[str, Json] = {
    "budget": {"max_input_tokens": 4096, "reserved_completion_tokens": 1024},
    "source_selection": {"history": {"mode": "windowed", "max_messages": 24}, "examples": {"enabled": False}},
}
"""The patch of seed 001."""


async def data(reader: Reader, path: str) -> Json:
    answer = await reader.get(path)
    assert answer.status == 200, answer.text
    return answer.body["data"]


async def patched(reader: Reader, path: str, **sections: Json) -> Json:
    answer = await reader.patch(path, sections)
    assert answer.status == 200, answer.text
    return answer.body["data"]


async def test_the_capabilities_say_what_the_sdk_asks_for(reader: Reader) -> None:
    document = await data(reader, "/prompt-runtime/capabilities")
    assert set(document) == {
        "default_prompt_mode", "prompt_modes", "structure", "delivery", "budget", "source_selection", "governance", "compare",
        "observability", "macro", "unsupported",
    }  # fmt: skip
    assert document["default_prompt_mode"] == "compat_strict"
    assert [(mode["name"], mode["agentic_scope"]) for mode in document["prompt_modes"]] == [
        ("compat_strict", "none"),
        ("compat_plus", "limited"),
        ("native", "primary"),
    ]
    seen = document["observability"]
    assert set(seen) == {"live", "dry_run", "inspect", "preview", "explain", "stream"}
    assert (seen["preview"]["mode"], seen["preview"]["returns_assembly_truth"]) == ("macro_text_preview", False)
    assert seen["preview"]["trace_subset"][:3] == ["macro", "source_selection", "visibility"]
    assert seen["inspect"]["mode"] == "prepared_turn"
    assert (seen["explain"]["persisted_truth_only"], seen["explain"]["recompute"]) == (True, False)
    assert document["structure"]["defaults"] == DEFAULTS["structure"]
    assert document["source_selection"]["defaults"] == DEFAULTS["source_selection"]
    assert document["governance"]["branch"]["object_patch"] == "deep_merge"


async def test_a_session_without_a_policy_has_the_defaults(reader: Reader) -> None:
    id = await reader.session_id()
    assert await data(reader, f"/sessions/{id}/prompt-runtime/policy") == {
        "persistent_policy": {},
        "persistent_policy_envelope": None,
        "resolved_policy": DEFAULTS,
        "warnings": [],
    }


async def test_the_policy_of_the_seed_is_kept_in_an_envelope(reader: Reader) -> None:
    id = await reader.session_id()
    view = await patched(reader, f"/sessions/{id}/prompt-runtime/policy", **SEED_PATCH)
    assert view["persistent_policy"] == SEED_PATCH
    envelope = view["persistent_policy_envelope"]
    assert (envelope["version"], envelope["updated_by"], envelope["value"]) == (1, "default-admin", SEED_PATCH)
    assert envelope["updated_at"] > 1_700_000_000_000
    assert view["resolved_policy"] == {
        **DEFAULTS,
        "budget": SEED_PATCH["budget"],
        "source_selection": {
            **DEFAULTS["source_selection"],
            "history": {"mode": "windowed", "max_messages": 24},
            "examples": {"enabled": False},
        },
    }
    assert await data(reader, f"/sessions/{id}/prompt-runtime/policy") == view


async def test_a_patch_is_merged_deeply_and_null_clears(reader: Reader) -> None:
    path = f"/sessions/{await reader.session_id()}/prompt-runtime/policy"
    await patched(reader, path, **SEED_PATCH, delivery={"require_last_user": True})
    merged = await patched(
        reader, path, budget={"max_input_tokens": 2048}, source_selection={"history": {"max_messages": 6}}, delivery=None
    )
    assert merged["persistent_policy"] == {
        "budget": {"max_input_tokens": 2048, "reserved_completion_tokens": 1024},
        "source_selection": {"history": {"mode": "windowed", "max_messages": 6}, "examples": {"enabled": False}},
    }
    assert merged["persistent_policy_envelope"]["version"] == 2
    cleared = await patched(reader, path, budget={"reserved_completion_tokens": None}, source_selection=None)
    assert cleared["persistent_policy"] == {"budget": {"max_input_tokens": 2048}}
    ranges = [{"start_floor_no": 1, "end_floor_no": 2}]
    await patched(reader, path, visibility={"hidden_floor_ranges": ranges * 2})
    shorter = await patched(reader, path, visibility={"hidden_floor_ranges": ranges})
    assert shorter["persistent_policy"]["visibility"] == {"hidden_floor_ranges": ranges}


async def test_of_every_leaf_the_nearest_policy_wins(reader: Reader) -> None:
    id = await reader.session_id()
    runtime = f"/sessions/{id}/prompt-runtime"
    structure = {"mode": "strict_alternating", "preserve_system_messages": True}
    await patched(reader, f"{runtime}/policy", structure=structure, delivery={"require_last_user": True})
    overlay = {"delivery": {"no_assistant": True}, "budget": SEED_PATCH["budget"]}
    view = await patched(reader, f"{runtime}/branches/main/policy", **overlay)
    assert (view["persistent_policy"], view["persistent_policy_envelope"]["version"]) == (overlay, 1)
    assert view["resolved_policy"]["delivery"] == {
        "allow_assistant_prefill": True,
        "require_last_user": True,
        "no_assistant": True,
    }
    assert await data(reader, f"{runtime}/branches/main/policy") == view

    state = await data(reader, runtime)
    assert state["scope"] == {
        "session_id": id,
        "target_branch_id": "main",
        "branch_exists": True,
        "source_floor_id": None,
        "history_source_branch_id": "main",
        "history_source_mode": "existing_branch",
    }
    assert state["policy"] == view["resolved_policy"]
    assert state["policy"]["structure"]["mode"] == "no_assistant"
    assert state["persistent_policy"] == {"structure": structure, "delivery": {"require_last_user": True}}
    assert state["persistent_policy_envelope"]["value"] == state["persistent_policy"]
    assert state["branch_persistent_policy"] == overlay
    assert state["branch_persistent_policy_envelope"]["value"] == overlay
    assert state["source_map"]["structure"] == {
        "mode": "branch_policy",
        "merge_adjacent_same_role": "system_default",
        "assistant_rewrite_strategy": "system_default",
        "preserve_system_messages": "session_policy",
    }
    assert state["source_map"]["delivery"] == {
        "allow_assistant_prefill": "system_default",
        "require_last_user": "session_policy",
        "no_assistant": "branch_policy",
    }
    assert state["source_map"]["budget"] == dict.fromkeys(SEED_PATCH["budget"], "branch_policy")
    assert state["source_map"]["history"] == {"source_branch_id": "main", "source_mode": "existing_branch"}
    assert state["mode"]["source"] == "default"
    assert state["warnings"] == ["delivery.no_assistant forced the resolved structure.mode to no_assistant."]
    assert [(each["code"], each["severity"], each["source"], each["field_path"]) for each in state["diagnostics"]] == [
        ("derived_no_assistant_structure", "warning", "policy", "policy.structure.mode")
    ]
    assert state["limitations"]
    # The session's own view does not know of the branch.
    assert (await data(reader, f"{runtime}/policy"))["resolved_policy"]["structure"]["mode"] == "strict_alternating"


async def test_a_fork_begins_without_the_policy_of_its_source(reader: Reader) -> None:
    id = await reader.session_id()
    await patched(reader, f"/sessions/{id}/prompt-runtime/branches/main/policy", **SEED_PATCH)
    turn = await reader.server.state.turns.begin(TurnRequest(DEFAULT_ACCOUNT, "run_1", id))
    await turn.commit(Outcome(Content("Hello!")))
    forked = await reader.post(f"/floors/{turn.place.floor_id}/branch", {"branch_id": "side"})
    assert forked.status == 201, forked.text
    view = await data(reader, f"/sessions/{id}/prompt-runtime/branches/side/policy")
    assert (view["persistent_policy"], view["persistent_policy_envelope"]) == ({}, None)
    assert (await data(reader, f"/sessions/{id}/prompt-runtime?branch_id=side"))["branch_persistent_policy"] is None


async def test_two_patches_at_once_both_count(postgres_reader: Reader) -> None:
    path = f"/sessions/{await postgres_reader.session_id()}/prompt-runtime/policy"
    leaves: list[Json] = [
        {"delivery": {"require_last_user": True}},
        {"delivery": {"no_assistant": True}},
        {"budget": {"max_input_tokens": 9}},
        {"visibility": {"mode": "deny_all_except_visible"}},
    ]
    answers = await asyncio.gather(*(postgres_reader.patch(path, leaf) for leaf in leaves))
    assert [answer.status for answer in answers] == [200] * 4
    view = await data(postgres_reader, path)
    assert view["persistent_policy"] == {
        "delivery": {"require_last_user": True, "no_assistant": True},
        "budget": {"max_input_tokens": 9},
        "visibility": {"mode": "deny_all_except_visible"},
    }
    assert view["persistent_policy_envelope"]["version"] == 4


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({}, "", "custom"),
        ({"debug": {}}, "", "custom"),
        ({"structure": {"merge_adjacent_same_role": True}}, "/structure/mode", "required"),
        ({"structure": {"mode": "sideways"}}, "/structure/mode", "enum"),
        ({"delivery": {"no_assistant": "perhaps"}}, "/delivery/no_assistant", "type"),
        ({"budget": {"max_input_tokens": 0}}, "/budget/max_input_tokens", "minimum"),
        ({"budget": {"max_input_tokens": 2**31}}, "/budget/max_input_tokens", "maximum"),
        ({"source_selection": {"history": {"mode": "half"}}}, "/source_selection/history/mode", "enum"),
        ({"source_selection": {"history": {"max_messages": -1}}}, "/source_selection/history/max_messages", "minimum"),
        ({"visibility": {"hidden_floor_ranges": [{}]}}, "/visibility/hidden_floor_ranges/0/start_floor_no", "required"),
        (
            {"visibility": {"hidden_floor_ranges": [{"start_floor_no": 1, "end_floor_no": 1}] * 1001}},
            "/visibility/hidden_floor_ranges",
            "maxItems",
        ),
        ({"visibility": {"hidden_floor_ids": ["a\0"]}}, "/visibility/hidden_floor_ids/0", "custom"),
    ],
)
async def test_a_policy_that_says_nothing_sensible_is_refused(reader: Reader, body: Json, path: str, code: str) -> None:
    id = await reader.session_id()
    for place in ("policy", "branches/main/policy"):
        refused = await reader.patch(f"/sessions/{id}/prompt-runtime/{place}", body)
        assert (refused.status, refused.code) == (400, "validation_error"), refused.text
        problem = refused.body["error"]["details"][0]
        assert (problem["path"], problem["code"]) == (path, code)
        assert (await data(reader, f"/sessions/{id}/prompt-runtime/{place}"))["persistent_policy_envelope"] is None


async def test_what_is_not_there_has_no_policy(reader: Reader) -> None:
    id = await reader.session_id()
    asked = [
        ("GET", "/sessions/nobody/prompt-runtime/policy", "not_found"),
        ("GET", "/sessions/nobody/prompt-runtime/branches/main/policy", "not_found"),
        ("PATCH", "/sessions/nobody/prompt-runtime/branches/main/policy", "not_found"),
        ("GET", f"/sessions/{id}/prompt-runtime?branch_id=side", "branch_not_found"),
        ("GET", f"/sessions/{id}/prompt-runtime/branches/side/policy", "branch_not_found"),
        ("PATCH", f"/sessions/{id}/prompt-runtime/branches/side/policy", "branch_not_found"),
    ]
    for method, path, code in asked:
        answer = await reader.call(method, path, {"delivery": None} if method == "PATCH" else None, {})
        assert (answer.status, answer.code) == (404, code), path


async def test_the_mode_is_the_sessions_or_an_older_clients_or_the_default(reader: Reader) -> None:
    id = await reader.session_id(metadata={"promptMode": "compat_plus"})
    path = f"/sessions/{id}/prompt-runtime/mode"
    assert await data(reader, path) == {
        "prompt_mode": "compat_plus",
        "session_prompt_mode": None,
        "effective_prompt_mode": "compat_plus",
        "default_prompt_mode": "compat_strict",
        "legacy_fallback": True,
        "source": "legacy_metadata",
    }
    own = await patched(reader, path, prompt_mode="native")
    assert (own["prompt_mode"], own["session_prompt_mode"], own["legacy_fallback"]) == ("native", "native", False)
    assert (await data(reader, f"/sessions/{id}"))["prompt_mode"] == "native"
    cleared = await patched(reader, path, prompt_mode=None)
    assert (cleared["effective_prompt_mode"], cleared["source"]) == ("compat_plus", "legacy_metadata")
    await reader.patch(f"/sessions/{id}", {"metadata": {"prompt_mode": "sideways"}})
    assert (await data(reader, path))["source"] == "default"
    for body in ({}, {"prompt_mode": "sideways"}):
        assert (await reader.patch(path, body)).code == "validation_error"


async def test_the_assets_are_those_that_the_session_is_bound_to(reader: Reader) -> None:
    id = await reader.session_id(character_snapshot={"name": "Hero"})
    assets = {"preset": None, "character_card": {"id": None, "name": "Hero"}, "worldbook": None, "regex_profile": None}
    assert await data(reader, f"/sessions/{id}/prompt-runtime/assets") == assets
    assert (await data(reader, f"/sessions/{id}/prompt-runtime"))["assets"] == assets
    bare = await data(reader, f"/sessions/{await reader.session_id()}/prompt-runtime/assets")
    assert set(bare.values()) == {None}


async def test_a_patch_with_a_key_is_done_once(reader: Reader) -> None:
    path = f"/sessions/{await reader.session_id()}/prompt-runtime/policy"
    for _ in range(2):
        answer = await reader.call("PATCH", path, SEED_PATCH, {"Idempotency-Key": "k1"})
        assert answer.body["data"]["persistent_policy_envelope"]["version"] == 1
