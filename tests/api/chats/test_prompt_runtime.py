"""What a prompt would be, and what it was: previews, inspections, explanations and comparisons."""

from typing import Any

import pytest

from agentui.chats.parts import Content
from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT
from agentui.turns.request import Outcome, TurnRequest
from tests.api.chats.conftest import Reader

OVERRIDES: dict[str, Json] = {
    "budget": {"max_input_tokens": 4096, "reserved_completion_tokens": 1024},
    "source_selection": {"history": {"mode": "windowed", "max_messages": 24}, "examples": {"enabled": False}},
}
"""What a request of seed 001 brings."""


async def said(
    reader: Reader, session: str, *words: str, branch: str | None = None, source: str | None = None, **variables: Json
) -> str:
    """A committed turn with each of these words; returns the last floor."""
    floor_id = ""
    for word in words:
        request = TurnRequest(DEFAULT_ACCOUNT, f"run-{word}", session, branch, user=Content(word), source_floor_id=source)
        turn = await reader.server.state.turns.begin(request)
        for key, value in variables.items():
            turn.staged().stage("branch", key, value)
        await turn.commit(Outcome(Content(f"re {word}"), 1, 1))
        floor_id = turn.place.floor_id
    return floor_id


async def asked(reader: Reader, session: str, what: str, **body: Json) -> Json:
    answer = await reader.post(f"/sessions/{session}/prompt-runtime/{what}", body)
    assert answer.status == 200, answer.text
    return answer.body["data"]


async def everything(reader: Reader, session: str) -> list[Any]:
    """What the API tells of a session and its variables, to see that nothing was written."""
    paths = [f"/sessions/{session}/timeline", f"/sessions/{session}/branches", f"/floors?session_id={session}", "/variables"]
    return [(await reader.get(path)).body for path in paths]


async def test_a_preview_is_that_of_the_seed(reader: Reader) -> None:
    id = await reader.session_id()
    await said(reader, id, "one", "two", "three")
    before = await everything(reader, id)
    shown = await asked(
        reader,
        id,
        "preview",
        text="{{setvar::资产.金币::3}}{{getvar::资产}}",
        branch_id="main",
        visibility={"mode": "allow_all_except_hidden", "hidden_floor_ranges": [{"start_floor_no": 0, "end_floor_no": 1}]},
        **OVERRIDES,
    )
    assert set(shown) == {
        "scope", "policy", "source_map", "text", "runtime_trace", "memory", "diagnostics", "limitations",
    }  # fmt: skip
    assert shown["text"] == '{"金币":"3"}'
    assert shown["policy"]["budget"] == OVERRIDES["budget"]
    assert shown["source_map"]["budget"] == dict.fromkeys(OVERRIDES["budget"], "request_override")
    assert shown["source_map"]["visibility"]["hidden_floor_ranges"] == "request_override"
    trace = shown["runtime_trace"]
    assert set(trace) == {"macro", "source_selection", "visibility", "history_normalization"}
    assert trace["macro"]["mutation_preview"] == [{"kind": "set", "scope": "branch", "key": "资产", "value": '{"金币":"3"}'}]
    assert trace["macro"]["staged_mutations"] == []
    assert trace["macro"]["used_names"] == ["setvar", "getvar"]
    assert {each["phase"] for each in trace["macro"]["traces"]} == {"preview"}
    assert trace["macro"]["warnings"][0]["code"] == "macro_preview_side_effect_suppressed"
    assert trace["visibility"]["filtered_floor_nos"] == [0, 1]
    assert [(each["source"], each["reason"]) for each in trace["source_selection"]["excluded_sources"]] == [
        ("history", "visibility_filtered"),
        ("examples", "disabled_by_policy"),
    ]
    assert (shown["memory"]["runtime_mode"], bool(shown["memory"]["scope_resolution"])) == ("disabled", True)
    assert shown["limitations"]
    assert shown["diagnostics"] == []
    assert await everything(reader, id) == before


async def test_a_preview_reads_what_the_prompt_would_read(reader: Reader) -> None:
    id = await reader.session_id(character_snapshot={"name": "Ada"}, user_snapshot={"name": "Finn"}, prompt_mode="native")
    await said(reader, id, "first", "second", gold=4)
    text = (
        "{{char}} {{user}} {{.gold}} {{lastUserMessage}} {{lastCharMessage}} {{runKind}} {{lastGenerationType}} {{promptMode}}"
    )
    assert (await asked(reader, id, "preview", text=text))["text"] == "Ada Finn 4 second re second dry_run dry_run native"
    hidden = {"hidden_floor_ranges": [{"start_floor_no": 2, "end_floor_no": 0}]}
    assert (await asked(reader, id, "preview", text="[{{lastMessage}}]", visibility=hidden))["text"] == "[]"
    numbers = await asked(reader, id, "preview", text="{{maxContext}} {{maxPrompt}}", budget=OVERRIDES["budget"])
    assert numbers["text"] == "4096 3072"


