"""The history in a proxied request, as ``placing`` wants it.

System messages and tools' results are none of it, nor is what says nothing. However long it is, only its end is looked at.
"""

from collections.abc import Sequence

from agentui.chat.fingerprints import spellings
from agentui.chat.messages import Message, Text, ToolResult
from agentui.turns.placing.matching import MOST_ENTRIES, Entry, Nudge, Sent

_LEAST_TOLD = 12
"""Characters of an answer that a request for a title repeats; shorter ones are found in anything."""
_MOST_TOLD = 200


def read_sent(messages: Sequence[Message]) -> Sent:
    """What a client sent."""
    entries: list[Entry] = []
    number = len(messages)
    while number and len(entries) < MOST_ENTRIES:
        number -= 1
        message = messages[number]
        if message.role not in ("user", "assistant"):
            continue
        numbers = spellings(message.text)
        if numbers:
            entries.append(Entry("user" if message.role == "user" else "assistant", numbers))
    entries.reverse()
    last = messages[-1] if messages else None
    return Sent(
        tuple(entries),
        is_cut=any(message.role in ("user", "assistant") for message in messages[:number]),
        is_tool_round=last is not None and _is_results(last),
        ends_with_system=last is not None and last.role == "system",
        nudge=_nudge(messages),
    )


def _is_results(message: Message) -> bool:
    """Whether all that a message brings are tools' results."""
    return message.role == "tool" or (
        any(isinstance(part, ToolResult) for part in message.parts)
        and not any(isinstance(part, Text) and part.text.strip() for part in message.parts)
    )


def _nudge(messages: Sequence[Message]) -> Nudge | None:
    """What the system messages behind the last words ask for, in the phrases that SillyTavern comes with."""
    for message in reversed(messages):
        if message.role != "system":
            return None
        text = message.text[:2000].casefold()
        if "continue" in text:
            return "continue"
        if "next reply only as" in text:
            return "reply"
    return None


def words_of(messages: Sequence[Message]) -> tuple[str, ...]:
    """What a request says beside the model, without white space: what a request for a title or a summary is known by."""
    return tuple("".join(message.text.split()) for message in messages if message.role in ("user", "system"))


def repeats(words: Sequence[str], said: Sequence[str]) -> bool:
    """Whether one of the texts ``said`` is repeated within more words (``words_of``)."""
    dense = ["".join(text.split())[:_MOST_TOLD] for text in said]
    return any(text in word and text != word for text in dense if len(text) >= _LEAST_TOLD for word in words)
