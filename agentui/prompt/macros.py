"""The macros of a prompt: what the session and the turn tell them, and the one run that replaces them all.

Macros are replaced in texts that somebody wrote for the prompt (sections, greetings), never in what was said: messages and
history are data.
"""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final, cast

from agentui.jsonio import Json
from agentui.prompt.history import HistoryEntry
from agentui.prompt.modes import resolve_mode
from agentui.prompt.prepared import PromptInput, SessionFacts
from agentui.prompt.told import ToldGreetings, ToldTexts
from agentui.templating.sillytavern.run import MacroReport, MacroRun
from agentui.templating.sillytavern.scope import MacroScope, MacroTrace, MacroWarning

DEFAULT_SYSTEM: Final = "You are a helpful assistant."
EMPTY: Final[Mapping[str, Json]] = {}

_CHARACTER: Final[Mapping[str, tuple[str, ...]]] = {
    "description": ("description",),
    "personality": ("personality",),
    "scenario": ("scenario",),
    "charPrompt": ("system_prompt",),
    "charInstruction": ("post_history_instructions",),
    "charDepthPrompt": ("depth_prompt",),
    "charVersion": ("character_version",),
    "charAuthorsNote": ("creator_notes",),
    "mesExamples": ("mes_example", "message_example"),
    "mesExamplesRaw": ("mes_example", "message_example"),
}
"""The macros that a character's snapshot tells, by the members that hold them (a card's names)."""
_USER: Final = {"persona": ("persona", "description")}
_METADATA: Final = {
    "systemPrompt": ("system_prompt", "systemPrompt"),
    "authorsNote": ("note_prompt", "authors_note", "authorsNote"),
}


def names_of(session: SessionFacts) -> dict[str, str]:
    """The texts of the macros that a session tells by itself: ``{{char}}``, ``{{user}}`` and what its snapshots hold. What they
    do not hold is left out."""
    character, user, metadata = session.character_snapshot or {}, session.user_snapshot or {}, session.metadata
    char, name = text_member(character, "nickname", "name") or "Assistant", text_member(user, "name") or "User"
    values = {"char": char, "user": name, "group": char, "groupNotMuted": char, "notChar": name}
    for members, snapshot in ((_CHARACTER, character), (_USER, user), (_METADATA, metadata)):
        for macro, keys in members.items():
            text = text_member(snapshot, *keys)
            if text:
                values[macro] = text
    values["promptMode"] = resolve_mode(session.prompt_mode, metadata).effective_prompt_mode
    values["defaultSystemPrompt"] = DEFAULT_SYSTEM
    return values


def text_member(document: Mapping[str, Json], *names: str) -> str:
    """The first of these members that is a text which says something, else ""."""
    return next((value for name in names if isinstance(value := document.get(name), str) and value.strip()), "")


def greetings_of(session: SessionFacts) -> tuple[str, ...]:
    """The character's greetings, as ``{{charFirstMessage::1}}`` counts them."""
    character = session.character_snapshot or {}
    others = character.get("alternate_greetings")
    first = text_member(character, "greeting", "first_mes", "first_message")
    rest = [text for text in others if isinstance(text, str)] if isinstance(others, list | tuple) else []
    return (first, *rest) if first or rest else ()


def idle_of(history: Sequence[HistoryEntry], now: datetime) -> timedelta | None:
    """How long ago the user last said something; None where nobody knows."""
    said = next((entry for entry in reversed(history) if entry.role == "user" and entry.created_at is not None), None)
    return None if said is None or said.created_at is None else now - datetime.fromtimestamp(said.created_at / 1000, UTC)


