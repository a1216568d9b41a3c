"""The members that the contract's answers have (spec: tavern-api and tavern-api-2 part 1), for every group that is built.

One chat is led through all of it; then each row of the table names an answer, a place in it, and the members that stand there.
More members may. ``[]`` is the first of a list, which must not be empty.
"""

from collections.abc import Iterator

import pytest

from tests.turns.house import House, Json
from tests.turns.talk import begin_talk, named
from tests.turns.test_live_tools import TOOLS, allow
from tests.upstreams.step import Call, Step

SNAPSHOT = [
    f"{kind}_{member}" for kind in ("preset", "worldbook", "regex_profile") for member in ("id", "version", "content_hash")
]
MEMORY = "summary_injected runtime_mode requested_write effective_write strategy selected_items scope_resolution"
NORMALIZED = (
    "raw_entry_count effective_turn_count selected_turn_count trailing_user_source_floor_ids merged_user_groups violations"
)
ENTRY = "uid activation_key source insertion"
BESIDE = "source_kind actor_client_id source source_json evidence evidence_json rerouted_target decision_code decision_reason"

TABLE = [
    (
        "session",
        "",
        "id title status character_binding user_binding preset_id deep_binding model_params prompt_mode metadata created_at",
    ),
    ("sessions", "meta", "total limit offset has_more sort_by sort_order"),
    ("branches", "[]", "branch_id floor_count latest_floor_no latest_floor_id latest_state updated_at"),
    ("diff", "", "fork_floor_no shared_floor_nos base_only_floors target_only_floors"),
    ("merge", "", "strategy can_merge conflicts source_only_floors target_only_floors shared_floor_ids"),
    ("merge", "conflicts.[]", "code message scope"),
    (
        "floor",
        "",
        "id session_id floor_no branch_id parent_floor_id state token_in token_out superseded_at superseded_by_floor_id",
    ),
    ("run", "run", "run_id run_type status phase public_phase phase_seq attempt_no pending_output verifier error started_at"),
    ("result", "", "floor_id output_page_id assistant_message_id generated_text summaries usage verifier committed_at"),
    ("page", "", "id floor_id page_no page_kind is_active version checksum created_at updated_at"),
    ("message", "", "id page_id seq role content content_format token_count is_hidden source created_at"),
    ("timeline", "floors.[]", "id floor_no state pages active_pages active_page messages page_count token_in token_out"),
    ("resolve", "", "context resolved"),
    ("staged", "", "page_id floor_id session_id branch_id items"),
    ("staged", "items.[]", f"id key op value intent conflict_policy reason status created_at resolved_at {BESIDE}"),
    ("staged", "items.[].source", "toolName providerId"),
    ("promotions", "items.[]", f"staged_write_id from_scope to_scope source_variable_id target_variable_id {BESIDE}"),
    ("done", "", "floor_id floor_no branch_id generated_text summaries total_usage final_state prompt_snapshot runtime_trace"),
    ("done", "prompt_snapshot", f"{' '.join(SNAPSHOT)} prompt_digest token_estimate worldbook_activated_entries"),
    ("done", "prompt_snapshot.worldbook_activated_entries.[]", ENTRY),
    ("done", "prompt_snapshot.worldbook_activated_entries.[].source", "kind worldbook_id worldbook_name asset_scope_id"),
    ("done", "runtime_trace", "preset worldbook regex budgets memory macro delivery history_normalization"),
    ("done", "runtime_trace.worldbook.matches.[]", f"{ENTRY} activation asset_scope_id content_preview"),
    ("done", "runtime_trace.regex", "user_input_rules ai_output_rules preprocessed_user_message phases reserved_placements"),
    (
        "done",
        "runtime_trace.regex.phases.[]",
        "phase_id placement channel status changed candidate_rule_names matched_rule_names",
    ),
    ("done", "runtime_trace.memory", MEMORY),
    ("done", "runtime_trace.history_normalization", NORMALIZED),
    ("tool", "", "execution_id tool_name provider_id provider_type side_effect_level phase message duration_ms replay_safety"),
    ("dry", "", "messages token_estimate available_for_reply memory memory_summary prompt_snapshot assembly runtime_trace"),
    ("dry", "assembly", "mode prompt_intent preset_used worldbook_hits regex_pre_rules preset_warnings names_behavior_applied"),
    ("preview", "", "scope policy text runtime_trace diagnostics limitations source_map memory"),
    (
        "preview",
        "scope",
        "session_id target_branch_id branch_exists source_floor_id history_source_branch_id history_source_mode",
    ),
    (
        "inspect",
        "",
        "scope mode policy source_map history_normalization trim_reasons excluded_sources section_stats prepared_turn",
    ),
    (
        "explain",
        "",
        "floor scope snapshot_available assets prompt_snapshot resolved_policy governance result memory source_map",
    ),
    ("explain", "assets.preset", "id name version_id version_no content_hash"),
    ("explain", "memory", f"{MEMORY} page_id proposal_batch_id proposal_status promotion_status"),
    ("compare", "", "left right scope_changes policy_changes asset_changes section_changes message_changes tool_changes"),
    ("editor", "", "id name source version created_at updated_at editor"),
    ("editor", "editor", "format default_character_id entries order_contexts top_level"),
    ("editor", "editor.entries.[]", "identifier name role content system_prompt marker injection_position enabled extra"),
    ("editor", "editor.order_contexts.[]", "character_id order extra"),
    ("imported_preset", "", "id name source"),
    ("imported_regex", "", "id name source script_count compat_report"),
    ("imported_regex", "compat_report", "stored_count prompt_executable_count persist_executable_count contains_run_on_edit"),
    ("imported_character", "", "create_session character session character_id character_version_id"),
    ("imported_character", "character", "name description personality scenario first_mes mes_example"),
    ("imported_chat", "", "session_id title floor_count message_count format import_source skipped_lines swipe_count"),
    (
        "job",
        "",
        "id job_id job_kind format status phase request result progress_current progress_total last_error output_expires_at",
    ),
    (
        "execution",
        "",
        "execution_id run_id floor_id page_id caller_slot provider_id tool_name args result delivery_mode status",
    ),
    ("execution", "", "lifecycle_state commit_outcome replay_safety replay_reason runtime_job policy provenance roundtrip"),
    ("namespaces", "[]", "namespace owner_kind slots"),
    (
        "state",
        "[]",
        "namespace slot source visibility_mode schema_version present value floor_id source_mutation_ids updated_at",
    ),
    ("bindings", "[]", "domain_id account_id manager_kind host_type host_id state_namespace require_caller_owner created_at"),
    ("mutations", "", "page_id floor_id session_id branch_id items"),
    (
        "mutations",
        "items.[]",
        "id page_id floor_id state_namespace target_slot write_mode commit_mode decision_status applied_at",
    ),
]
"""Answer, place, members."""


