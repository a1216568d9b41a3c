"""What live turns, dry runs and inspections tell a model of memories, and what they tell of that."""

from typing import Any

import pytest

from agentui.jsonio import dumps_text
from tests.memories.chat import Chat
from tests.memories.conftest import BeginChat

Json = Any
CROWN = "The silver crown lies buried under the old mill."
OATH = "Anna swore never to lie to the captain."
ASKED = "Where did they bury the silver crown?"


async def remember(chat: Chat, content: str, **fields: Json) -> str:
    """A memory of the chat, written by hand; its id."""
    body = {"scope": "chat", "scope_id": chat.session, "type": "fact", "content": content, **fields}
    item = await chat.asked("POST", "/memories", body)
    return str(item["id"])


async def dry_run(chat: Chat, message: str = ASKED, **fields: Json) -> Json:
    """What a turn would send."""
    return await chat.asked("POST", f"/sessions/{chat.session}/respond/dry-run", {"message": message, **fields})


def texts(prompt: Json) -> list[tuple[str, str]]:
    """Roles and texts of its messages."""
    return [(each["role"], each["content"]) for each in prompt["messages"]]


async def test_a_turn_is_told_what_it_asks_for_behind_what_is_cached(begin_chat: BeginChat) -> None:
    chat = await begin_chat(memory_consolidation=False)
    crown, oath = await remember(chat, CROWN), await remember(chat, OATH, pinned=True)
    for said in ("Good morning.", "Fine weather.", "Shall we go?"):
        await chat.respond(said)
    would = await dry_run(chat)
    done = await chat.respond(ASKED, debug_options={"include_runtime_trace": True})

    sent = texts(would)
    assert sent[1] == ("system", f"[Pinned Memory]\n- (fact) {OATH}")
    at = next(at for at, (_, text) in enumerate(sent) if CROWN in text)
    assert sent[at] == ("user", f"[Memory]\n- (fact) {CROWN}")
    assert len(sent) - 1 - at == 4
    told = would["memory"]
    assert would["memory_summary"] == told["summary_text"] == f"{sent[1][1]}\n\n{sent[at][1]}"
    chosen = [(each["memory_id"], each["selected_reason"], each["pinned"]) for each in told["selected_items"]]
    assert chosen == [(oath, "pinned", True), (crown, "words", False)]
    assert told["token_stats"]["used"] == sum(each["token_count"] for each in told["selected_items"]) <= 500
    assert would["assembly"]["memory_summary_injected"] is True
    assert '"memory"' in dumps_text(would["runtime_trace"]["budgets"])

    # The turn is told the same, keeps that it was, and notes what it used; the dry run noted nothing.
    traced = done["runtime_trace"]["memory"]
    assert traced["summary_text"] == told["summary_text"]
    kept = await chat.asked("GET", f"/floors/{done['floor_id']}/prompt-runtime/explain")
    assert kept["memory"]["summary_text"] == told["summary_text"]
    used = {item["id"]: item["last_used_at"] for item in await chat.every()}
    assert used[crown] == used[oath] is not None
    inspected = await chat.asked("POST", f"/sessions/{chat.session}/prompt-runtime/inspect", {"message": ASKED})
    assert inspected["prepared_turn"]["memory"]["summary_injected"] is True
    assert CROWN in inspected["prepared_turn"]["memory_summary"]


async def test_a_dry_run_notes_no_use_and_a_policy_reads_nothing(begin_chat: BeginChat) -> None:
    chat = await begin_chat(memory_consolidation=False)
    await remember(chat, CROWN, pinned=True)
    off = {"source_selection": {"memory": {"enabled": False}}}
    would = await dry_run(chat, **off)
    assert would["memory_summary"] is None
    assert would["memory"]["selected_items"] == []
    assert {"source": "memory", "reason": "disabled_by_policy"}.items() <= next(
        each for each in would["runtime_trace"]["source_selection"]["excluded_sources"] if each["source"] == "memory"
    ).items()
    assert (await dry_run(chat))["memory_summary"] is not None
    assert [item["last_used_at"] for item in await chat.every()] == [None]


@pytest.mark.parametrize(("memory", "sees"), [("off", []), ("incognito", [OATH]), ("on", [OATH, CROWN])])
async def test_a_session_says_what_it_reads(begin_chat: BeginChat, memory: str, sees: list[str]) -> None:
    chat = await begin_chat({"memory": memory}, memory="off")
    await remember(chat, CROWN)
    await remember(chat, OATH, pinned=True)
    everywhere = {"scope": "global", "scope_id": "global", "pinned": True}
    await remember(chat, "Every chat is told in verse.", **everywhere)
    told = (await dry_run(chat))["memory_summary"] or ""
    assert [text for text in (OATH, CROWN) if text in told] == sees
    assert ("verse" in told) is (memory == "on")


