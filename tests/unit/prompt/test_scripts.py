"""Regex scripts in ordered prompts: which texts they change, and what is told of them."""

from hashlib import sha256
from typing import Any

from agentui.assets.bundle import PromptAssets
from agentui.assets.character import Character
from agentui.assets.lorebook import BoundBook, Lorebook
from agentui.assets.preset import PromptPreset
from agentui.assets.script import BoundScript, RegexScript
from agentui.jsonio import Json
from agentui.prompt.explain import MOST_TRACES
from agentui.prompt.prepared import PreparedTurn
from agentui.prompt.report import assembly, kept_report, prompt_snapshot, runtime_trace
from agentui.prompt.section_runs import runs_of
from tests.unit.prompt.parts import answer, prepared, question, said

CHAT = (question("old red boat", 1), answer("A red sail.", 1))


def script(find: str, replace: str, *placement: int, **more: Json) -> BoundScript:
    """A script for prompts."""
    content: dict[str, Json] = {
        "scriptName": find,
        "findRegex": find,
        "replaceString": replace,
        "placement": list(placement),
        "promptOnly": True,
    }
    return BoundScript(RegexScript.of({**content, **more}))


def made(*scripts: BoundScript, **more: Any) -> PreparedTurn:
    """The prompt of a turn with these scripts."""
    book = Lorebook.of({"entries": {"0": {"content": "A red lamp.", "constant": True}}})
    preset = PromptPreset.of({"new_chat_prompt": "", "prompts": [{"identifier": "main", "content": ""}], "names_behavior": 2})
    assets = PromptAssets(Character.of({"name": "Mira"}), None, preset, (BoundBook(book),), scripts)
    return prepared("my red boat", *CHAT, assets=assets, **more)


def test_scripts_change_messages_and_lore_before_names() -> None:
    turn = made(script("/red/g", "{{char}}'s", 1, 2), script("/lamp/", "light", 5))
    assert said(turn) == [
        ("system", "A red light."),
        ("user", "User: old Mira's boat"),
        ("assistant", "Mira: A Mira's sail."),
        ("user", "User: my Mira's boat"),
    ]
    assert turn.preprocessed_user_message == "my Mira's boat"


def test_depths_count_from_the_last_message() -> None:
    near = script("/red/", "blue", 1, 2, maxDepth=0)
    assert [text for _, text in said(made(near))][1:] == ["User: old red boat", "Mira: A red sail.", "User: my blue boat"]
    assert "blue" in said(made(near, intent="continue"))[2][1], "the message that is continued is not counted"


def test_what_became_of_scripts_is_told() -> None:
    kept = script("/boat/", "ship", 1, promptOnly=False)
    off = script("/boat/g", "ship", 1, disabled=True)
    waiting = BoundScript(
        RegexScript.of({"findRegex": "a", "placement": [1], "promptOnly": True}), "character", is_allowed=False
    )
    turn = made(script("/red/", "blue", 1, 2), kept, off, waiting)
    told = runtime_trace(turn, is_kept=False)["regex"]
    assert told["user_input_rules"] == ["/red/", "/boat/"] and told["ai_output_rules"] == ["/red/"]
    assert told["preprocessed_user_message"] == "my blue boat"
    phases = [
        (phase["phase_id"], phase["placement"], each["rule_name"], each["status"], each["reason"], each["text_count"])
        for phase in told["phases"]
        for each in phase["rules"]
    ]
    assert phases == [
        ("prompt.user_input", 1, "/red/", "matched", None, 2),
        ("prompt.user_input", 1, "/boat/", "skipped", "channel_filtered", 2),
        ("prompt.user_input", 1, "", "skipped", "not_allowed", 2),
        ("prompt.ai_output", 2, "/red/", "matched", None, 1),
    ]
    first, second = told["phases"]
    # Depth and hashes are those of the newest text of the kind.
    seen = [(phase["depth"], phase["input_text_hash"], phase["output_text_hash"]) for phase in (first, second)]
    texts = (0, "my red boat", "my blue boat"), (1, "A red sail.", "A blue sail.")
    assert seen == [(depth, *(f"sha256:{sha256(text.encode()).hexdigest()}" for text in some)) for depth, *some in texts]
    assert first["candidate_rule_names"] == ["/red/", "/boat/", ""]
    assert (first["matched_rule_names"], first["changed"]) == (["/red/"], True)
    assert first["skipped_rules"][0] == {"rule_name": "/boat/", "reason": "channel_filtered"}
    assert prompt_snapshot(turn)["regex_pre_rule_names"] == assembly(turn)["regex_pre_rules"] == ["/red/", "/boat/"]


def test_what_is_kept_of_many_scripts_is_bounded() -> None:
    turn = made(*(script(f"/red{number}/", "blue", 1, 2) for number in range(2 * MOST_TRACES)))
    told = kept_report(turn, runs_of(turn.sections))["runtime_trace"]["regex"]
    assert {len(told[name]) for name in ("user_input_rules", "ai_output_rules")} == {MOST_TRACES}
    assert sum(len(phase["rules"]) for phase in told["phases"]) == MOST_TRACES
    kept = prompt_snapshot(turn, most=MOST_TRACES)
    assert len(kept["regex_pre_rule_names"]) == len(kept["regex_post_rule_names"]) == MOST_TRACES
    assert len(prompt_snapshot(turn)["regex_pre_rule_names"]) == 2 * MOST_TRACES


def test_an_expression_that_takes_too_long_leaves_the_text() -> None:
    turn = made(script("/(a+)+b/", "x", 1), script("/red/", "blue", 1))
    assert said(turn)[-1] == ("user", "User: my blue boat")
    assert not turn.diagnostics


def test_what_searching_took_too_long_for_is_told() -> None:
    slow = script("/(a|aa)+$/", "x", 1)
    preset = PromptPreset.of({"prompts": [{"identifier": "main", "content": ""}]})
    turn = prepared("a" * 5000 + "b", *CHAT, assets=PromptAssets(preset=preset, scripts=(slow, script("/red/", "blue", 1))))
    (note,) = [note for note in turn.diagnostics if note.code == "scripts_left_out"]
    assert note.source == "regex" and "'/(a|aa)+$/' left 1 text(s)" in note.message
