"""Whether a text says what a model claims that it says: the quote has to stand there, and to have a word of the claim."""

import re
from collections.abc import Sequence
from typing import Final

from agentui.memories.writing.material import PageText
from agentui.words.cutting import cut, normalised

LONGEST_QUOTE: Final = 1000
_MARKS: Final = str.maketrans("“”„«»‘’‚–—…", '"""""\'\'\'--.')
_ENDS: Final = " \t\n\"'.,;:!?-*。，！？、"


class Quotes:
    """The texts that may be quoted. Letter case, blanks, kinds of quotation marks and what stands at a quote's ends do not
    count: models copy these as they please."""

    def __init__(self, pages: Sequence[PageText]) -> None:
        self._texts = [(page.page_id, _plain(page.text)) for page in pages]

    def page_of(self, quote: str) -> str | None:
        """The page where a quote stands; None where it stands nowhere, or has no words."""
        wanted = _plain(quote).strip(_ENDS)
        if not wanted or len(quote) > LONGEST_QUOTE:
            return None
        return next((page_id for page_id, text in self._texts if wanted in text), None)


def shares_words(one: str, other: str) -> bool:
    """Whether two texts have a word, a number or a name in common; function words do not count."""
    return not set(cut(one)).isdisjoint(cut(other))


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", normalised(text.translate(_MARKS))).strip()
