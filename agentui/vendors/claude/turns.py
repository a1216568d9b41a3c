"""A conversation as Claude's turns: user and assistant by turns, every call answered, nothing empty.

What Claude refuses is put right here deliberately, and named: system messages amid the conversation, calls without a
result, results without a call, ids with foreign characters, thoughts that Claude did not sign.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agentui.chat.capabilities import Capabilities
from agentui.chat.messages import (
    CACHE_MARK,
    NO_RESULT,
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    has_tool_parts,
    merge_turns,
    pair_tool_calls,
    text_message,
    uses_tools,
)
from agentui.jsonio import Json
from agentui.vendors.base import Prompt
from agentui.vendors.capabilities import known_capabilities
from agentui.vendors.claude.content import CITATION, clean_id, clean_name, render_part
from agentui.vendors.speakers import named
from agentui.vendors.system_place import placed

_OPENING = text_message("user", ".")
"""A conversation must open with a user's turn, and empty text is refused: this is the least that can be said."""
OPENING: Mapping[str, Json] = {"role": "user", "content": "."}
"""The same, as it stands in a body."""


DEFAULTS: Final = known_capabilities("claude", "")
GO_ON: Final = "Continue your last message from exactly where it ends, without repeating any of it."
"""What asks a model that takes no prefill to go on with an answer."""


@dataclass(slots=True)
class Turns:
    """A conversation ready for the body. ``tools`` names the tools it uses, in order; ``may_think`` is False where Claude
    would refuse ``thinking`` because the last assistant turn must open with a signed thought and does not. Not frozen for
    speed alone (see ``Message``)."""

    system: str
    system_blocks: list[Json]
    messages: list[Json]
    tools: tuple[str, ...]
    may_think: bool


def render_turns(messages: Sequence[Message], dropped: list[str], model: Capabilities = DEFAULTS) -> Turns:
    """Any conversation as Claude's, as this model takes it. Raises UnsupportedFeature for media that Claude cannot read."""
    messages = placed(named(messages), model.system, dropped)
    system = render_system(messages, dropped)
    spoken: list[Message] = []
    for message in messages:
        if message.role == "system":
            continue
        words = message.lone_text
        said = message if words and not words.isspace() else sayable(message, dropped)
        if said.parts:
            spoken.append(said)
    has_tools = uses_tools(spoken)
    turns = merge_turns(pair_tool_calls(spoken))
    if has_tools:
        turns = _answer_calls(turns, dropped)
    if turns and turns[-1].role == "assistant" and all(isinstance(part, Thinking) for part in turns[-1].parts):
        # Of an answer that broke off nothing is left but its thought. Claude refuses a conversation that ends with one.
        dropped.append("thinking")
        turns.pop()
    if not turns or turns[0].role == "assistant":
        turns.insert(0, _OPENING)
    turns[-1] = _trimmed(turns[-1])
    if turns[-1].role == "assistant" and not model.prefill:
        dropped.append("prefill")
        turns.append(text_message("user", GO_ON))
    return Turns(
        system,
        system_blocks(messages),
        [{"role": turn.role, "content": _content(turn)} for turn in turns],
        tuple([clean_name(call.name) for turn in turns for call in turn.tool_calls]) if has_tools else (),
        _may_think(turns),
    )


def _content(turn: Message) -> list[Json]:
    """A turn's blocks, nearly always one of text."""
    if (words := turn.lone_text) is not None:
        return [{"type": "text", "text": words}]
    return rendered_parts(turn.parts)


def rendered_parts(parts: Iterable[Part]) -> list[Json]:
    """Parts as blocks; a cache mark stands on the block before it, but for thoughts, on which Claude takes none (the part that
    was marked may have been left out)."""
    blocks: list[Json] = []
    marks = -1
    for part in parts:
        if isinstance(part, Opaque) and part.label == CACHE_MARK:
            if marks >= 0:
                blocks[marks] = {**blocks[marks], **part.raw}
            continue
        if not isinstance(part, Thinking):
            marks = len(blocks)
        blocks.append(render_part(part))
    return blocks


def system_blocks(messages: Iterable[Message]) -> list[Json]:
    """System texts as blocks with their cache marks; [] where none has one, for a string says the same then."""
    parts = [part for message in messages if message.role == "system" for part in message.parts]
    if not any(isinstance(part, Opaque) and part.label == CACHE_MARK for part in parts):
        return []
    said = (part for part in parts if (isinstance(part, Text) and part.text.strip()) or isinstance(part, Opaque))
    return rendered_parts(part for part in said if not isinstance(part, Opaque) or part.label == CACHE_MARK)


def render_system(messages: Sequence[Message], dropped: list[str]) -> str:
    """The system texts joined by an empty line: Claude has one place for them (``role: "system"`` amid the conversation is
    understood by the newest API version only)."""
    texts: list[str] = []
    for message in messages:
        if message.role != "system":
            continue
        if any(not isinstance(part, Text) and getattr(part, "label", "") != CACHE_MARK for part in message.parts):
            dropped.append("messages.system_parts")
        if message.text.strip():
            texts.append(message.text)
    return "\n\n".join(texts)


def render_message(message: Message, dropped: list[str]) -> dict[str, Json] | None:
    """One message as it stands, results first; None when nothing of it can be said."""
    parts = sayable(message, dropped).parts
    if not parts:
        return None
    role = "user" if message.role == "tool" else message.role
    ordered = sorted(parts, key=lambda part: not isinstance(part, ToolResult)) if role == "user" else parts
    return {"role": role, "content": rendered_parts(ordered)}


