"""Numbers by which texts are found again, however a client spells them.

Clients trim answers, add the speaker's name, mend emphasis and take out what is no story: thoughts, blocks of state
(``<UpdateVariable>``, ``<status_current_variable>``, the placeholder of a status bar) and folded details. What they leave alone
are the letters, so a fingerprint is made of those: without white space, ``*`` and ``_``, without such blocks, of the beginning
alone.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b

LONGEST = 4000
"""Characters of a text that count: enough to tell two texts apart, and an answer that was gone on with keeps its number."""
_NAME = re.compile(r"\s*[^\n:]{1,64}: ")
_MARKS = str.maketrans("\0", "\ufffd", "*_")
"""What is left out; and U+0000, which PostgreSQL keeps in no text, counts as what is kept in its place."""
_BLOCK = re.compile(
    r"<(think(?:ing)?|update(?:variable)?|status_current_variables?|details|StatusPlaceHolderImpl)\b[^<>]*>", re.IGNORECASE
)
"""Where a block begins that clients take out. The names are those of SillyTavern's reasoning and of its MVU script."""


def fingerprint(text: str) -> int | None:
    """The number of a text, of 64 bits with a sign; None for one that says nothing."""
    found = letters(text)
    if not found:
        return None
    return int.from_bytes(blake2b(found.encode("utf-8", "replace"), digest_size=8).digest(), signed=True)


def letters(text: str) -> str:
    """The letters of a text that count, of its beginning. Of a text that is nothing but blocks they count, too."""
    story = _without_blocks(text) if "<" in text else text
    return _letters(story) or _letters(text)


def _letters(text: str) -> str:
    dense = "".join(text[: 2 * LONGEST].split())
    return (dense.translate(_MARKS) or dense)[:LONGEST]


def _without_blocks(text: str) -> str:
    """The beginning of a text without what clients take out of it; a block that never closes goes on to the end, but thoughts
    that never end are words. One pass: each end is looked for once, from where its block begins."""
    pieces, at, length, open_thoughts = [], 0, 0, False
    while length < 2 * LONGEST and (begin := _BLOCK.search(text, at)):
        pieces.append(text[at : begin.start()])
        length += len(pieces[-1])
        at = begin.end()
        name = begin[1].lower()
        if name == "statusplaceholderimpl" or begin[0].endswith("/>"):
            continue
        is_thought = name.startswith("think")
        end = None if is_thought and open_thoughts else _end_of(text, name, at)
        if end is None and is_thought:
            open_thoughts = True
            pieces.append(begin[0])
        elif end is None:
            return "".join(pieces)
        else:
            at = end
    return "".join([*pieces, text[at : at + 2 * LONGEST]])


def _end_of(text: str, name: str, at: int) -> int | None:
    """Where a block ends that began before ``at``, those of its name within it closed; None where it never does."""
    depth = 1
    for tag in re.compile(rf"<(/?){name}\b[^<>]*>", re.IGNORECASE).finditer(text, at):
        depth += -1 if tag[1] else 0 if tag[0].endswith("/>") else 1
        if depth == 0 or (tag[1] and name != "details"):
            return tag.end()
    return None


def spellings(text: str, *, most: int = 5) -> tuple[int, ...]:
    """The numbers that a text which a client sent may be stored under, the likeliest first: its own, without a speaker's name
    before it, and those of its paragraphs, where they are no more than ``most``: some clients join neighbouring messages."""
    return tuple(dict.fromkeys(number for said in _said(text, most) if (number := fingerprint(said)) is not None))


def _said(text: str, most: int) -> Iterator[str]:
    """What a sent text may be as it was first said."""
    yield text
    nameless = without_name(text)
    if nameless is not text:
        yield nameless
    paragraphs = text.split("\n\n", most)
    if 1 < len(paragraphs) <= most:
        for number, paragraph in enumerate(paragraphs):
            yield paragraph
            if number:
                yield "\n\n".join(paragraphs[:number])
                yield "\n\n".join(paragraphs[number:])


def without_name(text: str) -> str:
    """A text without a speaker's name before it; the same object where there is none."""
    name = _NAME.match(text)
    return text if name is None else text[name.end() :]
