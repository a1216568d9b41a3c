"""Answers whose JSON came as the only member of an object, because the model gives nothing but objects: unwrapped, whole and as
they stream.

    {"value": [1, 2]}     [1, 2]
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from agentui.chat.deltas import Delta, End, Finish, TextDelta
from agentui.chat.reply import Reply, ReplyBuilder

MEMBER: Final = "value"
"""The member's name."""
_OPENING: Final = re.compile(r'\s*\{\s*"value"\s*:\s*')
_MAX_HELD: Final = 256
"""Characters that are looked at before the value and held back behind it; more white space than this is nobody's."""


class Unwrapper:
    """Unwraps one answer. What is no such object passes as it is."""

    def __init__(self) -> None:
        self._choices: dict[int, _Text] = {}

    def feed(self, deltas: Iterable[Delta]) -> list[Delta]:
        """The deltas with the value alone as their text."""
        kept: list[Delta] = []
        for delta in deltas:
            if isinstance(delta, TextDelta):
                if text := self._choices.setdefault(delta.choice, _Text()).feed(delta.text):
                    kept.append(TextDelta(text, delta.choice))
                continue
            if isinstance(delta, Finish):
                kept += self._released(delta.choice)
            elif isinstance(delta, End):
                kept += [text for number in tuple(self._choices) for text in self._released(number)]
            kept.append(delta)
        return kept

    def unwrapped(self, reply: Reply) -> Reply:
        """A whole answer; it keeps what the upstream itself wrote as ``raw``."""
        builder = ReplyBuilder()
        builder.feed(self.feed(reply.deltas()))
        made = builder.reply()
        return Reply(made.choices, made.id, made.model, made.created, reply.usage, reply.raw, reply.raw_vendor)

    def _released(self, number: int) -> Iterator[Delta]:
        """What was held back of a choice that is over."""
        text = self._choices.pop(number, None)
        if text is not None and (rest := text.close()):
            yield TextDelta(rest, number)


class _Text:
    """The text of one choice while it grows: the opening is awaited, then all passes but what may be the closing brace."""

    def __init__(self) -> None:
        self._held = ""
        self._is_open: bool | None = None
        """Whether the object has begun; None as long as that is not known."""

    def feed(self, text: str) -> str:
        """The text that may be told by now, given more of it."""
        if self._is_open is False:
            return text
        text, self._held = self._held + text, ""
        if self._is_open is None:
            begun = _OPENING.match(text)
            if begun is None or (begun.end() == len(text) and len(text) < _MAX_HELD):
                # The opening may go on; what has other characters by now is something else.
                if len(text) < _MAX_HELD and _may_open(text):
                    self._held = text
                    return ""
                self._is_open = False
                return text
            self._is_open, text = True, text[begun.end() :]
        value = text.rstrip()
        if value.endswith("}"):
            value = value[:-1].rstrip()
        if len(text) - len(value) > _MAX_HELD:
            value = text
        self._held = text[len(value) :]
        return value

    def close(self) -> str:
        """The text is over: what was held back, unless it is the closing brace."""
        return "" if self._is_open and "}" in self._held else self._held


def _may_open(text: str) -> bool:
    """Whether a text may go on to be the opening: without white space it is the beginning of one, or one whole."""
    return '{"value":'.startswith("".join(text.split()))
