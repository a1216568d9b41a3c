"""Conversations: ``contents`` and ``systemInstruction``, both ways, and Prompt Blocks."""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from agentui.chat.capabilities import SystemPlace
from agentui.chat.messages import (
    NO_RESULT,
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    has_tool_parts,
    merge_turns,
    pair_tool_calls,
)
from agentui.jsonio import Json
from agentui.vendors.base import Prompt
from agentui.vendors.gemini.call_marks import unmarked_content
from agentui.vendors.gemini.parts import (
    CANDIDATE_MEMBERS,
    GEMINI,
    SENTINEL,
    call_arguments,
    call_part,
    media_part,
    parse_part,
    result_part,
    thinking_part,
)
from agentui.vendors.gemini.protojson import Malformed, items, member, spelling, text, within
from agentui.vendors.speakers import named
from agentui.vendors.system_place import placed

_ROLES: Final[dict[str, Role]] = {"user": "user", "model": "assistant", "function": "tool", "tool": "tool"}


# --- reading -----------------------------------------------------------------------------------------------------


def parse_messages(body: Mapping[str, Json]) -> Sequence[Message]:
    """The system instruction, where there is one, and every content, each with its own object as ``raw``.

    Raises Malformed with the place, such as ``contents.2.parts.0``.
    """
    messages = [_parse_content(raw, place) for place, raw in enumerate(items(body, "contents"))]
    system = member(body, "systemInstruction")
    if system is not None:
        if not isinstance(system, dict):
            raise Malformed("systemInstruction must be a Content object with parts.", "systemInstruction")
        parts = tuple(_parse_parts(system, "systemInstruction"))
        messages.insert(0, Message("system", parts, raw=system, raw_vendor=GEMINI))
    return tuple(messages)


def _parse_content(raw: Json, place: int) -> Message:
    if type(raw) is dict and len(raw) == 2:  # nearly every content is a role and words
        name, parts = raw.get("role"), raw.get("parts")
        if type(name) is str and name in _ROLES and type(parts) is list and len(parts) == 1:
            part = parts[0]
            if type(part) is dict and len(part) == 1 and type(words := part.get("text")) is str and words:
                return Message(_ROLES[name], (Text(words),), None, raw, GEMINI)
    where = f"contents.{place}"
    if not isinstance(raw, dict):
        raise Malformed("Every content must be an object with role and parts.", where)
    name = text(raw, "role") or "user"
    if name not in _ROLES:
        raise Malformed(f"A content's role must be 'user' or 'model', not {name[:40]!r}.", f"{where}.role")
    return Message(_ROLES[name], tuple(_parse_parts(raw, where)), raw=raw, raw_vendor=GEMINI)


def _parse_parts(content: dict[str, Json], where: str) -> Iterator[Part]:
    """The neutral parts. A single object stands for a list of one, as in Google's own examples."""
    for place, raw in enumerate(raw_parts(content)):
        with within(f"{where}.parts.{place}"):
            parts = parse_part(raw)
        yield from parts


def raw_parts(content: Mapping[str, Json]) -> list[Json]:
    """A content's own part objects. Raises Malformed."""
    parts = member(content, "parts")
    return [parts] if isinstance(parts, dict) else items(content, "parts")


# --- writing -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Conversation:
    """A conversation as Gemini writes it. ``system`` is None where there is no system text."""

    contents: list[Json]
    system: dict[str, Json] | None
    dropped: list[str]


def render_foreign(messages: Sequence[Message], model: str, place: SystemPlace = "marked") -> Conversation:
    """A conversation of another dialect.

    System texts at the front are the instruction; ``place`` says what becomes of the others. Calls and results are paired: each
    turn of calls is followed by exactly its results, a missing one saying so, and a result that answers no call becomes text.
    Raises UnsupportedFeature.
    """
    dropped: list[str] = []
    messages = placed(named(messages), place, dropped)
    system = _system_of(messages)
    paired = pair_tool_calls([message for message in messages if message.role != "system"])
    contents = _render_turns(merge_turns(list(_sayable(paired, dropped))), model, dropped, is_start=True)
    return with_contents(Conversation(contents, system, dropped))


def with_contents(conversation: Conversation) -> Conversation:
    """Gemini refuses a request without contents, so where there is nothing but system text it becomes the question."""
    if conversation.contents or conversation.system is None:
        return conversation
    question = {"role": "user", "parts": raw_parts(conversation.system)}
    return Conversation([question], None, [*conversation.dropped, "messages.system_role"])


