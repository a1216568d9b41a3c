"""A function call whose arguments arrive in pieces (``streamFunctionCallArguments``).

Every piece names its place with a JSON path such as ``$.place.streets[0].name`` (RFC 9535, names and indexes only); a
string that ``willContinue`` is told in several pieces.
"""

import re
from typing import Final, TypeAlias

from agentui.jsonio import Json
from agentui.vendors.gemini.protojson import Malformed, flag, items, number, obj, text

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d{1,9})\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")
_Steps: TypeAlias = list[str | int]


class PartialCall:
    """One call while it grows: its first part carries the name, the last one says nothing of ``willContinue``."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.name: str | None = None
        self.signature: str | None = None
        self.arguments: dict[str, Json] = {}
        self._growing: str | None = None

    def add(self, call: dict[str, Json], signature: str | None) -> bool:
        """Take the next part. True when the call is complete. Raises Malformed."""
        self.id = text(call, "id") or self.id
        self.name = text(call, "name") or self.name
        self.signature = signature or self.signature
        self.arguments.update(obj(call, "args"))
        for piece in items(call, "partialArgs"):
            if not isinstance(piece, dict):
                raise Malformed("Every partial argument must be an object.", "partialArgs")
            self._add_piece(piece)
        return flag(call, "willContinue") is not True

    def _add_piece(self, piece: dict[str, Json]) -> None:
        path = text(piece, "jsonPath") or ""
        _put(self.arguments, _steps(path), _value(piece), append=self._growing == path)
        self._growing = path if flag(piece, "willContinue") else None


def _value(piece: dict[str, Json]) -> Json:
    """The value that a piece carries; one without any is null."""
    words = text(piece, "stringValue")
    if words is not None:
        return words
    truth = flag(piece, "boolValue")
    if truth is not None:
        return truth
    value = number(piece, "numberValue")
    # JSON numbers arrive as doubles; a whole one was an integer before.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _steps(path: str) -> _Steps:
    """The names and indexes of a JSON path. Raises Malformed for wildcards, filters and the root alone."""
    steps: _Steps = []
    position = 1
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            break
        dotted, index, single, double = match.groups()
        steps.append(int(index) if index is not None else next(n for n in (dotted, single, double) if n is not None))
        position = match.end()
    if not path.startswith("$") or not steps or position != len(path):
        raise Malformed("A partial argument's jsonPath must be made of names and indexes.", "jsonPath")
    return steps


def _put(root: dict[str, Json], steps: _Steps, value: Json, *, append: bool) -> None:
    """Set or lengthen the value at ``steps``, making what lies between. An index may go one past the end, not further."""
    place: Json = root
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        old = _old(place, step)
        if following is not None:
            new = old if old is not None else ([] if isinstance(following, int) else {})
        else:
            new = old + value if append and isinstance(old, str) and isinstance(value, str) else value
        if isinstance(place, list) and step == len(place):
            place.append(new)
        else:
            place[step] = new
        place = new


def _old(place: Json, step: str | int) -> Json:
    """What stands at ``step`` so far. Raises Malformed when the step does not fit the place."""
    if isinstance(place, dict) and isinstance(step, str):
        return place.get(step)
    if isinstance(place, list) and isinstance(step, int) and step <= len(place):
        return place[step] if step < len(place) else None
    raise Malformed("A partial argument's jsonPath does not fit what came before it.", "jsonPath")