async def test_a_branch_that_is_not_there_yet_is_previewed_as_a_turn_would_fork_it(reader: Reader) -> None:
    id = await reader.session_id()
    early = await said(reader, id, "one", gold=1)
    await said(reader, id, "two", gold=2)
    side = await said(reader, id, "side", branch="side", source=early, gold=7)
    text = "{{.gold}} {{lastUserMessage}}"

    pending = await asked(reader, id, "preview", text=text, branch_id="new")
    assert pending["text"] == "2 two"
    assert pending["scope"] == {
        "session_id": id,
        "target_branch_id": "new",
        "branch_exists": False,
        "source_floor_id": None,
        "history_source_branch_id": "main",
        "history_source_mode": "main_fallback",
    }
    assert [(each["code"], each["severity"], each["source"], each["phase"]) for each in pending["diagnostics"]] == [
        ("unmaterialized_branch_preview", "info", "branch", "preview")
    ]
    assert (await asked(reader, id, "preview", text=text, branch_id="new", source_floor_id=early))["text"] == "1 one"
    forked = await asked(reader, id, "preview", text=text, branch_id="new", source_floor_id=side)
    assert forked["text"] == "7 side"
    assert forked["scope"] == {
        "session_id": id,
        "target_branch_id": "new",
        "branch_exists": False,
        "source_floor_id": side,
        "history_source_branch_id": "side",
        "history_source_mode": "source_floor_branch",
    }
    existing = await asked(reader, id, "preview", text=text, branch_id="side", source_floor_id=early)
    assert (existing["text"], existing["scope"]["history_source_mode"]) == ("7 side", "existing_branch")
    assert [each["code"] for each in existing["diagnostics"]] == ["source_floor_ignored"]
    assert existing["source_map"]["history"] == {"source_branch_id": "side", "source_mode": "existing_branch"}


async def test_an_inspection_tells_all_of_a_prompt(reader: Reader) -> None:
    id = await reader.session_id(character_snapshot={"name": "Ada"}, model_params={"temperature": 0.2, "top_p": 0.5})
    source = await said(reader, id, "one", "two", gold=4)
    before = await everything(reader, id)
    body: dict[str, Json] = {
        "message": "Please continue the campfire scene. {{char}}",
        "branch_id": "alt-branch",
        "source_floor_id": source,
        "prompt_intent": "continue",
        "generation_params": {"max_output_tokens": 256, "temperature": 0.7},
        "session_state_writes": [{"namespace": "quest_flags", "slot": "companion", "value": {"mood": "ally"}}],
        "config": {"enableDirector": True},
        "debug_options": {"include_runtime_trace": True},
    }
    seen = await asked(reader, id, "inspect", **body, **OVERRIDES)
    assert set(seen) == {
        "scope", "mode", "policy", "source_map", "history_normalization", "diagnostics", "trim_reasons", "excluded_sources",
        "section_stats", "limitations", "prepared_turn", "governance",
    }  # fmt: skip
    assert (seen["scope"]["branch_exists"], seen["scope"]["source_floor_id"]) == (False, source)
    assert seen["mode"]["effective_prompt_mode"] == "compat_strict"
    assert seen["policy"]["source_selection"]["history"] == {"mode": "windowed", "max_messages": 24}
    assert seen["policy"]["debug"]["include_runtime_trace"] is True
    assert seen["source_map"]["debug"]["include_runtime_trace"] == "request_override"
    assert {each["code"] for each in seen["diagnostics"]} == {"unmaterialized_branch_inspect"}
    assert {each["section_name"] for each in seen["section_stats"]} >= {"main", "history"}
    assert seen["governance"]["mismatches"] == []
    assert {entry["source_kind"] for entry in seen["governance"]["entries"]} >= {"history", "message"}
    turn = seen["prepared_turn"]
    assert set(turn) == {
        "messages", "token_estimate", "available_for_reply", "preprocessed_user_message", "prompt_snapshot", "runtime_trace",
        "sections", "memory", "memory_summary", "generation_params", "requested_turn_config", "turn_config",
        "session_state_writes", "contributors", "prepare_phase_trace",
    }  # fmt: skip
    told = [message["content"] for message in turn["messages"]]
    assert told[1:5] == ["one", "re one", "two", "re two"]
    assert any(text.startswith("Please continue the campfire scene. {{char}}") for text in told)
    assert turn["token_estimate"] + turn["available_for_reply"] == 4096
    assert turn["preprocessed_user_message"] == body["message"]
    assert turn["prompt_snapshot"]["prompt_digest"].startswith("sha256:")
    assert turn["prompt_snapshot"]["token_estimate"] == turn["token_estimate"]
    assert turn["runtime_trace"]["budgets"]["by_group"]
    assert turn["generation_params"] == {"temperature": 0.7, "top_p": 0.5, "max_output_tokens": 256}
    assert turn["requested_turn_config"] == {"enableDirector": True}
    assert (turn["turn_config"]["enableDirector"], turn["turn_config"]["toolMode"]) == (True, "inline")
    assert turn["session_state_writes"] == {
        "total": 1,
        "writes": [{"namespace": "quest_flags", "slot": "companion", "operation": "set"}],
    }
    assert (turn["contributors"], turn["memory_summary"], turn["memory"]["summary_injected"]) == ([], None, False)
    assert [each["phase"] for each in turn["prepare_phase_trace"]] == [
        "conversation_resolve", "source_resolve", "assemble", "materialize", "inspect",
    ]  # fmt: skip
    assert await everything(reader, id) == before


