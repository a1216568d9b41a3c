"""A conversation of plain words, as most are: every message is a role and one text that is not empty, and nothing else.

It is a sequence of messages like any other, but its messages are made only when somebody takes one out: dialects pass plain
words on without them.
"""

from collections.abc import Iterator, Sequence
from typing import overload

from agentui.chat.messages import Message, Role, Text
from agentui.jsonio import Json


class PlainMessages(Sequence[Message]):
    """Roles, texts and raw objects side by side; ``raws`` are of the dialect ``vendor``, None for messages made here.

    ``easy`` is the same conversation as ``{"role", "content"}`` objects, where the caller has sent it so. Equal to any
    sequence of the same messages. A value that nobody changes, and neither are its lists.
    """

    __slots__ = ("_easy", "_messages", "raws", "roles", "texts", "vendor")

    def __init__(
        self,
        roles: Sequence[Role],
        texts: Sequence[str],
        raws: Sequence[Json],
        vendor: str | None,
        easy: list[Json] | None = None,
    ) -> None:
        self.roles = roles
        self.texts = texts
        self.raws = raws
        self.vendor = vendor
        self._easy = easy
        self._messages: tuple[Message, ...] | None = None

    def easy(self) -> list[Json]:
        """Every message as ``{"role": ..., "content": text}``, which chat completions, Claude and Responses all read."""
        if self._easy is None:
            self._easy = [{"role": role, "content": text} for role, text in zip(self.roles, self.texts, strict=True)]
        return self._easy

    def picked(self, places: Sequence[int]) -> "PlainMessages":
        """The messages at these places, in this order."""
        easy = None if self._easy is None else [self._easy[place] for place in places]
        roles, texts = [self.roles[place] for place in places], [self.texts[place] for place in places]
        return PlainMessages(roles, texts, [self.raws[place] for place in places], self.vendor, easy)

    @property
    def leading(self) -> int:
        """How many system messages stand before the first of another role."""
        if not self.roles or self.roles[0] != "system":
            return 0
        return next((number for number, role in enumerate(self.roles) if role != "system"), len(self.roles))

    def __len__(self) -> int:
        return len(self.roles)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._made())

    @overload
    def __getitem__(self, place: int) -> Message: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Message, ...]: ...

    def __getitem__(self, place: int | slice) -> Message | tuple[Message, ...]:
        return self._made()[place]

    def __eq__(self, other: object) -> bool:
        return tuple(other) == self._made() if isinstance(other, PlainMessages | tuple) else NotImplemented

    def __repr__(self) -> str:
        return f"PlainMessages{self._made()!r}"

    def _made(self) -> tuple[Message, ...]:
        """The messages, made when first needed."""
        if self._messages is None:
            self._messages = tuple(
                [
                    Message(role, (Text(text),), None, raw, None if raw is None else self.vendor)
                    for role, text, raw in zip(self.roles, self.texts, self.raws, strict=True)
                ]
            )
        return self._messages


def plain_message(role: Role, text: str) -> PlainMessages:
    """A conversation of one message, made here rather than by a caller. ``text`` is not empty."""
    return PlainMessages([role], [text], [None], None)


def join_messages(stretches: Sequence[Sequence[Message]]) -> Sequence[Message]:
    """One conversation of several; plain words where all of them are, and come from one caller."""
    plain = [stretch for stretch in stretches if type(stretch) is PlainMessages]
    vendors = {stretch.vendor for stretch in plain} - {None}
    if len(plain) < len(stretches) or len(vendors) > 1:
        return tuple([message for stretch in stretches for message in stretch])
    return PlainMessages(
        [role for stretch in plain for role in stretch.roles],
        [text for stretch in plain for text in stretch.texts],
        [raw for stretch in plain for raw in stretch.raws],
        next(iter(vendors), None),
        [easy for stretch in plain for easy in stretch.easy()],
    )


def as_plain(messages: Sequence[Message]) -> PlainMessages | None:
    """The conversation itself where it is known to be plain words, else None."""
    return messages if type(messages) is PlainMessages else None
