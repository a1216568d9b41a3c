"""What a client sends, as the past of a turn: pure.

system...   user assistant ... user assistant   user   system...
head        entries                             message  tail
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from agentui.chat.messages import Message, Text, ToolResult, text_message
from agentui.prompt.history import HistoryEntry
from agentui.prompt.prepared import ExtraSection, TurnMessage
from agentui.turns.history import Past

SENT = "client"
"""Where the texts of a client's own system messages are from, and what the ids of its messages begin with."""


@dataclass(frozen=True, slots=True)
class ClientTalk:
    """A client's conversation: what was said before (oldest first; ``is_cut``: the chat has more), what is said now, the words
    that the answer goes on from, and the client's own system texts around it."""

    entries: tuple[HistoryEntry, ...]
    is_cut: bool
    message: TurnMessage | None
    words: str
    extra: tuple[ExtraSection, ...]


def parted(messages: Sequence[Message], own: str) -> tuple[Sequence[Message], tuple[Message, ...]]:
    """The messages up to the person's ``own`` last words, and those behind them: a preset of SillyTavern may end with texts in
    the user's name, as messages or joined to the words. All of them where the words are not found behind the last answer."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.role == "assistant" or _is_result(message):
            break
        if message.role != "user" or own not in message.text:
            continue
        if message.text == own:
            return messages[: at + 1], tuple(messages[at + 1 :])
        before, _, behind = message.text.partition(own)
        others = tuple(part for part in message.parts if not isinstance(part, Text))
        front = [text_message("user", before.strip())] if before.strip() else []
        rest = (text_message("user", behind.strip()),) if behind.strip() else ()
        said = Message("user", (*others, Text(own)), message.name)
        return [*messages[:at], *front, said], (*rest, *messages[at + 1 :])
    return messages, ()


def talk_of(
    messages: Sequence[Message], floor_no: int, past: Past, *, continues: bool, behind: Sequence[Message] = ()
) -> ClientTalk:
    """The conversation of a turn on the floor with this number, whose chat has this ``past``. ``behind`` is what the client
    sent behind the person's words (``parted``).

    A client that sends nothing but its question has the chat's past. A greeting that stands before all that it sends, and that
    it does not show, comes first. ``continues``: the answer goes on with the model's last words.
    """
    first = next((number for number, message in enumerate(messages) if message.role != "system"), len(messages))
    head, said = _joined(messages[:first]), messages[first:]
    last = next((number for number in range(len(said) - 1, -1, -1) if said[number].role != "system"), -1)
    tail, said = _joined(said[last + 1 :]), said[: last + 1]
    words = ""
    if continues and said and said[-1].role == "assistant":
        words, said = said[-1].text, said[:-1]
    said, message = _asked(said)
    entries, is_cut = _before(said, message, floor_no, past)
    extra = []
    if head:
        extra.append(ExtraSection("clientSystem", SENT, head))
    if tail:
        extra.append(ExtraSection("clientSystemLast", SENT, tail, place="tail"))
    for number, (role, texts) in enumerate(groupby(behind, lambda message: message.role)):
        name = "clientSystemLast" if role == "system" else "clientUserLast"
        name = name if number < 2 else f"{name}:{number}"
        extra.append(ExtraSection(name, SENT, _joined(list(texts)), "system" if role == "system" else "user", "tail"))
    return ClientTalk(entries, is_cut, message, words, tuple(extra))


def _joined(told: Sequence[Message]) -> str:
    """Texts as one."""
    return "\n\n".join(text for message in told if (text := message.text))


def _asked(said: Sequence[Message]) -> tuple[Sequence[Message], TurnMessage | None]:
    """What was said before, and what is said now: the user's last message, or all that tools gave since the model spoke."""
    answered = next((number for number in range(len(said) - 1, -1, -1) if said[number].role == "assistant"), -1)
    new = [message for message in said[answered + 1 :] if message.role != "system"]
    if not new:
        return said, None
    if any(_is_result(message) for message in new):
        parts = tuple(part for message in new for part in message.parts)
        text = next((message.text for message in reversed(new) if message.role == "user" and message.text), "")
        return said[: answered + 1], TurnMessage(text, parts)
    # What ends a conversation here is never a system message: those were taken off.
    return said[:-1], TurnMessage(said[-1].text, said[-1].parts)


def _before(
    said: Sequence[Message], message: TurnMessage | None, floor_no: int, past: Past
) -> tuple[tuple[HistoryEntry, ...], bool]:
    """The past of the turn, and whether there is more of it."""
    if not said:
        return past.entries, past.is_cut
    entries = _entries(said, message, floor_no)
    first = entries[0].floor_no
    greetings = tuple(entry for entry in past.entries if entry.source == "greeting" and entry.floor_no == 0)
    if first == 1 and greetings:
        return (*greetings, *entries), False
    return entries, first > 0


def _entries(said: Sequence[Message], message: TurnMessage | None, floor_no: int) -> tuple[HistoryEntry, ...]:
    """The messages with the numbers of their floors, counted back from the turn's: an answer that somebody's words follow, or
    another answer, ends a floor."""
    is_begun = message is None or not any(isinstance(part, ToolResult) for part in message.parts)
    backwards: list[HistoryEntry] = []
    for number in range(len(said) - 1, -1, -1):
        each = said[number]
        if each.role == "assistant" and is_begun:
            floor_no = max(floor_no - 1, 0)
        if each.role != "system":
            is_begun = not _is_result(each)
        backwards.append(_entry(each, number, floor_no))
    return tuple(reversed(backwards))


def _entry(message: Message, number: int, floor_no: int) -> HistoryEntry:
    id = f"{SENT}:{number}"
    entry = HistoryEntry(f"{SENT}:floor:{floor_no}", floor_no, id, id, "user", message.text)
    if message.role in ("assistant", "system"):
        entry = entry._replace(role=message.role)
    is_plain = len(message.parts) == 1 and isinstance(message.parts[0], Text)
    return entry if is_plain else entry._replace(parts=message.parts)


def _is_result(message: Message) -> bool:
    """Whether a message brings what a tool gave."""
    return any(isinstance(part, ToolResult) for part in message.parts)