def at(answer: Json, place: str) -> Json:
    """What stands at a place of an answer."""
    for step in place.split(".") if place else ():
        answer = answer[0] if step == "[]" else answer[step]
    return answer


def misses(answers: dict[str, Json]) -> Iterator[str]:
    """The members that are not where the table says."""
    for name, place, members in TABLE:
        try:
            found = at(answers[name], place)
        except (KeyError, IndexError, TypeError):
            yield f"{name}: nothing at {place}"
            continue
        yield from (f"{name}: no {member} at {place or 'the top'}" for member in members.split() if member not in found)


async def answers_of(house: House) -> dict[str, Json]:
    """A chat led through all groups."""
    memory = house.memory

    async def post(path: str, body: Json) -> Json:
        status, answer = await memory.call("POST", path, body)
        assert status < 300, (path, answer)
        return answer["data"]

    prompts = [{"identifier": "main", "content": "Be calm."}, {"identifier": "worldInfoBefore", "marker": True}]
    prompts += [{"identifier": "chatHistory", "marker": True}]
    order = [{"identifier": each["identifier"], "enabled": True} for each in prompts]
    preset = {"prompts": prompts, "prompt_order": [{"character_id": 100001, "order": order}]}
    book = {"entries": {"0": {"uid": 0, "key": ["fire"], "content": "It burns."}}}
    script = {"scriptName": "trim", "findRegex": "/ +$/", "replaceString": "", "placement": [1, 2], "promptOnly": True}
    told = {
        "imported_preset": await post("/import/preset", {"name": "P", "data": preset}),
        "imported_worldbook": await post("/import/worldbook", {"name": "W", "data": book}),
        "imported_regex": await post("/import/regex", {"name": "R", "data": [script]}),
        "imported_character": await post("/import/character", {"payload": {"name": "Ada", "first_mes": "Hi."}}),
        "imported_chat": await post(
            "/import/chat", {"data": '{"user_name":"B","character_name":"A"}\n{"name":"B","mes":"Hi","is_user":true}'}
        ),
        "job": await post("/import/chat/jobs", {"data": '{"user_name":"B"}'}),
    }
    bound = {"preset_id": "imported_preset", "worldbook_profile_id": "imported_worldbook", "regex_profile_id": "imported_regex"}
    talk = await begin_talk(house, title="Contract", **{name: told[key]["id"] for name, key in bound.items()})
    session = talk.session
    await allow(talk)
    namespace = {"namespace": "quest", "logical_owner_type": "app", "logical_owner_id": "a"}
    await post(f"/sessions/{session}/state/namespaces", namespace)
    house.mock.script(
        [Step(text="One."), Step(text="", calls=(Call("set_variable", '{"key": "a", "value": 1}', "c1"),)), Step(text="Two.")]
    )
    first = await talk.respond("The fire")
    write = {"namespace": "quest", "slot": "mood", "value": 1}
    debug = dict.fromkeys(("include_prompt_snapshot", "include_runtime_trace", "include_worldbook_matches"), True)
    events = await talk.stream("The fire again", **TOOLS, session_state_writes=[write], debug_options=debug)
    (done,) = named(events, "done")
    floor, runtime = done["floor_id"], f"/sessions/{session}/prompt-runtime"
    _, fork = await memory.call("POST", f"/floors/{first['floor_id']}/branch", {"branch_id": "alt"})
    assert fork["data"]["branch_id"] == "alt"
    await talk.respond("Elsewhere", branch_id="alt")
    result = await memory.get(f"/floors/{floor}/result")
    page = result["output_page_id"]
    (execution,) = await memory.get(f"/tool-executions?floor_id={floor}")
    _, sessions = await memory.call("GET", "/sessions")
    sides = {"left": {"floor_id": first["floor_id"]}, "right": {"floor_id": floor}}
    return told | {
        "session": await memory.get(f"/sessions/{session}"),
        "sessions": sessions,
        "branches": await memory.get(f"/sessions/{session}/branches"),
        "diff": await memory.get(f"/sessions/{session}/branches/diff?target_branch_id=alt"),
        "merge": await post(f"/sessions/{session}/branches/alt/merge/preview", {"target_branch_id": "main"}),
        "floor": await memory.get(f"/floors/{floor}"),
        "run": await memory.run(floor),
        "result": result,
        "page": await memory.get(f"/pages/{page}"),
        "message": await memory.get(f"/messages/{result['assistant_message_id']}"),
        "timeline": await memory.get(f"/sessions/{session}/timeline"),
        "resolve": await memory.get(f"/variables/resolve?session_id={session}&page_id={page}"),
        "staged": await memory.get(f"/pages/{page}/variables/staged"),
        "promotions": await memory.get(f"/pages/{page}/variables/promotions"),
        "done": done,
        "tool": named(events, "tool")[0],
        "dry": await post(f"/sessions/{session}/respond/dry-run", {"message": "The fire"}),
        "preview": await post(f"{runtime}/preview", {"text": "{{user}}", "source_floor_id": floor}),
        "inspect": await post(f"{runtime}/inspect", {"message": "The fire"}),
        "explain": await memory.get(f"/floors/{floor}/prompt-runtime/explain"),
        "compare": await post(f"{runtime}/compare", sides),
        "editor": await memory.get(f"/presets/{told['imported_preset']['id']}/editor"),
        "execution": execution,
        "namespaces": await memory.get(f"/sessions/{session}/state/namespaces"),
        "state": await memory.get(f"/sessions/{session}/state/resolve?branch_id=main&namespace=quest"),
        "bindings": await memory.get(f"/sessions/{session}/session-state/bindings"),
        "mutations": await memory.get(f"/pages/{page}/session-state/mutations"),
    }


