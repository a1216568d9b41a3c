"""What the prompts of committed floors were, and where two of them differ."""

from datetime import UTC, datetime
from typing import Any

from agentui.chats.parts import Content
from agentui.jsonio import Json, dumps_text
from agentui.library.bound import named_assets
from agentui.principal import DEFAULT_ACCOUNT
from agentui.prompt.assembly import assemble
from agentui.prompt.explain import PromptScope, explain_document
from agentui.prompt.prepared import PromptInput, TurnMessage
from agentui.prompt.report import prompt_snapshot
from agentui.prompt.section_runs import runs_of
from agentui.templating.sillytavern.scope import MacroScope
from agentui.turns.request import ChatFacts, Outcome, Reach, TurnRequest
from agentui.turns.rules import resolved
from tests.api.chats.conftest import Reader

NOW = datetime(2026, 1, 2, tzinfo=UTC)
WINDOWED = {"source_selection": {"history": {"mode": "windowed", "max_messages": 2}}}


async def said(reader: Reader, session: str, words: str, *, explained: bool = True, branch: str = "main") -> str:
    """A committed turn, with what is kept of its prompt; returns its floor."""
    request = TurnRequest(
        DEFAULT_ACCOUNT, f"run-{words}", session, branch, user=Content(words), history=lambda _: Reach(10_000)
    )
    turn = await reader.server.state.turns.begin(request)
    facts = turn.facts
    assert isinstance(facts, ChatFacts)
    resolution = resolved(facts.policies)
    given = PromptInput(facts, MacroScope("assemble", NOW), turn.past.entries, TurnMessage(words), policy=resolution.policy)
    prepared = assemble(given)
    scope = PromptScope(session, branch, True, None, branch, "existing_branch")
    document = explain_document(
        prepared, runs_of(prepared.sections), resolution, scope, named_assets(facts.bindings, ()), prompt_snapshot(prepared)
    )
    await turn.commit(
        Outcome(Content(f"re {words}"), 3, 4, summaries=("They met.",), explain=dumps_text(document) if explained else None)
    )
    floor_id: str = turn.place.floor_id
    return floor_id


async def explained(reader: Reader, floor_id: str) -> Json:
    answer = await reader.get(f"/floors/{floor_id}/prompt-runtime/explain")
    assert answer.status == 200, answer.text
    return answer.body["data"]


async def compared(reader: Reader, session: str, left: str, right: str) -> Any:
    body = {"left": {"floor_id": left}, "right": {"floor_id": right}}
    return await reader.post(f"/sessions/{session}/prompt-runtime/compare", body)


