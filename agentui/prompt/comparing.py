"""Where two JSON documents differ: a list of paths, each with both values."""

from collections.abc import Mapping
from typing import Final

from agentui.jsonio import Json

_NOTHING: Final = object()


def differences(left: Json, right: Json, path: str) -> list[dict[str, Json]]:
    """The paths below ``path`` at which two documents differ. Objects are compared member by member, all else whole."""
    found: list[dict[str, Json]] = []
    waiting: list[tuple[str, Json, Json]] = [(path, left, right)]
    while waiting:
        place, old, new = waiting.pop()
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            names = sorted({*old, *new}, reverse=True)
            waiting += [(f"{place}.{name}", old.get(name, _NOTHING), new.get(name, _NOTHING)) for name in names]
        elif old is _NOTHING:
            found.append({"path": place, "change_type": "added", "right": new})
        elif new is _NOTHING:
            found.append({"path": place, "change_type": "removed", "left": old})
        elif old != new:
            found.append({"path": place, "change_type": "changed", "left": old, "right": new})
    return found
