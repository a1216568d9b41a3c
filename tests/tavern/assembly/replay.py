"""A case, played here: what our assembly makes of the same files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from agentui.assets.bundle import PromptAssets
from agentui.assets.character import Character
from agentui.assets.lorebook import BoundBook, Lorebook
from agentui.assets.persona import Persona
from agentui.assets.preset import PromptPreset
from agentui.assets.script import BoundScript, RegexScript
from agentui.chat.messages import Message
from agentui.jsonio import Json
from agentui.prompt.assembly import assemble
from agentui.prompt.history import HistoryEntry
from agentui.prompt.prepared import PromptInput, TurnMessage
from agentui.regexes.scripts import run_scripts
from agentui.templating.sillytavern.scope import MacroScope
from tests.tavern.assembly.case import ANSWER, Case
from tests.unit.prompt.parts import Facts

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ANEW = ("regenerate", "swipe")
"""Turns that make the last answer again: it is no part of their history."""


@dataclass(slots=True)
class Drawn:
    """The numbers that SillyTavern drew for its lorebooks, drawn again in the same order."""

    left: Iterator[float]

    def roll(self, subject: str) -> float:
        """The next number, whatever it decides."""
        drawn = next(self.left, None)
        if drawn is None:
            raise AssertionError(f"SillyTavern drew no number more, and here {subject!r} asks for one")
        return drawn


def played(case: Case, recorded: Sequence[Mapping[str, Any]]) -> Iterator[list[dict[str, str]]]:
    """The messages of each turn of a case, as they are recorded; of the recorded turns the numbers are used that were drawn."""
    history = list(case.history)
    assets = _assets(case)
    timed: Mapping[str, Json] = {}
    note = {f"note_{name}": value for name, value in case.note.items()}
    facts = Facts(metadata={**note, **case.metadata, **case.lore_settings})
    for turn, told in zip(case.turns, recorded, strict=True):
        kind = turn["type"]
        before = history[:-1] if kind in ANEW and history[-1]["role"] == "assistant" else history
        given = PromptInput(
            facts,
            MacroScope("assemble", NOW, random=Random(1)),
            history=tuple(_entries(before)),
            message=_message(turn, assets.scripts),
            intent=kind,
            window=case.preset["openai_max_context"],
            max_output_tokens=case.preset["openai_max_tokens"],
            assets=assets,
            goes_on=case.source == "claude",
            timed=timed,
            rolls=Drawn(iter(told["draws"])),
        )
        prepared = assemble(given)
        yield [_told(message) for message in prepared.messages]
        timed = prepared.lore.timed if prepared.lore is not None else {}
        if turn.get("message"):
            history.append({"role": "user", "text": turn["message"]})
        history.append({"role": "assistant", "text": ANSWER})


def sent(turn: Mapping[str, Any]) -> list[dict[str, str]]:
    """The messages of a recorded turn, with the beginning of the answer that SillyTavern's page sends apart."""
    begun = [{"role": "assistant", "content": turn["prefill"].rstrip()}] if turn.get("prefill") else []
    return [*turn["messages"], *begun]


def _assets(case: Case) -> PromptAssets:
    return PromptAssets(
        Character.of(case.character),
        Persona.of(case.persona),
        PromptPreset.of(case.preset),
        tuple(BoundBook(Lorebook.of({"name": one["name"], **one["book"]}), one["bound"]) for one in case.lore),
        tuple(
            BoundScript(RegexScript.of(script), origin, True)
            for origin in ("global", "character", "preset")
            for script in case.scripts[origin]
        ),
    )


def _entries(history: Sequence[Mapping[str, Any]]) -> Iterator[HistoryEntry]:
    """The history as it is stored: a floor for what a user says and what is answered, and one for a greeting."""
    floor = 0
    for number, one in enumerate(history):
        floor += one["role"] == "user"
        is_greeting = number == 0 and one["role"] == "assistant"
        yield HistoryEntry(
            f"floor-{floor}",
            floor,
            f"message-{number}",
            f"page-{number}",
            one["role"],
            one["text"],
            is_hidden=one.get("hidden", False),
            source="greeting" if is_greeting else None,
        )


def _message(turn: Mapping[str, Any], scripts: Sequence[BoundScript]) -> TurnMessage | None:
    """What is said in a turn, after the scripts that change what is kept."""
    if turn.get("quiet"):
        return TurnMessage(turn["quiet"])
    text = run_scripts(turn.get("message") or "", scripts, placement="user_input", channel="persist").text
    return TurnMessage(text) if text else None


def _told(message: Message) -> dict[str, str]:
    named = {"name": message.name} if message.name else {}
    return {"role": message.role, "content": message.text, **named}
