"""The texts that macros of a prompt read, some of which have macros themselves: these are replaced when they are first read.

SillyTavern does the same (release 1.19, ``getCharacterCardFieldsLazy``): a card's text may hold another one of its texts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import overload


class ToldTexts(Mapping[str, str]):
    """Texts by the names of their macros. ``expand`` replaces the macros of one, ``cycle`` hears the name of one that is read
    while its own macros are replaced, and is nothing then."""

    def __init__(self, told: Mapping[str, str], expand: Callable[[str], str], cycle: Callable[[str], None]) -> None:
        self._told = dict(told)
        self._waiting: dict[str, str] = {}
        self._open: set[str] = set()
        self._expand = expand
        self._cycle = cycle

    def tell(self, texts: Mapping[str, str]) -> None:
        """Texts without macros; what was told by their names before is forgotten."""
        self._told |= texts
        for name in texts:
            self._waiting.pop(name, None)

    def tell_raw(self, texts: Mapping[str, str]) -> None:
        """Texts that may have macros."""
        self.tell(texts)
        self._waiting |= {name: text for name, text in texts.items() if "{{" in text or "<" in text}

    def settled(self, expand: Callable[[str], str]) -> dict[str, str]:
        """All texts as they are; those that nobody has read by another ``expand``."""
        return self._told | {name: expand(text) for name, text in self._waiting.items()}

    def __getitem__(self, name: str) -> str:
        """The text of a macro. Raises KeyError."""
        if name in self._open:
            self._cycle(name)
            return ""
        raw = self._waiting.pop(name, None)
        if raw is not None:
            self._open.add(name)
            self._told[name] = self._expand(raw)
            self._open.discard(name)
        return self._told[name]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._told)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._told)


class ToldGreetings(Sequence[str]):
    """A character's greetings, of each the macros replaced when it is first read."""

    def __init__(self, greetings: Sequence[str], expand: Callable[[str], str]) -> None:
        self._raw = tuple(greetings)
        self._made: dict[int, str] = {}
        self._expand = expand

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        """A greeting, or several as they were written. One that is read in itself is nothing there."""
        if isinstance(at, slice):
            return self._raw[at]
        if at not in self._made:
            self._made[at] = ""
            self._made[at] = self._expand(self._raw[at])
        return self._made[at]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._raw)

    def settled(self, expand: Callable[[str], str]) -> tuple[str, ...]:
        """All of them; those that nobody has read by another ``expand``."""
        return tuple(self._made[at] if at in self._made else expand(text) for at, text in enumerate(self._raw))