class PromptMacros:
    """Replaces the macros of one prompt: what one text writes, the next ones read. ``visible`` is the history that counts."""

    def __init__(self, given: PromptInput, visible: Sequence[HistoryEntry], window: int, reserved: int) -> None:
        values = {
            **names_of(given.session),
            **_names_in(given),
            **_told_by_turn(given, visible, window, reserved),
            **given.scope.values,
        }
        scope = given.scope
        idle = idle_of(visible, scope.now) if scope.idle is None else scope.idle
        self._texts = ToldTexts(values, self._expanded, self._warn_of_cycle)
        self._greetings = ToldGreetings(scope.greetings or _greetings(given), self._expanded)
        self.scope = replace(scope, values=self._texts, greetings=self._greetings, idle=idle)
        self._run = MacroRun(self.scope)
        self._is_first_turn = not given.is_cut and all(each.source == "greeting" for each in visible)

    @property
    def report(self) -> MacroReport:
        """What was noticed, and what is to be written."""
        return self._run.report

    @property
    def settled_scope(self) -> MacroScope:
        """What the prompt's macros read, for others that read it afterwards. What nobody has read yet writes nothing."""
        expand = MacroRun(replace(self.scope, phase="commit_consume")).expand
        return replace(self.scope, values=self._texts.settled(expand), greetings=self._greetings.settled(expand))

    def tell(self, values: Mapping[str, str]) -> None:
        """What more the texts that come after this may read, by the macros' names."""
        self._texts.tell(values)

    def tell_raw(self, values: Mapping[str, str]) -> None:
        """The same of texts with macros: these are replaced when they are first read."""
        self._texts.tell_raw(values)

    def _expanded(self, text: str) -> str:
        return self._run.expand(text)

    def _warn_of_cycle(self, name: str) -> None:
        message = f"The text of '{name}' holds itself: there it is nothing."
        self.report.warnings.append(MacroWarning("macro_cycle_detected", message, name))

    def tell_outlets(self, outlets: Mapping[str, str]) -> None:
        """What ``{{outlet::name}}`` gives to the texts that come after this."""
        self.scope = replace(self.scope, outlets={**self.scope.outlets, **outlets})
        self._run.context = self.scope

    def expand(
        self, text: str, values: Mapping[str, str] = EMPTY, plain: Mapping[str, Json] = EMPTY
    ) -> tuple[str, tuple[MacroTrace, ...]]:
        """A section's text with its macros replaced, and what became of each. ``values`` and ``plain`` are told to this text
        alone, as a scope's are."""
        before = len(self.report.traces)
        if values or plain:
            scope = self.scope
            self._run.context = replace(
                scope, values=ChainMap(dict(values), cast(dict[str, str], self._texts)), plain={**scope.plain, **plain}
            )
        expanded = self._run.expand(text)
        self._run.context = self.scope
        return expanded, tuple(self.report.traces[before:])

    def greet(self, entry: HistoryEntry) -> tuple[str, tuple[MacroTrace, ...]]:
        """A greeting with its macros replaced, the same in every turn: its dice are thrown by the chat's seed.

        What it writes is kept by the chat's first turn alone; it would set back what the chat has written since.
        """
        run = MacroRun(replace(self.scope, random=Random(f"{self.scope.seed}\0{entry.message_id}")))
        text = run.expand(entry.text)
        self.report.warnings += run.report.warnings
        self.report.used |= run.report.used
        self.report.traces += run.report.traces
        if self._is_first_turn:
            for mutation in run.report.mutations:
                self._run.views[mutation.scope].apply(mutation)
            self.report.mutations += run.report.mutations
        return text, tuple(run.report.traces)


def _greetings(given: PromptInput) -> tuple[str, ...]:
    character = given.assets.character
    return greetings_of(given.session) if character is None else character.greetings


def _names_in(given: PromptInput) -> dict[str, str]:
    """``{{char}}`` and ``{{user}}`` by the turn's assets."""
    character, persona = given.assets.character, given.assets.persona
    char = character.spoken_name if character is not None else ""
    values = dict.fromkeys(("char", "group", "groupNotMuted"), char) if char.strip() else {}
    user = persona.name if persona is not None else ""
    return values | (dict.fromkeys(("user", "notChar"), user) if user.strip() else {})


def _told_by_turn(given: PromptInput, visible: Sequence[HistoryEntry], window: int, reserved: int) -> dict[str, str]:
    """The macros that the turn and its history tell."""
    spoken = [each for each in visible if each.role in ("user", "assistant") and each.text.strip()]
    last = {role: next((each.text for each in reversed(spoken) if each.role == role), "") for role in ("user", "assistant")}
    message = given.message.text if given.message is not None and given.message.text.strip() else ""
    number = None if given.unread is None else given.unread.spoken + len(spoken) + bool(message) - 1
    values = {
        "input": message or last["user"],
        "lastMessage": message or (spoken[-1].text if spoken else ""),
        "lastUserMessage": message or last["user"],
        "lastCharMessage": last["assistant"],
        "lastMessageId": "" if number is None or number < 0 else str(number),
        "lastGenerationType": given.intent,
        "runKind": given.run_kind,
        "maxContext": str(window),
        "maxPrompt": str(max(0, window - reserved)),
        "maxResponse": str(reserved),
    }
    model = given.model or given.session.model_name
    return {**values, "model": model} if model else values
