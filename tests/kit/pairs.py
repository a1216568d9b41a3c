"""Requests of a client and the answers that it can read, as data: what a file of them says, and what answers are held against.

A step of a file is a request (``method``, ``path``, ``send``) and its answer: ``status``, and the shape of what is below
``data`` (``data``, or ``list`` where it is a list), of ``meta``, of the whole answer (``body``), or an error's ``error``.
``{name}`` stands for what an earlier step kept (``keep``: where in its data that is).

A shape is an object with the shapes of members, ``[shape]`` for a list of at least one, or a word: the name of a shape of the
file, ``=value``, or one of the types below; ``?`` behind a type allows null.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = Any

HERE = Path(__file__).parent
_FIRST_TIME = 1_600_000_000_000
_TYPES: Mapping[str, Any] = {
    "any": lambda value: True,
    "bool": lambda value: isinstance(value, bool),
    "id": lambda value: isinstance(value, str) and value != "",
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "text": lambda value: isinstance(value, str),
    "time": lambda value: isinstance(value, int) and value > _FIRST_TIME,
}


@dataclass(frozen=True)
class Pairs:
    """A file of requests and answers."""

    shapes: Mapping[str, Json]
    steps: list[Json]

    @classmethod
    def read(cls, name: str) -> "Pairs":
        """The file of this name."""
        document = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
        return cls(document["shapes"], document["steps"])

    def differences(self, step: Json, body: Json) -> list[str]:
        """Where an answer is not as its step says."""
        found: list[str] = []
        if "error" in step:
            error = {"code": f"={step['error']}", "message": "text"}
            return [*self._differ({"error": error}, body, "")]
        if "body" in step:
            found += self._differ(step["body"], body, "")
        if "data" in step:
            found += self._differ({"data": step["data"]}, body, "")
        if "list" in step:
            found += self._differ({"data": [step["list"]]}, body, "")
        if "meta" in step:
            meta = {
                "total": "int",
                "limit": "int",
                "offset": "int",
                "has_more": "bool",
                "sort_by": "text",
                "sort_order": "text",
            }
            found += self._differ({"meta": {**meta, **step["meta"]}}, body, "")
        return found

    def _differ(self, shape: Json, value: Json, where: str) -> Iterator[str]:
        if isinstance(shape, dict):
            if not isinstance(value, dict):
                yield f"{where} is no object: {value!r:.100}"
                return
            for name, inner in shape.items():
                if name not in value:
                    yield f"{where}/{name} is missing"
                else:
                    yield from self._differ(inner, value[name], f"{where}/{name}")
        elif isinstance(shape, list):
            if not isinstance(value, list) or not value:
                yield f"{where} is no list with something in it: {value!r:.100}"
                return
            for number, each in enumerate(value):
                yield from self._differ(shape[0], each, f"{where}/{number}")
        elif shape in self.shapes:
            yield from self._differ(self.shapes[shape], value, where)
        elif not _fits(shape, value):
            yield f"{where} is not {shape}: {value!r:.100}"


def _fits(word: str, value: Json) -> bool:
    """Whether a value is what a word says."""
    if word.startswith("="):
        return bool(word[1:] == (value if isinstance(value, str) else json.dumps(value)))
    return (word.endswith("?") and value is None) or bool(_TYPES[word.removesuffix("?")](value))


def filled(template: Json, kept: Mapping[str, str]) -> Json:
    """A template with what was kept in its places."""
    if isinstance(template, str):
        return re.sub(r"{(\w+)}", lambda place: kept[place[1]], template)
    if isinstance(template, dict):
        return {name: filled(value, kept) for name, value in template.items()}
    if isinstance(template, list):
        return [filled(value, kept) for value in template]
    return template


def at(data: Json, path: str) -> str:
    """What is at a place of some data, ``0.id`` for one."""
    for part in path.split("."):
        data = data[int(part)] if isinstance(data, list) else data[part]
    return str(data)