def render_own(messages: Sequence[Message], model: str, place: SystemPlace = "marked", *, merge: bool = True) -> Conversation:
    """A conversation of this dialect: the caller's own objects, and what a pipeline put between them.

    ``merge`` joins neighbours made by the pipeline into one turn; without it only tool results are joined.
    """
    dropped: list[str] = []
    messages = placed(named(messages), place, dropped)
    originals = [message for message in messages if message.role != "system"]
    paired = pair_tool_calls(originals)
    contents: list[Json] = []
    for is_own, group in groupby(zip(originals, paired, strict=True), key=lambda pair: _is_own(pair[0])):
        pairs = list(group)
        if is_own:
            contents += [own_content(original.raw, model) for original, _ in pairs]
            continue
        made = list(_sayable([message for _, message in pairs], dropped))
        has_tools = any(isinstance(part, ToolCall | ToolResult) for message in made for part in message.parts)
        turns = merge_turns(made) if merge or has_tools else made
        contents += _render_turns(turns, model, dropped, is_start=not contents)
    return Conversation(contents, _own_system(messages), dropped)


def put_conversation(body: Mapping[str, Json], conversation: Conversation) -> dict[str, Json]:
    """A shallow copy of ``body`` with this conversation, under the spelling that the caller used."""
    result = {**body, spelling(body, "contents"): conversation.contents}
    key = spelling(body, "systemInstruction")
    if conversation.system is not None:
        result[key] = conversation.system
    elif result.get(key) is not None:
        del result[key]
    return result


def own_content(raw: Json, model: str) -> Json:
    """A caller's own content as it came, but for the marks that were written here on calls of other models."""
    return unmarked_content(raw, SENTINEL if _is_gemini_3(model) else None)


def _is_own(message: Message) -> bool:
    return message.raw_vendor == GEMINI and isinstance(message.raw, dict)


def _system_of(messages: Sequence[Message]) -> dict[str, Json] | None:
    """All system texts as one instruction."""
    texts = [words for message in messages if message.role == "system" and (words := message.text)]
    return {"parts": [{"text": words} for words in texts]} if texts else None


def _own_system(messages: Sequence[Message]) -> dict[str, Json] | None:
    """The caller's own instruction, with the texts of a pipeline as further parts of it."""
    systems = [message for message in messages if message.role == "system"]
    own = next((message for message in systems if _is_own(message)), None)
    if own is not None and len(systems) == 1:
        raw: dict[str, Json] = own.raw
        return raw
    parts: list[Json] = []
    for message in systems:
        if _is_own(message):
            parts += raw_parts(message.raw)
        elif message.text:
            parts.append({"text": message.text})
    if own is None:
        return {"parts": parts} if parts else None
    return {**own.raw, "parts": parts}


def _sayable(messages: Sequence[Message], dropped: list[str]) -> Iterator[Message]:
    """The messages without what Gemini cannot take; those of which nothing is left are left out."""
    for message in messages:
        if message.lone_text:
            yield message
            continue
        if message.name:
            dropped.append("messages.name")
        parts = tuple(part for part in message.parts if _is_sayable(part, dropped))
        if parts:
            yield message if len(parts) == len(message.parts) else Message(message.role, parts, message.name)


def _is_sayable(part: Part, dropped: list[str]) -> bool:
    match part:
        case Text(words) | Refusal(words):
            return bool(words)
        case Thinking(signed_by=signed_by):
            if signed_by != GEMINI:
                dropped.append("messages.thinking")
            return signed_by == GEMINI
        case Opaque(vendor, label):
            if vendor != GEMINI:
                dropped.append(f"messages.{label}")
            return vendor == GEMINI and label not in CANDIDATE_MEMBERS
        case Media(detail=detail) if detail not in (None, "auto"):
            dropped.append("messages.detail")
    return True


