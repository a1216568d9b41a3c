"""The texts around the history: what stands before it, the message, and what an intent adds behind it.

A ``Draft`` is a message on its way into the prompt; it ends as a ``PromptSection``, kept or not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from agentui.chat.messages import Message, Role, Text
from agentui.jsonio import Json
from agentui.prompt.history import HistoryEntry, says_nothing
from agentui.prompt.macros import DEFAULT_SYSTEM, EMPTY, PromptMacros, text_member
from agentui.prompt.prepared import DeliveryResult, PromptInput, PromptSection
from agentui.templating.sillytavern.scope import MacroTrace

CONTINUE_NUDGE: Final = "[Continue your last message without repeating its original content.]"
ENDING: Final = "ending"
"""The place of what stands behind all places of a preset."""
IMPERSONATION: Final = (
    "[Write the next message as {{user}}, in the way in which {{user}} has written so far. "
    "Do not write as {{char}}, and do not tell what {{char}} does.]"
)
NEXT_MESSAGE: Final = "[Write the next message as {{char}}.]"
"""Asks for an answer where the user says nothing: behind the model's own words some models would go on with those, and others
refuse."""
JOINED: Final = " + "
"""Stands between the titles of texts that became one message."""
_CARD: Final = {"charDescription": "description", "charPersonality": "personality", "scenario": "scenario"}
"""Sections that a character's snapshot makes, by the names that SillyTavern's prompt manager has for them, and its members."""


@dataclass(slots=True)
class Draft:
    """A message with where it comes from. ``is_talk``: the user said it in the chat. ``shaped`` is the message in the role that
    it may have, ``tokens`` what that takes. ``title`` is what a person called it; '' where nobody did."""

    name: str
    group: str
    source: str
    message: Message
    entry: HistoryEntry | None = None
    macros: tuple[MacroTrace, ...] = ()
    is_talk: bool = False
    title: str = ""
    shaped: Message = field(init=False)
    tokens: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.shaped = self.message

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send, as where macros left nothing of a text."""
        return says_nothing(self.message.parts)

    def section(self, why: str | None = None) -> PromptSection:
        """What became of it: kept, or left out and why."""
        entry, message, why = self.entry, self.message, why or ("empty" if self.is_empty else None)
        floor_id, floor_no, message_id = (None, None, None) if entry is None else entry[:3]
        return PromptSection(
            self.name,
            self.group,
            self.source,
            message.role,
            message.text,
            self.tokens,
            why is None,
            why,
            floor_id,
            floor_no,
            message_id,
            self.macros,
            self.title,
        )


def head_drafts(given: PromptInput, macros: PromptMacros) -> list[Draft]:
    """What stands before the history: the system text, who takes part, and what others add."""
    character, user = given.session.character_snapshot or {}, given.session.user_snapshot or {}
    main = text_member(given.session.metadata, "system_prompt", "systemPrompt")
    source = "session" if main else "character"
    main = main or text_member(character, "system_prompt")
    drafts = [expanded_draft("main", source if main else "default", "system", main or DEFAULT_SYSTEM, macros)]
    persona = text_member(user, "persona", "description")
    if persona:
        drafts.append(expanded_draft("personaDescription", "user", "system", persona, macros))
    for name, member in _CARD.items():
        text = text_member(character, member)
        if text:
            drafts.append(expanded_draft(name, "character", "system", text, macros))
    return drafts + extra_drafts(given, "head")