def sayable(message: Message, dropped: list[str]) -> Message:
    """The message without what Claude does not take; whatever carried meaning is named."""
    if message.name is not None:
        dropped.append("messages.name")
    parts: list[Part] = []
    for part in message.parts:
        match part:
            case Text(text) | Refusal(text):
                # Claude refuses blank text blocks.
                if text.strip():
                    parts.append(Text(text))
            case Thinking():
                if message.role == "assistant" and part.signed_by == "claude" and (part.signature or part.redacted):
                    parts.append(part)
                else:
                    dropped.append("thinking")
            case Opaque(vendor, label, _):
                if label == CACHE_MARK or (vendor == "claude" and label != CITATION):
                    parts.append(part)
                else:
                    dropped.append(label)
            case Media() if message.role == "assistant":
                dropped.append("messages.assistant_media")
            case ToolCall() if part.signature is not None:
                dropped.append("signature")
                parts.append(replace(part, signature=None, signed_by=None))
            case _:
                parts.append(part)
    return Message(message.role, tuple(parts))


def _answer_calls(turns: Iterable[Message], dropped: list[str]) -> list[Message]:
    """Make every call's result stand in the user turn right after it, under ids that Claude takes and that are unique."""
    answered: list[Message] = []
    taken: dict[str, int] = {}
    waiting: dict[str | None, ToolCall] = {}
    for turn in turns:
        if not waiting and not has_tool_parts(turn):
            answered.append(turn)
        elif turn.role == "assistant":
            parts, waiting = _rename_calls(turn.parts, taken)
            answered.append(Message(turn.role, parts))
        else:
            answered.append(Message(turn.role, _match_results(turn.parts, waiting, dropped)))
            waiting = {}
    if waiting:
        answered.append(Message("user", _match_results((), waiting, dropped)))
    return answered


def _rename_calls(parts: Iterable[Part], taken: dict[str, int]) -> tuple[tuple[Part, ...], dict[str | None, ToolCall]]:
    """The parts with fit, unused call ids; and the calls by the id that their results will name."""
    renamed: list[Part] = []
    waiting: dict[str | None, ToolCall] = {}
    for part in parts:
        if not isinstance(part, ToolCall):
            renamed.append(part)
            continue
        id = _fresh_id(part.id or "", taken)
        call = part if id == part.id else replace(part, id=id)
        renamed.append(call)
        # Two calls of one turn under one id cannot be told apart; the later one stays without a result of its own.
        waiting[call.id if part.id in waiting else part.id] = call
    return tuple(renamed), waiting


def _fresh_id(id: str, taken: dict[str, int]) -> str:
    """A clean id that no call had before; ``taken`` holds how often each was asked for."""
    clean = fresh = clean_id(id)
    while fresh in taken:
        taken[clean] += 1
        fresh = f"{clean}_{taken[clean]}"
    taken[fresh] = 1
    return fresh


def _match_results(parts: Iterable[Part], waiting: dict[str | None, ToolCall], dropped: list[str]) -> tuple[Part, ...]:
    """A user turn's parts: results of the waiting calls, errors for calls that have none, then everything else."""
    open_calls = dict(waiting)
    results: list[Part] = []
    others: list[Part] = []
    for part in parts:
        if not isinstance(part, ToolResult):
            others.append(part)
        elif (call := open_calls.pop(part.call_id, None)) is not None:
            results.append(part if part.call_id == call.id else replace(part, call_id=call.id))
        else:
            dropped.append("messages.orphan_tool_result")
            others.extend(_orphan(part))
    for call in open_calls.values():
        dropped.append("messages.orphan_tool_call")
        results.append(ToolResult(call.id, (Text(NO_RESULT),), is_error=True))
    return (*results, *others)


def _orphan(result: ToolResult) -> list[Part]:
    """A result whose call is gone from the history, as words (and its media)."""
    words = result.text or ("" if result.value is None else str(result.value)) or "nothing"
    label = result.name or result.call_id or "unknown"
    return [Text(f"The tool {label} gave: {words}"), *(part for part in result.content if isinstance(part, Media))]


def _trimmed(turn: Message) -> Message:
    """A closing assistant turn (a prefill) without the trailing whitespace that Claude refuses."""
    if turn.role != "assistant":
        return turn
    # Cache marks stand behind the words that they are for, and are no blocks of their own.
    at = next((at for at in range(len(turn.parts) - 1, -1, -1) if getattr(turn.parts[at], "label", "") != CACHE_MARK), -1)
    if at < 0 or not isinstance(last := turn.parts[at], Text):
        return turn
    return replace(turn, parts=(*turn.parts[:at], Text(last.text.rstrip()), *turn.parts[at + 1 :]))


def _may_think(turns: Sequence[Message]) -> bool:
    """Whether ``thinking`` may be on: an assistant turn that is being continued, by a prefill or by results of its calls,
    must open with a thought that Claude signed."""
    continued = turns[-1]
    if continued.role == "user":
        if not any(isinstance(part, ToolResult) for part in continued.parts):
            return True
        continued = turns[-2]
    return isinstance(continued.parts[0], Thinking)


def render_prompt(messages: Sequence[Message]) -> Prompt:
    """``pm.system_text``, ``pm.system`` (the same) and ``pm.messages``; the members are ``system``, only where there is
    system text, and ``messages`` (seed 003 part 4: the system text is all of the system blocks)."""
    dropped: list[str] = []
    turns = render_turns(messages, dropped, DEFAULTS.but({"system": "top"}))
    members: dict[str, Json] = {"system": turns.system} if turns.system else {}
    members["messages"] = turns.messages
    pm = {"system_text": turns.system, "system": turns.system, "messages": turns.messages}
    return Prompt(pm, members, tuple(dict.fromkeys(dropped)))