def _answering(turn: Message, calls: Sequence[ToolCall], dropped: list[str]) -> Message:
    """A user's turn whose results answer the ``calls`` before it: one each, in their order."""
    if turn.role != "user" or not (calls or has_tool_parts(turn)):
        return turn
    given = [part for part in turn.parts if isinstance(part, ToolResult)]
    waiting: defaultdict[str | None, deque[ToolResult]] = defaultdict(deque)
    for result in given:
        waiting[result.call_id].append(result)
    results: list[Part] = []
    for call in calls:
        if same_id := waiting.get(call.id):
            result = same_id.popleft()
        else:
            dropped.append("messages.missing_tool_result")
            result = ToolResult(call.id, (Text(NO_RESULT),), call.name, is_error=True)
        results.append(result if result.name == call.name else replace(result, name=call.name))
    unasked = {id(result) for same_id in waiting.values() for result in same_id}
    if unasked:
        dropped.append("messages.orphan_tool_result")
    orphans = [
        part for result in given if id(result) in unasked for part in result.content if not isinstance(part, Text) or part.text
    ]
    others = [part for part in turn.parts if not isinstance(part, ToolResult)]
    return Message(turn.role, (*results, *orphans, *others), turn.name)


def _render_turns(turns: Sequence[Message], model: str, dropped: list[str], *, is_start: bool) -> list[Json]:
    """Contents of turns that alternate. What the first one answers is only known at the start of the conversation."""
    contents: list[Json] = []
    takes_media = _is_gemini_3(model)
    calls: Sequence[ToolCall] = ()
    for place, turn in enumerate(turns):
        if not calls and (words := turn.lone_text):
            contents.append({"role": "model" if turn.role == "assistant" else "user", "parts": [{"text": words}]})
            continue
        waiting, calls = calls, turn.tool_calls
        if place or is_start:
            turn = _answering(turn, waiting, dropped)
        contents += _render_turn(turn, takes_media=takes_media)
    _sign_calls(contents, model)
    return contents


def _render_turn(turn: Message, *, takes_media: bool) -> list[Json]:
    """One content, none when the turn has nothing to say.

    Media of results stand inside the result for Gemini 3, which is the first to take them there (``takes_media``), else after
    the results.
    """
    parts: list[Json] = []
    loose: list[Json] = []
    for part in turn.parts:
        match part:
            case ToolResult(content=content):
                parts.append(result_part(part, media=takes_media))
                loose += [] if takes_media else [media_part(item) for item in content if isinstance(item, Media)]
            case _:
                if loose:
                    parts, loose = [*parts, *loose], []
                parts += _render_part(part)
    parts += loose
    role = "model" if turn.role == "assistant" else "user"
    return [{"role": role, "parts": parts}] if parts else []


def _render_part(part: Part) -> list[Json]:
    match part:
        case Text(words) | Refusal(words):
            return [{"text": words}] if words else []
        case Thinking(words, signature):
            return [thinking_part(words, signature)] if words or signature else []
        case ToolCall(id, name, arguments, signature, signed_by):
            value = call_arguments(arguments)
            # A model's broken arguments stay readable to the next one instead of ending the conversation.
            args = {"arguments": arguments} if value is None else value
            return [call_part(id, name, args, signature if signed_by == GEMINI else None)]
        case Media():
            return [media_part(part)]
        case Opaque(raw=raw):
            return [raw]
    return []


def _is_gemini_3(model: str) -> bool:
    return model.removeprefix("models/").startswith("gemini-3")


def _sign_calls(contents: Sequence[Json], model: str) -> None:
    """Give the first call of each step of the current turn the documented sentinel where it has no signature.

    Gemini 3 answers 400 without one. The current turn begins after the last content in which the user says something.
    """
    if not _is_gemini_3(model):
        return
    for content in reversed(contents):
        if content["role"] == "user":
            if any("functionResponse" not in part for part in content["parts"]):
                return
            continue
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        if first is not None and "thoughtSignature" not in first:
            first["thoughtSignature"] = SENTINEL


def render_prompt(messages: Sequence[Message]) -> Prompt:
    """Blocks as Gemini's structures (seed 003 part 4). Without system text ``pm.systemInstruction`` is {} and
    ``[[PROMPT]]`` has no such member. System text alone is the question, too: in ``[[PROMPT]]`` it stands there only."""
    conversation = render_own(messages, "", "top", merge=False)
    asked = with_contents(conversation)
    system_text = "\n\n".join(words for message in messages if message.role == "system" and (words := message.text))
    system = conversation.system if system_text and conversation.system is not None else {}
    pm: dict[str, Json] = {
        "contents": asked.contents,
        "systemInstruction": system,
        "system_text": system_text,
    }
    members: dict[str, Json] = {"contents": asked.contents}
    if system and asked.system is not None:
        members["systemInstruction"] = system
    return Prompt(pm, members, tuple(dict.fromkeys(asked.dropped)))
