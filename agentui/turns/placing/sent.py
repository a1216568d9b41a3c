"""The history in a proxied request, as ``placing`` wants it.

System messages and tools' results are none of it, nor is what says nothing. However long it is, only its end is looked at.

SillyTavern's prompt post-processing makes other messages of the same chat (``prompt-converters.js``): ``semi`` and ``strict``
give system messages within the chat to the user, and join neighbours; ``single`` writes the whole chat as one message of the
user's, each text with its speaker's name before it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from agentui.chat.fingerprints import fingerprint, letters, spellings
from agentui.chat.messages import Message, Text, ToolResult
from agentui.turns.placing.matching import MOST_ENTRIES, Entry, Nudge, Sent, Side
from agentui.turns.placing.questions import MOST_JOINED, is_all_phrases, is_phrase

_LEAST_TOLD = 12
"""Characters of an answer that a request for a title repeats; shorter ones are found in anything."""
_MOST_TOLD = 200


_MOST_SINGLE: Final = 400
"""Paragraphs of a chat in one message that are looked at, from its end."""
_MOST_NAMED: Final = 3
_SPEAKER: Final = re.compile(r"([^\n:]{1,64}): ")
_GOES_ON: Final = re.compile(
    r"\bgo on\b|keep (?:going|writing)|carry on|left off|\bresume\b|without repeating|продолж|继续|繼續|续写|接着写|続け"
)
"""Other words for "continue" in a nudge, which everybody may write anew."""
_LONGEST_NUDGE: Final = 400


def read_sent(messages: Sequence[Message]) -> Sent:
    """What a client sent."""
    last = messages[-1] if messages else None
    nudge = _nudge(messages)
    single = _as_single(messages, nudge)
    said, is_cut = single or _as_messages(messages)
    # What follows the model's words in a chat that is one text is the client's: it has no mark of its own.
    is_open = single is not None and nudge is None and said[-1][0] == "assistant"
    return Sent(
        tuple(Entry(side, numbers) for side, _, numbers in said),
        is_cut=is_cut,
        is_tool_round=last is not None and _is_results(last),
        ends_with_system=is_open or (last is not None and _is_system(last)),
        nudge=nudge,
        texts=tuple(text for _, text, _ in said),
        opening=None if is_cut or single is not None else _opening(messages),
        is_single=single is not None,
        perhaps=_named_last(said[-1][1]) if single is None and len(said) == 1 else (),
    )


def _named_last(text: str) -> tuple[int, ...]:
    """The numbers of the last texts with a speaker's name before them in a text that is all there is: the first request of a
    chat in one message, of which no name tells yet whose it is."""
    if ": " not in text:
        return ()
    runs: list[list[str]] = []
    for paragraph in text.split("\n\n")[-_MOST_SINGLE:]:
        name = _SPEAKER.match(paragraph)
        if name is not None:
            runs.append([paragraph[name.end() :]])
        elif runs and not is_phrase(paragraph):
            runs[-1].append(paragraph)
    # What the client added behind the words is part of them yet.
    found = [number for lines in runs[-_MOST_NAMED:] for number in spellings("\n\n".join(lines), most=MOST_JOINED)]
    return tuple(dict.fromkeys(number for number in found if number != fingerprint(text)))


def _opening(messages: Sequence[Message]) -> int | None:
    """The number of how a chat begins: its first system text, and the greetings before the first question. None where an answer
    was given already."""
    spoken = (message for message in messages if message.role in ("user", "assistant"))
    sides = [message.role for message in spoken if not _is_system(message)]
    first = sides.index("user") if "user" in sides else len(sides)
    if "user" not in sides or "assistant" in sides[first:]:
        return None
    system = next((message.text for message in messages if message.role == "system"), "")
    greetings = (message.text for message in messages if message.role == "assistant")
    return fingerprint("\n".join(["opening", *(str(fingerprint(text)) for text in (system, *greetings))]))


_Said = tuple[Side, str, tuple[int, ...]]


def _as_messages(messages: Sequence[Message]) -> tuple[list[_Said], bool]:
    """What was said, the oldest first, and whether there is more."""
    said: list[_Said] = []
    number = len(messages)
    while number and len(said) < MOST_ENTRIES:
        number -= 1
        message = messages[number]
        if message.role not in ("user", "assistant") or _is_system(message):
            continue
        text = message.text
        # What is joined are texts in the user's name, mostly; spelling every answer so would cost more than the search.
        side: Side = "user" if message.role == "user" else "assistant"
        numbers = spellings(text, most=MOST_JOINED) if side == "user" else spellings(text)
        if numbers:
            said.append((side, text, numbers))
    said.reverse()
    return said, any(message.role in ("user", "assistant") for message in messages[:number])


def _is_system(message: Message) -> bool:
    """Whether a message is the client's own: a system message, or one in the user's name that nobody said."""
    return message.role == "system" or (message.role == "user" and is_all_phrases(message.text))


def _as_single(messages: Sequence[Message], nudge: Nudge | None) -> tuple[list[_Said], bool] | None:
    """The chat that one message of the user's tells; None where that is no chat: the name before the last words stands before
    others, too, and another name between them."""
    asked = [message for message in messages if message.role != "system"]
    if len(asked) != 1 or asked[0].role != "user":
        return None
    paragraphs = asked[0].text.split("\n\n")
    is_cut = len(paragraphs) > _MOST_SINGLE
    paragraphs = paragraphs[-_MOST_SINGLE:]
    names = [None if name is None else name[1] for name in map(_SPEAKER.match, paragraphs)]
    count = Counter(name for name in names if name is not None)
    user = _user_of(names, count, nudge)
    if user is None:
        return None
    runs: list[tuple[Side, list[str]]] = []
    for paragraph, name in zip(paragraphs, names, strict=True):
        side: Side = "user" if name == user else "assistant"
        if name is not None and (name == user or count[name] > 1 or not runs or runs[-1][0] == "user"):
            text = paragraph[len(name) + 2 :] if name == user else paragraph
            if name == user or not runs or runs[-1][0] == "user":
                runs.append((side, [text]))
                continue
        if runs and not is_phrase(paragraph):
            runs[-1][1].append(paragraph)
    said = [(side, text, spellings(text)) for side, text in ((side, "\n\n".join(lines)) for side, lines in runs)]
    kept = [one for one in said if one[2]]
    return kept[-MOST_ENTRIES:], is_cut or len(kept) > MOST_ENTRIES


def _user_of(names: Sequence[str | None], count: Counter[str], nudge: Nudge | None) -> str | None:
    """The name under which the person speaks in a chat that is one text; None where it is no chat."""
    spoken = [name for name in names if name is not None]
    if not spoken:
        return None
    last = spoken[-1]
    if nudge == "continue":
        # The model's words are the last, and the set phrase behind them says that this is a chat.
        return next((name for name in reversed(spoken) if name != last), None)
    first = spoken.index(last)
    return last if count[last] > 1 and any(name != last for name in spoken[first:]) else None


def _is_results(message: Message) -> bool:
    """Whether all that a message brings are tools' results."""
    return message.role == "tool" or (
        any(isinstance(part, ToolResult) for part in message.parts)
        and not any(isinstance(part, Text) and part.text.strip() for part in message.parts)
    )


