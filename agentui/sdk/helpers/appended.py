"""A sequence to which is only appended, and which many hold at different lengths."""

from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Appended(Generic[T]):
    """Immutable to who holds it. ``plus`` is a longer one; the newest shares its items with all before it, so that a thousand
    items that come one by one cost a thousand steps."""

    __slots__ = ("_items", "_length")

    def __init__(self) -> None:
        self._items: list[T] = []
        self._length = 0

    def plus(self, *items: T) -> "Appended[T]":
        """This sequence with more behind it. Where another one went on from here already, this one goes on with a copy."""
        if not items:
            return self
        longer = Appended[T]()
        longer._items = self._items if 0 < self._length == len(self._items) else self._items[: self._length]
        longer._items.extend(items)
        longer._length = self._length + len(items)
        return longer

    def __iter__(self) -> Iterator[T]:
        return iter(self._items[: self._length])

    def __len__(self) -> int:
        return self._length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Appended) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"Appended({list(self)!r})"
