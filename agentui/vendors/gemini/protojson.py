"""Proto JSON: the spelling rules of Google's JSON, shared by everything that reads this dialect.

Both ``camelCase`` and ``snake_case`` names are legal, ``null`` means absent, numbers may be written as strings, and bytes
are base64 in the standard or the URL-safe alphabet (https://protobuf.dev/programming-guides/json/).
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

from agentui.jsonio import Json


class Malformed(ValueError):
    """JSON that is not this dialect; the message says what is wrong, ``where`` names the member."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where


@contextmanager
def within(where: str) -> Iterator[None]:
    """Whatever is malformed in this block lies inside ``where``."""
    try:
        yield
    except Malformed as error:
        raise Malformed(error.message, f"{where}.{error.where}" if error.where else where) from error


def member(parent: Mapping[str, Json], name: str) -> Json:
    """The member ``name`` (camelCase) under either spelling; None when it is absent or null."""
    value = parent.get(name)
    return parent.get(snake(name)) if value is None else value


def spelling(parent: Mapping[str, Json], name: str) -> str:
    """The key under which ``parent`` holds ``name``; camelCase when it holds none."""
    other = snake(name)
    return other if name not in parent and other in parent else name


@lru_cache(maxsize=512)
def snake(name: str) -> str:
    """``camelCase`` as ``camel_case``."""
    return re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), name)


@lru_cache(maxsize=512)
def camel(name: str) -> str:
    """``snake_case`` as ``snakeCase``."""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def label_of(key: str) -> str:
    """A member's name fit for ``x-agentui-dropped``: camelCase, and never what a caller made up to break a header."""
    return camel(key) if re.fullmatch(r"[A-Za-z0-9_.]{1,80}", key) else "unknown"


def obj(parent: Mapping[str, Json], name: str) -> dict[str, Json]:
    """The object under ``name``, {} when absent. Raises Malformed for anything else."""
    value = member(parent, name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed(f"{name} must be an object.", name)
    return value


def items(parent: Mapping[str, Json], name: str) -> list[Json]:
    """The list under ``name``, [] when absent. Raises Malformed for anything else."""
    value = member(parent, name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Malformed(f"{name} must be a list.", name)
    return value


def text(parent: Mapping[str, Json], name: str) -> str | None:
    """The string under ``name``. Raises Malformed for anything else."""
    value = member(parent, name)
    if value is not None and not isinstance(value, str):
        raise Malformed(f"{name} must be a string.", name)
    return value


def flag(parent: Mapping[str, Json], name: str) -> bool | None:
    """The boolean under ``name``. Raises Malformed for anything else."""
    value = member(parent, name)
    if value is not None and not isinstance(value, bool):
        raise Malformed(f"{name} must be true or false.", name)
    return value


def number(parent: Mapping[str, Json], name: str) -> float | None:
    """The number under ``name``, also where it is written as a string. Raises Malformed for anything else."""
    value = member(parent, name)
    if value is None:
        return None
    if isinstance(value, str):
        value = _number_of(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Malformed(f"{name} must be a number.", name)
    return value


def integer(parent: Mapping[str, Json], name: str) -> int | None:
    """The whole number under ``name``; 40.0 is one (the SDK sends topK so). Raises Malformed for anything else."""
    value = number(parent, name)
    if value is None:
        return None
    if value != int(value):
        raise Malformed(f"{name} must be a whole number.", name)
    return int(value)


def _number_of(value: str) -> Json:
    """The finite number that a string spells, else the string."""
    if not re.fullmatch(r"-?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,2})?", value, re.ASCII):
        return value
    return int(value) if value.lstrip("-").isdigit() else float(value)


_STANDARD = str.maketrans("-_", "+/")


def standard_base64(data: str) -> str:
    """Base64 in the standard alphabet with its padding: SDKs send the URL-safe one."""
    if "-" in data or "_" in data:
        data = data.translate(_STANDARD)
    missing = -len(data) % 4
    return data + "=" * missing if missing in (1, 2) else data
