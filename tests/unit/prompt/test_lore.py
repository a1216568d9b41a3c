"""Lore in ordered prompts: where each position stands, and what is told of it."""

from typing import Any

from agentui.assets.bundle import PromptAssets
from agentui.assets.character import Character
from agentui.assets.lorebook import BoundBook, Lorebook
from agentui.assets.persona import Persona
from agentui.assets.preset import PromptPreset
from agentui.jsonio import Json
from agentui.prompt.policy import ResolvedPolicy, SourceSelection, SourceSwitch
from agentui.prompt.prepared import PreparedTurn
from agentui.prompt.report import assembly, dry_run_document, prompt_snapshot, runtime_trace
from tests.unit.prompt.parts import Facts, answer, prepared, question, said

CHAT = (question("Hi.", 1), answer("Hello.", 1))
PLAIN: dict[str, Json] = {
    "new_chat_prompt": "",
    "new_example_chat_prompt": "",
    "prompts": [{"identifier": "main", "content": ""}],
}


def lore(content: str, position: int = 0, **more: Json) -> dict[str, Json]:
    """An entry that always joins."""
    return {"content": content, "position": position, "constant": True, **more}


def made(*entries: Json, preset: dict[str, Json] = PLAIN, card: dict[str, Json] | None = None, **more: Any) -> PreparedTurn:
    """The prompt of a turn with these entries in its book."""
    book = Lorebook.of({"name": "Harbour", "entries": {str(uid): each for uid, each in enumerate(entries)}})
    character = Character.of({"name": "Mira", **(card or {})})
    assets = PromptAssets(character, Persona.of({"name": "Ann"}), PromptPreset.of(preset), (BoundBook(book, "chat", "book-1"),))
    return prepared(more.pop("message", "Where is the pier?"), *more.pop("history", CHAT), assets=assets, **more)


SAID = [("user", "Hi."), ("assistant", "Hello."), ("user", "Where is the pier?")]


def test_entries_stand_around_the_card() -> None:
    turn = made(
        lore("B"),
        lore("A", order=1),
        lore("C", 1),
        preset={**PLAIN, "wi_format": "[{0}]"},
        card={"description": "{{char}} sails."},
    )
    assert said(turn) == [("system", "[A\nB]"), ("system", "Mira sails."), ("system", "[C]"), *SAID]


def test_entries_stand_within_the_chat() -> None:
    turn = made(lore("Deep, {{user}}.", 4, depth=1, role=1), lore("Top.", 2), facts=Facts(metadata={"note_prompt": "Note."}))
    assert said(turn) == [("system", "Top.\nNote."), *SAID[:2], ("user", "Deep, Ann."), SAID[2]]


def test_entries_stand_around_the_examples() -> None:
    turn = made(lore("Mira: Late.", 6), lore("Mira: Early.", 5), card={"mes_example": "Mira: Between."})
    assert said(turn) == [("system", "Early."), ("system", "Between."), ("system", "Late."), *SAID]


def test_outlets_are_read_by_their_names() -> None:
    preset: dict[str, Json] = {**PLAIN, "prompts": [{"identifier": "main", "content": "Know: {{outlet::port}}"}]}
    assert said(made(lore("The port is old.", 7, outletName="port"), preset=preset))[0] == ("system", "Know: The port is old.")


def test_the_policy_switches_lore_off() -> None:
    turn = made(lore("B"), policy=ResolvedPolicy(source_selection=SourceSelection(worldbook=SourceSwitch(False))))
    assert said(turn) == SAID
    assert turn.lore is None and runtime_trace(turn, is_kept=False)["worldbook"] == {"hit_count": 0}


def test_a_trace_tells_what_joined_and_why() -> None:
    turn = made(
        {"key": ["pier"], "content": "The pier is {{char}}'s.", "comment": "Pier", "order": 7},
        {"key": ["tower"], "content": "A tower."},
        lore("Deep.", 4, depth=3, role=2),
    )
    told = assembly(turn, with_matches=True)
    assert told["worldbook_hits"] == 2
    (match,) = [each for each in told["worldbook_matches"] if each["comment"] == "Pier"]
    assert match == {
        "uid": 0,
        "comment": "Pier",
        "order": 7,
        "activation_key": "worldbook:book-1:1:entry:0",
        "asset_scope_id": "worldbook:book-1:1",
        "source": {
            "kind": "session_worldbook",
            "worldbook_id": "book-1",
            "worldbook_name": "Harbour",
            "asset_scope_id": "worldbook:book-1:1",
        },
        "content_preview": "The pier is Mira's.",
        "insertion": {"position": "before"},
        "activation": {
            "mode": "triggered",
            "recursion_level": 0,
            "first_match": {
                "source_kind": "message",
                "message_index_from_latest": 0,
                "matched_key": "pier",
                "matched_key_scope": "primary",
                "matched_key_type": "plain",
                "char_start": 13,
                "char_end": 17,
                "excerpt": "Where is the pier?",
            },
        },
    }
    assert [each["insertion"] for each in told["worldbook_matches"] if each is not match] == [
        {"position": "at_depth", "depth": 3, "role": "assistant"}
    ]
    (unused,) = runtime_trace(turn, is_kept=False, with_matches=True)["worldbook"]["unused"]
    assert (unused["uid"], unused["reason"]) == (1, "no_match")
    snapshot = prompt_snapshot(turn)
    assert sorted(snapshot["worldbook_activated_entry_uids"]) == [0, 2]
    assert "worldbook_matches" not in dry_run_document(turn)["assembly"]


def test_lore_is_the_same_for_the_same_turn() -> None:
    entries = [lore(f"Entry {number}.", probability=50, useProbability=True) for number in range(20)]
    first, again = made(*entries), made(*entries)
    assert first.messages == again.messages
    assert first.lore is not None and 0 < len(first.lore.activated) < 20


def test_timed_effects_go_from_turn_to_turn() -> None:
    entries = ({"key": ["pier"], "content": "The pier.", "sticky": 5},)
    first = made(*entries)
    assert first.lore is not None and first.lore.timed
    later = (*CHAT, question("Where is the pier?", 2), answer("There.", 2), question("Oh.", 3), answer("Yes.", 3))
    assert ("system", "The pier.") in said(made(*entries, message="And now?", history=later, timed=first.lore.timed))
    assert ("system", "The pier.") not in said(made(*entries, message="And now?", history=later))


def test_keys_that_take_too_long_are_told() -> None:
    slow: dict[str, Json] = {"key": ["/(a|aa)+$/"], "content": "Slow."}
    turn = made(slow, {"key": ["/pi.r/"], "content": "The pier."}, message="The pier. " + "a" * 5000 + "b")
    assert ("system", "The pier.") in said(turn) and ("system", "Slow.") not in said(turn)
    (note,) = [note for note in turn.diagnostics if note.code == "lore_left_out"]
    assert note.source == "worldbook" and "'/(a|aa)+$/' among the keys" in note.message


def test_too_many_expressions_are_not_compiled_but_told() -> None:
    entries = [{"key": [f"/{number}{'x' * 30_000}|pier/"], "content": f"Entry {number}."} for number in range(12)]
    first, again = made(*entries), made(*entries)
    assert first.prompt_digest == again.prompt_digest, "compiling counts the same where it was done before"
    joined = [text for _, text in said(first) if "Entry" in text]
    assert joined and "Entry 11." not in joined[0]
    (note,) = [note for note in first.diagnostics if note.code == "lore_left_out"]
    assert "more among the keys" in note.message