async def test_a_macro_is_the_place_where_a_text_has_one(begin_chat: BeginChat) -> None:
    chat = await begin_chat({"metadata": {"system_prompt": "You know: <{{memory}}>"}}, memory_consolidation=False)
    await remember(chat, f"{CROWN} {{{{setvar::gold::9}}}}")
    would = await dry_run(chat)
    assert texts(would)[0][1] == f"You know: <[Memory]\n- (fact) {CROWN} {{{{setvar::gold::9}}}}>"
    assert "".join(text for _, text in texts(would)).count(CROWN) == 1
    assert would["runtime_trace"]["macro"]["mutation_preview"] == []


@pytest.mark.parametrize("has_marker", [False, True])
async def test_a_preset_says_where_memories_stand(begin_chat: BeginChat, has_marker: bool) -> None:
    chat = await begin_chat(memory_consolidation=False)
    await remember(chat, CROWN)
    await remember(chat, OATH, pinned=True)
    order = ["main", *(["memory"] if has_marker else []), "chatHistory", "last"]
    written = [{"identifier": name, "content": f"The {name} prompt.", "role": "system"} for name in ("main", "last")]
    marks = [{"identifier": name, "marker": True} for name in ("memory", "chatHistory")]
    track = {"character_id": 100001, "order": [{"identifier": name, "enabled": True} for name in order]}
    data = {"prompts": [*written, *marks], "prompt_order": [track]}
    preset = await chat.asked("POST", "/presets", {"name": "p", "source": "sillytavern", "data": data})
    await chat.asked("PATCH", f"/sessions/{chat.session}", {"preset_id": preset["id"]})
    await chat.respond("Good morning.")
    await chat.respond("Fine weather.")
    would = await dry_run(chat)
    sent = [text for _, text in texts(would)]
    recalled = f"[Memory]\n- (fact) {CROWN}"
    pinned = f"[Pinned Memory]\n- (fact) {OATH}"
    if has_marker:
        assert sent[1] == f"{pinned}\n\n{recalled}"
    else:
        assert sent[1] == pinned
        assert sent.index(ASKED) - sent.index(recalled) == 4
    assert "".join(sent).count(CROWN) == 1
    assert would["assembly"]["unresolved_preset_markers"] == []


async def test_the_contract_has_sections_behind_the_first_text(begin_chat: BeginChat) -> None:
    chat = await begin_chat(memory_consolidation=False, memory_place="system", memory_form="dual")
    await remember(chat, CROWN, importance=0.9)
    await remember(chat, "Who stole the map?", type="open_loop", importance=0.8)
    await remember(chat, "They came to the mill.", type="summary", summary_tier="micro", importance=0.7)
    await remember(chat, "Of no weight.", importance=0.1)
    would = await dry_run(chat, "Hm.")
    sections = (
        f"[Memory Facts]\n- {CROWN}\n\n[Open Loops]\n- Who stole the map?\n\n[Recent Micro Summaries]\n- They came to the mill."
    )
    assert texts(would)[1] == ("system", sections)
    assert would["memory"]["strategy"] == "dual_summary"
    assert would["memory"]["scope_resolution"]["fallback_reason"] == "nothing_recalled"


async def test_what_does_not_fit_is_told(begin_chat: BeginChat) -> None:
    chat = await begin_chat(memory_consolidation=False, memory_budget=30)
    ids = {
        await remember(chat, f"The silver crown of king {name} is buried far away.")
        for name in ("Olaf", "Harald", "Sven", "Erik")
    }
    told = (await dry_run(chat))["memory"]
    assert 0 < told["token_stats"]["used"] <= 30
    chosen, left = ({each["memory_id"] for each in told[name]} for name in ("selected_items", "left_out"))
    assert (chosen | left, chosen & left) == (ids, set())
    assert {each["reason"] for each in told["left_out"]} <= {"budget", "duplicate"}


async def test_what_was_told_is_no_source(begin_chat: BeginChat) -> None:
    """The model that writes memories is not shown what the turn was reminded of."""
    chat = await begin_chat()
    await remember(chat, OATH, pinned=True)
    await chat.respond("Good morning.")
    await chat.ended("succeeded")
    asked = [str(each) for each in chat.scribe.asked]
    assert asked
    assert not any("[Pinned Memory]" in each for each in asked)
