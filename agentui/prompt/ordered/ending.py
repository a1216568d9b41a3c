"""How a prompt ends: what the intent adds behind everything, and with what the answer is to begin."""

from dataclasses import dataclass, field

from agentui.assets.preset import PromptPreset
from agentui.chat.messages import Message, Text
from agentui.prompt.drafts import Draft, expanded_draft, message_draft, prefill_refusals, text_draft
from agentui.prompt.macros import PromptMacros, text_member
from agentui.prompt.prepared import DeliveryResult, PromptInput


@dataclass(slots=True)
class Ending:
    """``drafts`` stand behind everything. ``moved`` is the last message of the chat, where that is among them; ``is_open``:
    nothing stands behind it."""

    drafts: list[Draft] = field(default_factory=list)
    moved: Draft | None = None
    is_open: bool = False
    delivery: DeliveryResult = field(default_factory=DeliveryResult)


def ending_of(
    given: PromptInput, preset: PromptPreset, last: Draft | None, forbids_assistant: bool, macros: PromptMacros
) -> Ending:
    """The ending of a prompt whose chat ends with ``last``; None where nobody has said anything."""
    ending = Ending()
    if given.intent == "impersonate":
        ending.drafts.append(expanded_draft("impersonate", "preset", "system", preset.impersonation, macros))
    elif given.intent == "quiet":
        ending.drafts += _aside(given)
    is_open = given.intent == "continue" and _keeps_open(given, preset)
    is_words = is_open and last is not None and last.message.role == "assistant"
    prefill = _prefill(given, preset, is_open, is_words, macros)
    refused = tuple(prefill_refusals(given, forbids_assistant))
    nudge: Draft | None = None
    if last is not None and given.intent == "continue":
        ending.moved = last
        ending.is_open = is_open and not (is_words and refused)
        if ending.is_open:
            ending.drafts.append(_begun(last, prefill))
        else:
            nudge = _nudge(given, preset, last, macros)
            ending.drafts += [last, nudge]
    if prefill and not refused and not is_words:
        ending.drafts.append(text_draft("assistantPrefill", "preset", "assistant", prefill))
    is_applied = (is_words or bool(prefill)) and not refused
    is_flat = given.policy.structure.mode == "flattened"
    ending.delivery = DeliveryResult(
        prefill_requested=is_words or bool(prefill),
        prefill_applied=is_applied,
        prefill_strategy="none" if not is_applied else "transcript_append" if is_flat else "assistant_message_fallback",
        degrade_reasons=refused if is_words or prefill else (),
        nudge=None if nudge is None else nudge.message.text,
    )
    return ending


def _aside(given: PromptInput) -> list[Draft]:
    """A quiet message: an instruction of the system's, and no part of the chat."""
    said = message_draft(given)
    return [] if said is None else [Draft(said.name, said.group, said.source, Message("system", said.message.parts))]


def _keeps_open(given: PromptInput, preset: PromptPreset) -> bool:
    """Whether a continued message ends the prompt, without an instruction behind it."""
    return preset.continue_prefill or given.session.metadata.get("continue_prefill") is True


def _nudge(given: PromptInput, preset: PromptPreset, last: Draft, macros: PromptMacros) -> Draft:
    """The instruction to go on, in which ``{{lastChatMessage}}`` is what is continued."""
    message = given.message.text if given.message is not None else ""
    spoken = given.words or message or (last.entry.text if last.entry is not None else "")
    plain = {"lastChatMessage": spoken.strip()}
    return expanded_draft("continueNudge", "preset", "system", preset.continue_nudge, macros, plain)


def _begun(last: Draft, prefill: str) -> Draft:
    """The message that is continued, at the end: its words without blanks behind them, after a beginning that all answers
    have."""
    message = last.message
    if message.role == "assistant" and all(isinstance(part, Text) for part in message.parts):
        text = "\n\n".join(each for each in (prefill, message.text.rstrip()) if each)
        message = Message("assistant", (Text(text),), message.name)
    return Draft(last.name, last.group, last.source, message, last.entry, last.macros)


def _prefill(given: PromptInput, preset: PromptPreset, is_open: bool, is_words: bool, macros: PromptMacros) -> str:
    """With what the answer is to begin. A model that goes on with what it is given takes the preset's text with every intent
    but ``quiet``, and another one to impersonate; for others ``continue`` alone has it. The session's own text is for
    every answer. One that refuses to go on gets none."""
    text = ""
    if not given.takes_prefill:
        return ""
    if given.intent == "impersonate":
        text = preset.assistant_impersonation if given.goes_on else ""
    elif given.intent == "continue":
        text = preset.assistant_prefill if given.goes_on or not (is_open or given.is_plain) else ""
    elif given.intent != "quiet":
        text = (preset.assistant_prefill if given.goes_on else "") or text_member(given.session.metadata, "assistant_prefill")
    if not text or (is_open and not is_words):
        return ""
    # Blanks count before words that go on, and are refused at the end of a prompt.
    expanded = macros.expand(text)[0]
    return expanded if is_words else expanded.rstrip()
