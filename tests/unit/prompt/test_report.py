"""What the API shows of a prepared turn."""

from agentui.chat.messages import Media, Text, ToolCall
from agentui.jsonio import dumps
from agentui.prompt.policy import BudgetPolicy, FloorRange, ResolvedPolicy, StructurePolicy, VisibilityPolicy
from agentui.prompt.report import dry_run_document, prompt_snapshot, runtime_trace, shown_messages
from tests.unit.prompt.parts import Facts, answer, prepared, question, scope

ASSEMBLY = {
    "mode", "prompt_intent", "assistant_prefill_applied", "assistant_prefill_strategy", "preset_used", "worldbook_hits",
    "selected_prompt_order_character_id", "ignored_prompt_order_character_ids", "regex_pre_rules", "regex_post_rules",
    "memory_summary_injected", "reserved_variable_collisions", "unsupported_preset_fields", "ignored_preset_fields",
    "unresolved_preset_markers", "preset_warnings", "continue_nudge_applied", "continue_nudge_text", "names_behavior_applied",
    "trigger_filtered_entry_ids", "in_chat_inserted_entry_ids", "preprocessed_user_message",
}  # fmt: skip
"""The members that seed 002 and the recorded contract name, but for ``worldbook_matches``, which is asked for."""


def test_a_dry_run_has_every_member_of_the_contract() -> None:
    facts = Facts(metadata={"system_prompt": "{{setvar::gold::5}}{{if {{user}} == User}}Be kind.{{/if}}"}, prompt_mode="native")
    turn = prepared("Go on.", facts=facts, intent="continue", scope=scope("dry_run"))
    document = dry_run_document(turn, {"preset_id": "preset_001"}, with_matches=True)
    assert document["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Go on."},
        {"role": "user", "content": "[Continue your last message without repeating its original content.]"},
    ]
    assert document["token_estimate"] == turn.token_estimate == document["prompt_snapshot"]["token_estimate"]
    assert document["available_for_reply"] == 8192 - turn.token_estimate
    assert document["memory_summary"] is None
    assert document["assembly"].keys() == ASSEMBLY | {"worldbook_matches"}
    assert document["assembly"]["continue_nudge_applied"] is True
    snapshot = document["prompt_snapshot"]
    assert (snapshot["preset_id"], snapshot["worldbook_id"], snapshot["prompt_mode"]) == ("preset_001", None, "native")
    macro = document["runtime_trace"]["macro"]
    assert macro["used_names"] == ["setvar", "if", "user"]
    assert macro["mutation_preview"] == [{"kind": "set", "scope": "branch", "key": "gold", "value": "5"}]
    assert macro["staged_mutations"] == []
    assert {trace["phase"] for trace in macro["traces"]} == {"dry_run"}
    assert not any(name.startswith("macro_") for name in (*document["assembly"], *snapshot))
    assert document["runtime_trace"]["regex"]["preprocessed_user_message"] == "Go on."
    assert document["runtime_trace"]["worldbook"] == {"hit_count": 0, "matches": []}
    dumps(document)


def test_a_turn_that_commits_stages_what_its_macros_wrote() -> None:
    turn = prepared("Hi.", facts=Facts(metadata={"system_prompt": "{{setvar::bag::1}}Hi."}))
    assert runtime_trace(turn, is_kept=True)["macro"]["staged_mutations"] == [
        {"kind": "set", "scope": "branch", "key": "bag", "value": "1", "source_macro": "setvar"}
    ]


def test_a_trace_counts_tokens_by_group_and_says_what_went() -> None:
    history = [each for number in (1, 2) for each in (question("x" * 40, number), answer("y" * 40, number))]
    trace = runtime_trace(prepared("z", *history, policy=ResolvedPolicy(budget=BudgetPolicy(60, 10))), is_kept=False)
    groups = {group["group"]: group for group in trace["budgets"]["by_group"]}
    assert groups.keys() == {"section:main", "history", "user_message"}
    assert groups["history"] == {
        "group": "history",
        "token_count": 28,
        "estimated_token_count": 56,
        "allocated_token_count": 28,
        "pruned_token_count": 28,
    }
    (reason,) = trace["budgets"]["trim_reasons"]
    assert (reason["group"], reason["reason"], reason["pruned_token_count"]) == ("history", "budget_exceeded", 28)
    assert trace["source_selection"]["excluded_sources"][0]["reason"] == "budget_trimmed"


def test_structure_and_visibility_stand_in_a_trace_when_they_did_something() -> None:
    plain = runtime_trace(prepared("z", question("a", 1), answer("b", 1)), is_kept=False)
    assert not {"structure", "visibility", "source_selection"} & plain.keys()
    policy = ResolvedPolicy(
        structure=StructurePolicy("flattened"), visibility=VisibilityPolicy(hidden_floor_ranges=(FloorRange(2, 1),))
    )
    trace = runtime_trace(prepared("z", question("a", 1), answer("b", 1), answer("c", 3), policy=policy), is_kept=False)
    assert trace["structure"]["transcriptized"] is True
    assert trace["structure"]["transcript_message_count"] == 2
    assert trace["structure"]["assistant_prefill_transcriptized"] is False
    assert trace["visibility"]["filtered_floor_nos"] == [1]
    assert trace["visibility"]["hidden_floor_ranges"] == ({"start_floor_no": 2, "end_floor_no": 1},)
    assert trace["delivery"]["ends_with_user"] is True


def test_messages_are_shown_with_what_else_they_hold() -> None:
    turn = prepared(
        "z", question("a", 1, Text("a"), Media("image", "image/png", data="AAAA")), answer("", 1, ToolCall("c", "look"))
    )
    assert shown_messages(turn.messages)[1:3] == [
        {"role": "user", "content": "a", "parts": [{"type": "text"}, {"type": "image", "media_type": "image/png"}]},
        {"role": "assistant", "content": "", "parts": [{"type": "tool_call", "name": "look"}]},
    ]
    assert "AAAA" not in dumps(shown_messages(turn.messages)).decode()


def test_the_digest_names_the_messages() -> None:
    one, other = (prompt_snapshot(prepared(text))["prompt_digest"] for text in ("a", "b"))
    assert one == prompt_snapshot(prepared("a"))["prompt_digest"] != other