async def test_answers_have_the_members_of_the_contract(house: House) -> None:
    answers = await answers_of(house)
    assert list(misses(answers)) == []
    # What the table cannot say: the values that clients decide by.
    assert answers["dry"]["assembly"]["mode"] == "preset"
    done, preview = answers["done"], answers["preview"]
    phases = {each["phase_id"]: each["placement"] for each in done["runtime_trace"]["regex"]["phases"]}
    assert {each["depth"] for each in done["runtime_trace"]["regex"]["phases"]} == {0, 1}
    assert all(each[f"{side}_text_hash"] for each in done["runtime_trace"]["regex"]["phases"] for side in ("input", "output"))
    assert phases.items() >= {"persist.user_input": 1, "prompt.user_input": 1, "prompt.ai_output": 2}.items()
    counted = done["runtime_trace"]["history_normalization"]
    assert (counted["raw_entry_count"], counted["effective_turn_count"]) == (3, 3)
    assert counted["trailing_user_source_floor_ids"] == [done["floor_id"]]
    assert preview["scope"]["source_floor_id"] == done["floor_id"]
    assert preview["runtime_trace"]["history_normalization"]["raw_entry_count"] == 4
    assert answers["staged"]["items"][0]["source"] == {"toolName": "set_variable", "providerId": "builtin"}
    assert answers["staged"]["items"][0]["reason"] == "builtin:set_variable"
    assert answers["state"][0]["source_mutation_ids"] == [answers["mutations"]["items"][0]["id"]]
    assert answers["merge"]["conflicts"][0]["code"] == "target_diverged"
    assert answers["imported_regex"]["compat_report"]["prompt_executable_count"] == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/floors/{floor}/result", None, 404, "not_found"),
        ("POST", "/sessions/nobody/respond/dry-run", {"message": "Hi"}, 404, "not_found"),
        ("POST", "/sessions/nobody/respond", {"message": "Hi"}, 404, "session_not_found"),
        ("POST", "/sessions/{session}/branches/main/merge", {"target_branch_id": "main"}, 409, "branch_merge_conflict"),
        ("GET", "/pages/nobody/session-state/mutations", None, 404, "not_found"),
        ("GET", "/sessions/nobody/session-state/bindings", None, 404, "not_found"),
        ("GET", "/chat-transfer-jobs/nobody/file", None, 404, "not_found"),
    ],
)
async def test_refusals_have_the_codes_of_the_contract(
    house: House, method: str, path: str, body: Json, status: int, code: str
) -> None:
    talk = await begin_talk(house)
    new = {"session_id": talk.session, "branch_id": "main", "floor_no": 5, "state": "committed"}
    _, made = await house.memory.call("POST", "/floors", new)
    said, answer = await house.memory.call(method, path.format(floor=made["data"]["id"], session=talk.session), body)
    assert (said, answer["error"]["code"]) == (status, code)
