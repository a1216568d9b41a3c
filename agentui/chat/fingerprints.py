"""Numbers by which texts are found again, however a client spells them.

Clients trim answers, add the speaker's name, mend emphasis and take out thoughts. What they leave alone are the letters, so a
fingerprint is made of those: without white space, ``*`` and ``_``, without thoughts in ``<think>``, of the beginning alone.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b

LONGEST = 4000
"""Characters of a text that count: enough to tell two texts apart, and an answer that was gone on with keeps its number."""
_NAME = re.compile(r"\s*[^\n:]{1,64}: ")
_MARKS = str.maketrans("", "", "*_")
_THOUGHT, _THOUGHT_END = "<think>", "</think>"


def fingerprint(text: str) -> int | None:
    """The number of a text, of 64 bits with a sign; None for one that says nothing."""
    if text.lstrip()[:7] == _THOUGHT:
        text = text.partition(_THOUGHT_END)[2] or text
    dense = "".join(text[: 2 * LONGEST].split())
    letters = (dense.translate(_MARKS) or dense)[:LONGEST]
    if not letters:
        return None
    return int.from_bytes(blake2b(letters.encode("utf-8", "replace"), digest_size=8).digest(), signed=True)


def spellings(text: str) -> tuple[int, ...]:
    """The numbers that a text which a client sent may be stored under, the likeliest first: its own, without a speaker's name
    before it, and those of its paragraphs, where they are few: some clients join neighbouring messages."""
    return tuple(dict.fromkeys(number for said in _said(text) if (number := fingerprint(said)) is not None))


def _said(text: str) -> Iterator[str]:
    """What a sent text may be as it was first said."""
    yield text
    name = _NAME.match(text)
    if name is not None:
        yield text[name.end() :]
    paragraphs = text.split("\n\n", 5)
    if 1 < len(paragraphs) <= 5:
        for number, paragraph in enumerate(paragraphs):
            yield paragraph
            if number:
                yield "\n\n".join(paragraphs[:number])
