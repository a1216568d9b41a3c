"""Items of earlier answers that the API would have kept, for callers who point to them.

The Vercel AI SDK leaves ``store`` at its default and then sends ``{"type": "item_reference", "id": ...}`` instead of the
items of an earlier answer. OpenAI has those it made itself; the ones that were made here, of other vendors' answers,
are kept here. A miss is no loss of safety: the reference stays one, and ``requires_state`` names it.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from agentui.chat.request import WireRequest
from agentui.jsonio import Json, dumps, loads

MAX_ITEMS = 10_000
MAX_BYTES = 64 * 1024 * 1024


class ItemCache:
    """A bounded memory of wire items by their caller and their id, oldest out first: an id is a word that anybody may say.

    They are kept as JSON: hardly any is asked for, and as objects they would take many times the bytes that are counted.
    """

    def __init__(self, max_items: int = MAX_ITEMS, max_bytes: int = MAX_BYTES) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._kept: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._bytes = 0

    def __deepcopy__(self, memo: dict[int, object]) -> "ItemCache":
        """There is one: a copy of a renderer puts on the same cache."""
        return self

    def put(self, caller: str, items: Iterable[Json]) -> None:
        """Keep the items of an answer to a caller; those without an id, and those larger than the whole cache, are not kept."""
        for item in items:
            id = item.get("id") if isinstance(item, Mapping) else None
            if isinstance(id, str):
                # A copy: what orjson writes lies in a buffer of four kilobytes at least.
                self._put((caller, id), bytes(memoryview(dumps(item))))

    def expand(self, wire: WireRequest) -> WireRequest:
        """The request with the references that are found here replaced by their items; the same one where there are none."""
        given = wire.body.get("input")
        if not self._kept or not isinstance(given, list):
            return wire
        items = [self._find(wire.caller, item) for item in given]
        if all(new is old for new, old in zip(items, given, strict=True)):
            return wire
        return replace(wire, body={**wire.body, "input": items})

    def _put(self, key: tuple[str, str], item: bytes) -> None:
        if key in self._kept:
            self._bytes -= len(self._kept.pop(key))
        if len(item) > self._max_bytes:
            return
        self._kept[key] = item
        self._bytes += len(item)
        while len(self._kept) > self._max_items or self._bytes > self._max_bytes:
            self._bytes -= len(self._kept.popitem(last=False)[1])

    def _find(self, caller: str, item: Json) -> Json:
        """The item that a reference means, else what was given."""
        if not is_reference(item):
            return item
        kept = self._kept.get((caller, item["id"]))
        return item if kept is None else loads(kept)


def is_reference(item: Json) -> bool:
    """An item that only points to one kept elsewhere; its type may be left out."""
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return False
    return item.get("type") == "item_reference" or (item.get("type") is None and "role" not in item)