async def test_an_explanation_is_what_was_kept(reader: Reader) -> None:
    id = await reader.session_id(character_snapshot={"name": "Ada"})
    await said(reader, id, "one")
    await reader.patch(f"/sessions/{id}/prompt-runtime/policy", WINDOWED)
    floor_id = await said(reader, id, "two")
    told = await explained(reader, floor_id)
    assert set(told) == {
        "floor", "scope", "snapshot_available", "assets", "prompt_snapshot", "resolved_policy", "source_map", "governance",
        "trim_reasons", "excluded_sources", "section_stats", "sections", "omitted_sections", "first_included_no", "macro",
        "memory", "assembly", "runtime_trace", "generation", "diagnostics", "limitations", "result",
    }  # fmt: skip
    assert told["snapshot_available"] is True
    assert told["floor"] == {
        "id": floor_id,
        "session_id": id,
        "floor_no": 1,
        "branch_id": "main",
        "parent_floor_id": told["floor"]["parent_floor_id"],
        "state": "committed",
        "prompt_snapshot_created_at": told["floor"]["committed_at"],
        "committed_at": told["result"]["committed_at"],
    }
    assert told["scope"]["history_source_mode"] == "existing_branch"
    assert told["assets"]["character_card"] == {"id": None, "name": "Ada"}
    assert told["prompt_snapshot"]["prompt_digest"].startswith("sha256:")
    assert told["resolved_policy"]["source_selection"]["history"] == WINDOWED["source_selection"]["history"]
    assert told["source_map"]["source_selection"]["history"]["max_messages"] == "session_policy"
    assert {each["section_name"] for each in told["section_stats"]} >= {"main", "history"}
    assert {entry["source_kind"] for entry in told["governance"]["entries"]} >= {"history", "message"}
    assert set(told["macro"]) == {"warnings", "used_names", "mutation_preview", "staged_mutations", "traces"}
    assert told["result"]["generated_text"] == "re two"
    assert set(told["result"]) >= {"output_page_id", "assistant_message_id", "summaries", "verifier"}
    assert told["result"]["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    # What is changed now changes nothing of what was.
    await reader.patch(f"/sessions/{id}/prompt-runtime/policy", {"source_selection": None})
    assert await explained(reader, floor_id) == told


async def test_a_turn_whose_prompt_was_its_clients_is_explained_as_far_as_it_is_known(reader: Reader) -> None:
    id = await reader.session_id()
    told = await explained(reader, await said(reader, id, "one", explained=False))
    assert told["snapshot_available"] is False
    for name in ("assets", "resolved_policy", "trim_reasons", "excluded_sources", "section_stats", "governance", "memory"):
        assert told[name] is None
    assert told["source_map"] == {"history": {"source_branch_id": "main", "source_mode": "existing_branch"}}
    assert [(each["code"], each["field_path"], each["phase"]) for each in told["diagnostics"]] == [
        ("historical_snapshot_unavailable", "snapshot_available", "explain")
    ]
    assert len(told["limitations"]) == 2
    assert told["result"]["generated_text"] == "re one"


async def test_what_had_no_prompt_is_not_explained(reader: Reader) -> None:
    id = await reader.session_id(character_snapshot={"name": "Ada", "greeting": "Hello!"})
    [greeting] = (await reader.get(f"/floors?session_id={id}")).body["data"]
    answers = [
        await reader.get(f"/floors/{greeting['id']}/prompt-runtime/explain"),
        await reader.get("/floors/nobody/prompt-runtime/explain"),
        await reader.get(f"/floors/{await reader.floor_id(id, 5)}/prompt-runtime/explain"),
    ]
    assert [(answer.status, answer.code) for answer in answers] == [
        (404, "prompt_runtime_explain_not_found"),
        (404, "not_found"),
        (409, "invalid_state"),
    ]


async def test_two_floors_are_compared_by_what_was_kept(reader: Reader) -> None:
    id = await reader.session_id()
    left = await said(reader, id, "one")
    await reader.patch(f"/sessions/{id}/prompt-runtime/policy", {**WINDOWED, "budget": {"max_input_tokens": 2048}})
    right = await said(reader, id, "two")
    found = (await compared(reader, id, left, right)).body["data"]
    assert set(found) == {
        "left", "right", "scope_changes", "policy_changes", "asset_changes", "diagnostics_changes", "trim_changes",
        "exclusion_changes", "governance_changes", "section_changes", "message_changes", "macro_changes", "lore_changes",
        "tool_changes", "parameter_changes", "limitations",
    }  # fmt: skip
    assert found["left"] == {"floor_id": left, "snapshot_available": True}
    assert found["right"] == {"floor_id": right, "snapshot_available": True}
    changes = {change["path"]: change for change in found["policy_changes"]}
    assert changes["policy.resolved_policy.budget.max_input_tokens"] == {
        "path": "policy.resolved_policy.budget.max_input_tokens",
        "change_type": "added",
        "right": 2048,
    }
    assert changes["policy.source_map.budget.max_input_tokens"] == {
        "path": "policy.source_map.budget.max_input_tokens",
        "change_type": "changed",
        "left": "system_default",
        "right": "session_policy",
    }
    assert found["governance_changes"]
    assert (found["scope_changes"], found["asset_changes"]) == ([], [])
    assert len(found["limitations"]) == 2, "how the model was asked is not known of either"
    same = (await compared(reader, id, right, right)).body["data"]
    assert all(same[name] == [] for name in same if name.endswith("_changes"))


async def test_two_floors_are_compared_by_what_was_sent(reader: Reader) -> None:
    id = await reader.session_id(metadata={"system_prompt": "You are calm. {{user}} is here."})
    floors = []
    for words, changed, asked in (
        ("one", {"metadata": {"system_prompt": "You are evil. {{user}} is here."}}, {}),
        ("two", {}, {"generation_params": {"temperature": 0.3}}),
    ):
        answer = await reader.post(f"/sessions/{id}/respond", {"message": words, **asked})
        assert answer.status == 200, answer.text
        floors.append(answer.body["data"]["floor_id"])
        if changed:
            await reader.patch(f"/sessions/{id}", changed)
            await reader.call("PUT", f"/sessions/{id}/tool-permissions", {"enabled": True}, {})
    found = (await compared(reader, id, *floors)).body["data"]
    [main] = found["section_changes"]
    assert (main["name"], main["path"], main["change_type"]) == ("main", "sections.main", "changed")
    assert [main[side]["text"].split(".")[0] for side in ("left", "right")] == ["You are calm", "You are evil"]
    assert [(each["path"], each["change_type"]) for each in found["message_changes"]] == [
        ("messages.message", "changed"),
        ("messages.history.0-0", "added"),
    ]
    assert ("parameters.temperature", 0.3) in {(each["path"], each["right"]) for each in found["parameter_changes"]}
    assert found["limitations"] == []


async def test_the_history_of_two_branches_is_compared_by_its_texts(reader: Reader) -> None:
    id = await reader.session_id()
    source = await said(reader, id, "one")
    for branch, words in (("left", "Go left"), ("right", "Go right")):
        made = await reader.post(f"/floors/{source}/branch", {"branch_id": branch})
        assert made.status in (200, 201), made.text
        await said(reader, id, words, branch=branch)
    left, right = [await said(reader, id, "And now?", branch=branch) for branch in ("left", "right")]
    changes = (await compared(reader, id, left, right)).body["data"]["message_changes"]
    told = [(change["path"], change["left"]["text"], change["right"]["text"]) for change in changes]
    assert told == [
        ("messages.history.1.user", "Go left", "Go right"),
        ("messages.history.1.assistant", "re Go left", "re Go right"),
    ]
    # A floor that was swiped in its place is known to have been another one.
    again = await said(reader, id, "And now?", branch="left")
    floors = (await reader.get(f"/floors?session_id={id}&branch_id=left")).body["data"]
    first = next(floor["id"] for floor in floors if floor["floor_no"] == 1)
    swiped = await reader.server.state.turns.begin(
        TurnRequest(DEFAULT_ACCOUNT, "run-swipe", kind="retry_turn", target_floor_id=first)
    )
    await swiped.commit(Outcome(Content("Otherwise.")))
    last = await said(reader, id, "And now?", branch="left")
    changes = (await compared(reader, id, again, last)).body["data"]["message_changes"]
    assert [change["path"] for change in changes] == ["messages.history.3-3", "messages.history.1"]
    assert changes[1]["left"]["text"] is None


async def test_a_floor_without_a_snapshot_is_not_compared(reader: Reader) -> None:
    id = await reader.session_id()
    left, right = await said(reader, id, "one", explained=False), await said(reader, id, "two")
    found = (await compared(reader, id, left, right)).body["data"]
    assert (found["left"]["snapshot_available"], found["right"]["snapshot_available"]) == (False, True)
    assert all(found[name] == [] for name in found if name.endswith("_changes"))
    assert [left in text for text in found["limitations"]] == [True]


async def test_floors_that_cannot_be_compared_are_refused(reader: Reader) -> None:
    id, other = await reader.session_id(), await reader.session_id()
    mine, theirs = await said(reader, id, "one"), await said(reader, other, "two")
    draft = await reader.floor_id(id, 5)
    for session, left, right, status, code in [
        (id, mine, theirs, 404, "not_found"),
        (id, "nobody", mine, 404, "not_found"),
        ("nobody", mine, mine, 404, "not_found"),
        (id, mine, draft, 409, "invalid_state"),
        (id, mine, "", 400, "validation_error"),
    ]:
        answer = await compared(reader, session, left, right)
        assert (answer.status, answer.code) == (status, code), answer.text
    assert (await reader.post(f"/sessions/{id}/prompt-runtime/compare", {})).code == "validation_error"


async def test_a_live_turn_obeys_the_policy_and_keeps_what_it_sent(reader: Reader) -> None:
    """Over HTTP from end to end: the words of the policy, the prompt, and what is told of it afterwards."""
    id = await reader.session_id()
    runtime = f"/sessions/{id}/prompt-runtime"
    floors = []
    for words in ("one", "two"):
        answer = await reader.post(f"/sessions/{id}/respond", {"message": words})
        assert answer.status == 200, answer.text
        floors.append(answer.body["data"]["floor_id"])
        await reader.patch(f"{runtime}/policy", {**WINDOWED, "delivery": {"no_assistant": True}})
    first, second = [await explained(reader, floor_id) for floor_id in floors]
    assert first["resolved_policy"]["delivery"]["no_assistant"] is False
    assert second["resolved_policy"]["structure"]["mode"] == "no_assistant"
    assert second["source_map"]["delivery"]["no_assistant"] == "session_policy"
    assert second["prompt_snapshot"]["prompt_mode"] == "compat_strict"
    assert [each["why"] for each in second["sections"] if each["group"] == "history"] == [None]
    assert any(each["text"] == "two" for each in second["sections"])
    inspected = await reader.post(f"{runtime}/inspect", {"message": "three"})
    assert inspected.body["data"]["policy"] == second["resolved_policy"]
    found = (await compared(reader, id, *floors)).body["data"]
    assert "policy.resolved_policy.structure.mode" in {change["path"] for change in found["policy_changes"]}