def tail_drafts(given: PromptInput, macros: PromptMacros, forbids_assistant: bool) -> tuple[list[Draft], DeliveryResult]:
    """The message and what stands behind it, and how the prompt ends.

    Instructions are the user's messages: vendors that know one system text would move a system message away from the end.
    """
    said, words = message_draft(given), words_draft(given)
    prefill = _prefill(given, words, macros)
    refused = () if prefill is None else tuple(prefill_refusals(given, forbids_assistant))
    is_prefilled = prefill is not None and not refused
    drafts = [*([said] if said is not None else []), *extra_drafts(given, "tail"), *([words] if words is not None else [])]
    nudge = None
    if given.intent == "impersonate":
        drafts.append(expanded_draft("impersonate", "intent", "user", IMPERSONATION, macros))
    elif given.intent == "continue":
        nudge = None if is_prefilled else CONTINUE_NUDGE
    elif _speaks_again(given):
        drafts.append(expanded_draft("nextMessage", "intent", "user", NEXT_MESSAGE, macros))
    elif given.policy.delivery.require_last_user and (said is None or said.is_empty):
        nudge = CONTINUE_NUDGE
    if nudge is not None:
        drafts.append(text_draft("continueNudge", "intent", "user", nudge))
    if is_prefilled and prefill is not None and prefill is not words:
        drafts.append(prefill)
    is_flat = given.policy.structure.mode == "flattened"
    strategy = ("transcript_append" if is_flat else "assistant_message_fallback") if is_prefilled else "none"
    return drafts, DeliveryResult(prefill is not None, is_prefilled, strategy, refused, nudge=nudge)


def message_draft(given: PromptInput) -> Draft | None:
    """What the user says now. A quiet message is an instruction and no part of the talk."""
    if given.message is None:
        return None
    message = Message("user", given.message.parts or (Text(given.message.text),))
    is_talk = given.intent != "quiet"
    return Draft("message", "user_message", "message" if is_talk else "quiet", message, is_talk=is_talk)


def _speaks_again(given: PromptInput) -> bool:
    """Whether the user says nothing to the model's last words. A plain client's own requests end as they came."""
    if given.message is not None or given.is_plain or given.intent == "quiet":
        return False
    last = next((entry for entry in reversed(given.history) if not entry.is_hidden), None)
    return last is not None and last.role == "assistant"


def words_draft(given: PromptInput) -> Draft | None:
    """The words of a stopped answer that is continued."""
    words = given.words.rstrip() if given.intent == "continue" else ""
    return text_draft("words", "words", "assistant", words) if words else None


def _prefill(given: PromptInput, words: Draft | None, macros: PromptMacros) -> Draft | None:
    """With what the answer is to begin, where the session wants that: the words that it continues, or a text of its own."""
    metadata = given.session.metadata
    if given.intent == "continue":
        return words if metadata.get("continue_prefill") is True else None
    text = text_member(metadata, "assistant_prefill")
    if not text or not given.takes_prefill or given.intent in ("quiet", "impersonate"):
        return None
    draft = expanded_draft("assistantPrefill", "session", "assistant", text, macros)
    return None if draft.is_empty else draft


def prefill_refusals(given: PromptInput, forbids_assistant: bool) -> Iterator[str]:
    """Why the prompt cannot end with the model's words."""
    if not given.policy.delivery.allow_assistant_prefill:
        yield "assistant_prefill_disabled"
    if given.policy.delivery.require_last_user:
        yield "require_last_user"
    if forbids_assistant:
        yield "no_assistant_override"


def expanded_draft(
    name: str, source: str, role: Role, text: str, macros: PromptMacros, plain: Mapping[str, Json] = EMPTY
) -> Draft:
    """A section whose macros are replaced; ``plain`` are told to it alone. The model's words end without blanks: some vendors
    refuse those."""
    expanded, traces = macros.expand(text, plain=plain)
    return text_draft(name, source, role, expanded.rstrip() if role == "assistant" else expanded, traces)


def text_draft(name: str, source: str, role: Role, text: str, traces: tuple[MacroTrace, ...] = ()) -> Draft:
    """A section of this text."""
    return Draft(name, f"section:{name}", source, Message(role, (Text(text),)), macros=traces)


def extra_drafts(given: PromptInput, place: str) -> list[Draft]:
    """What others add at this place (``head``, ``tail``)."""
    return [text_draft(extra.name, extra.source, extra.role, extra.text) for extra in given.extra if extra.place == place]