def _nudge(messages: Sequence[Message]) -> Nudge | None:
    """What the client's own messages behind the last words ask for, in the phrases that SillyTavern comes with, and in those
    that people write in their places."""
    for message in reversed(messages):
        if message.role == "user" and (last := message.text.rpartition("\n\n")[2]) and is_phrase(last):
            return _phrase(last) or "aside"
        if not _is_system(message):
            return None
        nudge = _phrase(message.text)
        if nudge is not None:
            return nudge
    return None


def _phrase(text: str) -> Nudge | None:
    told = text[:2000].casefold()
    if "continue" in told or (len(text) <= _LONGEST_NUDGE and _GOES_ON.search(told)):
        return "continue"
    return "reply" if "next reply only as" in told else None


def words_of(messages: Sequence[Message]) -> tuple[str, ...]:
    """What a request says beside the model, as it is compared: what a request for a title or a summary is known by."""
    return tuple(_plain(message.text) for message in messages if message.role in ("user", "system"))


def repeats(words: Sequence[str], asked: Sequence[str], answered: Sequence[str]) -> bool:
    """Whether a text that was ``asked`` is repeated within more words (``words_of``), or one that was ``answered`` at all:
    nobody says himself what the model has said, but to have it classified."""
    own, others = ([_plain(letters(text))[:_MOST_TOLD] for text in texts] for texts in (asked, answered))
    return any(text in word for text in others if len(text) >= _LEAST_TOLD for word in words) or any(
        text in word and text != word for text in own if len(text) >= _LEAST_TOLD for word in words
    )


def _plain(text: str) -> str:
    """A text without white space, emphasis and quotes, which requests about it leave out."""
    return "".join(text.split()).translate(_EMPHASIS)


_EMPHASIS = str.maketrans("", "", '*_"')


def is_state_request(chat_tools: Sequence[str], messages: Sequence[Message]) -> bool:
    """Whether a request is SillyTavern's MVU script's own, for the changes of its variables and not for a story."""
    if any(name.startswith("mvu_VariableUpdate_") for name in chat_tools):
        return True
    texts = ((message.role, message.text) for message in messages)
    last = messages[-1] if messages else None
    if last is not None and last.role == "user" and last.text.strip() == "遵循<must>指令":
        return True
    return any(role == "system" and text.lstrip().startswith("<past_observe>") for role, text in texts)


def is_raw_question(user_agent: str, messages: Sequence[Message]) -> bool:
    """Whether a request is one that SillyTavern's extensions and its ``/genraw`` send beside its chats: a question alone, where
    its chats begin with a prompt of the system or a greeting. Its server is known by what it calls itself (node-fetch)."""
    return user_agent.startswith("node-fetch") and [message.role for message in messages] == ["user"]
