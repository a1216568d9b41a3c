"""What SillyTavern activated: its recordings (``tests/tavern/assembly``) with the same books, settings, chats and draws."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import pytest

from agentui.assets.lorebook import BoundBook, Lorebook, LoreSource
from agentui.lore.activation import activate
from agentui.lore.given import LoreInput, LoreMessage, LoreSettings
from agentui.lore.result import LoreResult
from tests.tavern.assembly.case import ANSWER, Case, cases, recorded

RECORDED = recorded()
OTHERS = {
    "a lore format without a place": "the format leaves lore out",
    "a marker switched off": "the preset leaves lore out",
    "around the examples": "examples are sent as messages",
    "examples with a start": "examples are sent as messages",
    "a filter of names": "SillyTavern compares names of files, agentui those of characters",
}
"""Cases in which what is sent is not what was activated, and why."""
CASES = [case for case in cases() if case.lore and not case.scripts["global"] and case.name not in OTHERS]


class Drawn:
    """Chance as SillyTavern had it: its draws in their order."""

    def __init__(self, draws: Sequence[float]) -> None:
        self._draws = iter(draws)

    def roll(self, subject: str) -> float:
        """The next draw."""
        return next(self._draws)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_entries_are_those_that_sillytavern_sent(case: Case) -> None:
    timed: Mapping[str, Any] = {}
    said = [LoreMessage(expanded(case, one["text"]), name_of(case, one)) for one in case.history if not one.get("hidden")]
    for turn, kept in zip(case.turns, RECORDED[case.name]["turns"], strict=True):
        if turn.get("message"):
            said.append(LoreMessage(turn["message"], case.persona["name"]))
        elif turn["type"] in ("regenerate", "swipe"):
            said.pop()
        result = activate(given(case, turn, said, timed, kept["draws"]))
        everything = "\n".join(message["content"] for message in kept["messages"])
        assert {one.content for one in result.activated if one.content} == sent(case, everything)
        assert all(block in everything for block in blocks(result))
        timed = result.timed
        said.append(LoreMessage(ANSWER, case.character["name"]))


def given(case: Case, turn: Any, said: list[LoreMessage], timed: Mapping[str, Any], draws: Sequence[float]) -> LoreInput:
    """The turn of a case, as the engine is given it."""
    character = case.character
    texts = {
        "persona_description": case.persona["description"],
        "character_description": character["description"],
        "character_personality": character["personality"],
        "character_depth_prompt": character["extensions"].get("depth_prompt", {}).get("prompt", ""),
        "scenario": character["scenario"],
        "creator_notes": character["creator_notes"],
    }
    sources: dict[LoreSource, str] = {kind: expanded(case, texts[kind]) for kind in get_args(LoreSource)}
    return LoreInput(
        [BoundBook(Lorebook.of({"name": one["name"], **one["book"]}), one["bound"]) for one in case.lore],
        LoreSettings.of(case.lore_settings),
        list(said),
        sources,
        injections(case, turn),
        character_name=character["name"],
        trigger=turn["type"],
        timed=timed,
        rolls=Drawn(draws),
        max_context=case.preset["openai_max_context"],
        expand=lambda text: expanded(case, text),
    )


def injections(case: Case, turn: Any) -> list[str]:
    """What is looked through besides the chat: ``/inject`` with ``scan``, and what a quiet turn asks."""
    injects = case.metadata.get("script_injects", {}).values()
    return [*(expanded(case, one["value"]) for one in injects if one["scan"]), *([turn["quiet"]] if turn.get("quiet") else [])]


def expanded(case: Case, text: str) -> str:
    """A text with the names in it."""
    return text.replace("{{char}}", case.character["name"]).replace("{{user}}", case.persona["name"])


def name_of(case: Case, one: Mapping[str, Any]) -> str:
    """Who said a message of a case."""
    return str(one.get("name") or (case.persona if one["role"] == "user" else case.character)["name"])


def sent(case: Case, everything: str) -> set[str]:
    """The contents of entries that are in what was sent."""
    contents = {expanded(case, entry.content) for one in case.lore for entry in Lorebook.of(one["book"]).entries}
    return {content for content in contents if content and content in everything}


def blocks(result: LoreResult) -> list[str]:
    """The texts that entries of one place come to, in their order."""
    before, after = result.at("before"), result.at("after")
    groups = [before, after, *result.outlets().values(), *(one.entries for one in result.depths())]
    return ["\n".join(one.content for one in group) for group in groups]
