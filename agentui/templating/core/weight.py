"""How large a JSON value is when it is written: what is shared counts as often as it would stand there.

A value that holds another one twice, which holds a third one twice, and so on, takes a few bytes of memory and fills a disk
when it is written. Each object and list is visited once, so weighing takes as long as the value is large in memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentui.jsonio import Json
from agentui.templating.core.paths import is_sequence
from agentui.templating.core.problems import CannotInsert

MAX_NESTING = 120
"""Levels of a value that a template may insert: one of a caller, and what nodes put around it."""

NODE = 32
"""What every value weighs beside its characters: about what reading it again takes."""

_LONG = 1024
_PLAIN = (list, tuple, int, float, type(None))
"""What is no mapping, without the asking of an abstract class, which takes long."""


@dataclass(slots=True)
class Scale:
    """Weighs values that go into one result.

    ``deepest`` is how many levels one may have; ``distinct`` is what those weighed so far take in memory, in characters.
    Values must not change meanwhile; they are held as long as the scale is.
    """

    deepest: int = MAX_NESTING
    distinct: int = field(default=0, init=False)
    _known: dict[int, tuple[int, int, Json]] = field(default_factory=dict, init=False)

    def weigh(self, value: Json) -> int:
        """About the characters of the value as JSON. Raises CannotInsert for what nests deeper than ``deepest``."""
        return self._weigh(value, 0)[0]

    def _weigh(self, value: Json, depth: int) -> tuple[int, int]:
        """The characters of a value that stands so deep, and the levels of objects and lists below it (-1: it is neither)."""
        if isinstance(value, str):
            return self._text(value), -1
        is_object = isinstance(value, (dict, Mapping))
        if not is_object and not is_sequence(value):
            size = NODE if not isinstance(value, int) else NODE + value.bit_length() // 3
            self.distinct += size
            return size, -1
        known = self._known.get(id(value))
        # What was seen higher up may stand too deep here.
        if depth + (0 if known is None else known[1]) > self.deepest:
            raise CannotInsert(f"The value nests deeper than {self.deepest} levels. Insert a part of it.")
        if known is not None:
            return known[0], known[1]
        own = NODE * len(value) + sum(map(len, value)) if is_object else 0
        self.distinct += NODE + own
        total, levels = NODE + own, 0
        for item in value.values() if is_object else value:
            size, below = self._weigh(item, depth + 1)
            total, levels = total + size, max(levels, below + 1)
        self._known[id(value)] = (total, levels, value)
        return total, levels

    def _text(self, text: str) -> int:
        size = NODE + len(text)
        if size > _LONG:
            if id(text) in self._known:
                return size
            self._known[id(text)] = (size, -1, text)
        self.distinct += size
        return size


def is_heavier(value: Json, limit: int) -> bool:
    """Whether the value weighs more than ``limit``; counting stops there."""
    return weight_within(value, limit) > limit


def weight_within(value: Json, limit: int) -> int:
    """What the value weighs; of one that weighs more than ``limit``, some weight beyond that: counting stops there."""
    total = 0
    waiting = [value]
    while waiting and total <= limit:
        item = waiting.pop()
        total += NODE
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, dict) or (not isinstance(item, _PLAIN) and isinstance(item, Mapping)):
            total += sum(map(len, item))
            waiting.extend(item.values())
        elif is_sequence(item):
            waiting.extend(item)
    return total


def beginning(value: Json, limit: int) -> Json:
    """The value without what stands beyond about the first ``limit`` characters; texts are cut, whole members left out."""
    return _cut(value, limit)[0]


def _cut(value: Json, left: int) -> tuple[Json, int]:
    """The beginning of the value, and how many characters are left after it."""
    left -= NODE
    if isinstance(value, str):
        return value[: max(left, 0)], left - len(value)
    if isinstance(value, Mapping):
        members: dict[str, Json] = {}
        for key, member in value.items():
            if left <= 0:
                break
            members[key], left = _cut(member, left - len(key))
        return members, left
    if is_sequence(value):
        items: list[Json] = []
        for item in value:
            if left <= 0:
                break
            cut, left = _cut(item, left)
            items.append(cut)
        return items, left
    return value, left
