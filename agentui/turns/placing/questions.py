"""What the person said, of all that a client sends in the user's name behind the model's last words.

SillyTavern's presets end with texts that have the user's role, notes and dice stand beside the question, and its prompt
post-processing joins all of them to one message:

    user: "I dig."    user: "Now write the next scene."           two messages, of which the first is the person's
    user: "I dig.\\n\\nNow write the next scene."                    the same, joined

What stood beside an earlier question is no question now; and the next request shows what was really said, for of the past a
client sends nothing else. Pure.
"""

import re
from collections.abc import Sequence, Set
from typing import Final

from agentui.chat.fingerprints import fingerprint, without_name

MOST_JOINED: Final = 12
"""Paragraphs of a question that may each be a text of its own."""
_MOST_PARAGRAPHS: Final = 64
"""Of one text that are looked at: more are nobody's chat."""
_PHRASE: Final = re.compile(
    r"\s*\[(?:Continue your last message|Write the next reply only as|Write your next reply from the point of view of"
    r"|Start a new (?:group )?chat|Example Chat)[^\[\]]*\]\s*",
    re.IGNORECASE,
)
"""What SillyTavern's own settings say to the model; strict post-processing says it in the user's name (its ``openai.js``)."""


def is_phrase(paragraph: str) -> bool:
    """Whether a paragraph is a set phrase that asks the model for something, and nothing that anybody said."""
    return _PHRASE.fullmatch(paragraph) is not None


def is_all_phrases(text: str) -> bool:
    """Whether a text is nothing but set phrases."""
    return text.lstrip()[:1] == "[" and all(is_phrase(paragraph) for paragraph in text.split("\n\n", _MOST_PARAGRAPHS))


def own_words(texts: Sequence[str], beside: Set[int]) -> tuple[str, ...]:
    """What the person said, of the user's texts behind the model's last words: without what is known to stand ``beside``. The
    last one, where nothing is left."""
    own = [words for text in texts if fingerprint(text) not in beside and (words := _trimmed(text, beside))]
    return tuple(own) or tuple(texts[-1:])


def _trimmed(text: str, beside: Set[int]) -> str:
    """A text without the paragraphs at its ends that are set phrases, or known to stand beside questions."""
    paragraphs = text.split("\n\n", _MOST_PARAGRAPHS)
    first, last = 0, len(paragraphs)
    while first < last and (is_phrase(paragraphs[first]) or fingerprint(paragraphs[first]) in beside):
        first += 1
    while first < last and (is_phrase(paragraphs[last - 1]) or fingerprint(paragraphs[last - 1]) in beside):
        last -= 1
    return text if last - first == len(paragraphs) else "\n\n".join(paragraphs[first:last])


def beside_of(texts: Sequence[str], own: Sequence[str]) -> frozenset[int]:
    """The numbers of what was sent beside the person's ``own`` words: whole texts, and the paragraphs of those in part."""
    if texts == own:
        return frozenset()
    mine = {fingerprint(text) for text in own}
    numbers: set[int | None] = set()
    for text in texts:
        number = fingerprint(text)
        if number in mine:
            continue
        rest = _rest(text, own)
        numbers.update([number] if rest is None else map(fingerprint, rest))
    return frozenset(number for number in numbers - mine if number is not None)


def _rest(text: str, own: Sequence[str]) -> list[str] | None:
    """The paragraphs of a text that are none of the person's; None where all are."""
    said = {fingerprint(paragraph) for words in own for paragraph in words.split("\n\n", _MOST_PARAGRAPHS)}
    rest = [each for each in text.split("\n\n", _MOST_PARAGRAPHS) if fingerprint(each) not in said]
    return rest if len(rest) <= text.count("\n\n") else None


def shown_words(shown: Sequence[str], kept: str) -> str | None:
    """What of a question that was ``kept`` the client still shows, as whole paragraphs of it: that is what the person said.
    None where it shows nothing of it, and where it shows all."""
    paragraphs = kept.split("\n\n", _MOST_PARAGRAPHS)
    numbers = [{fingerprint(each), fingerprint(without_name(each))} - {None} for each in paragraphs]
    best: tuple[int, str] = (0, "")
    for text in shown:
        pieces = text.split("\n\n", _MOST_PARAGRAPHS)
        count, end = _longest_run([fingerprint(piece) for piece in pieces], numbers)
        if count > best[0]:
            best = (count, "\n\n".join(pieces[end - count : end]))
    return best[1] if 0 < best[0] < len(paragraphs) else None


def _longest_run(shown: Sequence[int | None], kept: Sequence[Set[int | None]]) -> tuple[int, int]:
    """The longest run of paragraphs that stands in both: how many, and where it ends in the first."""
    best, before = (0, 0), [0] * (len(kept) + 1)
    for end, number in enumerate(shown, 1):
        now = [0] * (len(kept) + 1)
        for at, numbers in enumerate(kept):
            if number in numbers:
                now[at + 1] = before[at] + 1
                best = max(best, (now[at + 1], end), key=lambda run: run[0])
        before = now
    return best