async def test_a_policy_that_is_kept_shapes_the_prompt(reader: Reader) -> None:
    id = await reader.session_id()
    await said(reader, id, "one", "two")
    policy = {"source_selection": {"history": {"mode": "windowed", "max_messages": 2}}}
    assert (await reader.patch(f"/sessions/{id}/prompt-runtime/policy", policy)).status == 200
    overlay = {"delivery": {"no_assistant": True}}
    assert (await reader.patch(f"/sessions/{id}/prompt-runtime/branches/main/policy", overlay)).status == 200
    seen = await asked(reader, id, "inspect", message="three")
    sent = [(message["role"], message["content"]) for message in seen["prepared_turn"]["messages"]]
    assert ("user", "one") not in sent
    assert "assistant" not in {role for role, _ in sent}
    assert any("re two" in text for _, text in sent)
    whole = await asked(reader, id, "inspect", message="three", source_selection={"history": {"mode": "full"}})
    assert any("one" in message["content"] for message in whole["prepared_turn"]["messages"])
    assert whole["source_map"]["source_selection"]["history"]["mode"] == "request_override"


@pytest.mark.parametrize("what", ["preview", "inspect"])
async def test_what_cannot_be_looked_at_is_refused(reader: Reader, what: str) -> None:
    id, other = await reader.session_id(), await reader.session_id()
    foreign = await said(reader, other, "theirs")
    draft = await reader.floor_id(id, 0)
    words: dict[str, Json] = {"text": "x", "message": "x"}
    refused: list[tuple[str, dict[str, Json], int, str]] = [
        ("nobody", {}, 404, "session_not_found"),
        (id, {"branch_id": "new", "source_floor_id": "nobody"}, 404, "source_floor_not_found"),
        (id, {"source_floor_id": foreign}, 404, "source_floor_not_found"),
        (id, {"branch_id": "new", "source_floor_id": draft}, 409, "invalid_state"),
        (id, {"text": "", "message": ""}, 400, "validation_error"),
        (id, {"branch_id": "b" * 101}, 400, "validation_error"),
        (id, {"structure": {"merge_adjacent_same_role": True}}, 400, "validation_error"),
    ]
    for session, more, status, code in refused:
        answer = await reader.post(f"/sessions/{session}/prompt-runtime/{what}", {**words, **more})
        assert (answer.status, answer.code) == (status, code), (more, answer.text)
    await reader.patch(f"/sessions/{id}", {"status": "archived"})
    answer = await reader.post(f"/sessions/{id}/prompt-runtime/{what}", words)
    assert (answer.status, answer.code) == (409, "session_archived")


@pytest.mark.parametrize(
    "write",
    [
        {"namespace": "a", "slot": "b"},
        {"namespace": "a", "slot": "b", "value": 1, "delete": True},
        {"namespace": "A b", "slot": "b", "value": 1},
        {"namespace": "a", "slot": "", "value": 1},
        {"namespace": "a", "slot": "b", "delete": False},
    ],
)
async def test_a_write_to_the_session_state_says_one_thing(reader: Reader, write: Json) -> None:
    id = await reader.session_id()
    answer = await reader.post(f"/sessions/{id}/prompt-runtime/inspect", {"message": "x", "session_state_writes": [write]})
    assert (answer.status, answer.code) == (400, "validation_error"), answer.text
