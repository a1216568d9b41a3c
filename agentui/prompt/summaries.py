"""``<summary>`` blocks: what a model writes for later turns, and which the user does not see."""

import re
from typing import Final

_OPEN: Final = "<summary>"
_CLOSE: Final = "</summary>"
_TAGS: Final = {tag: re.compile(tag, re.ASCII | re.IGNORECASE) for tag in (_OPEN, _CLOSE)}


class SummaryCutter:
    """Takes the summaries out of a text that arrives in pieces; however it is cut, the same comes out.

    Letter case does not count. ``summaries`` are those that have ended, trimmed, without empty ones. A block that never ends is
    text: it is held back until ``end``. Work is linear in the text.
    """

    def __init__(self) -> None:
        self.summaries: list[str] = []
        self._inner: list[str] | None = None
        """The pieces of the block that is open, its tag first."""
        self._tail = ""
        """What may be the beginning of the tag that is looked for."""

    def feed(self, text: str) -> str:
        """The next piece of the text; what of it all may be shown now."""
        rest, at = self._tail + text, 0
        shown: list[str] = []
        while True:
            wanted = _OPEN if self._inner is None else _CLOSE
            out = shown if self._inner is None else self._inner
            tag = _TAGS[wanted].search(rest, at)
            if tag is None:
                held = _begun(rest[max(at, len(rest) - len(wanted)) :], wanted)
                out.append(rest[at : len(rest) - held])
                self._tail = rest[len(rest) - held :]
                return "".join(shown)
            out.append(rest[at : tag.start()])
            at = tag.end()
            if self._inner is None:
                self._inner = [tag[0]]
            else:
                self._keep("".join(self._inner[1:]).strip())
                self._inner = None

    def end(self) -> str:
        """What is still to be shown at the end of the text."""
        text = "".join(self._inner or []) + self._tail
        self._inner, self._tail = None, ""
        return text

    def _keep(self, summary: str) -> None:
        if summary:
            self.summaries.append(summary)


def _begun(text: str, tag: str) -> int:
    """How many characters at the end of a text begin a tag."""
    end = text[-len(tag) + 1 :].lower()
    return next((length for length in range(len(end), 0, -1) if tag.startswith(end[-length:])), 0)
