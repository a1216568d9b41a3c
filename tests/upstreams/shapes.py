"""Shapes of wire objects: which fields an object may have, and what kind of value each holds.

A shape finds the first misfit and says where; each dialect puts that into its own words.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Json: TypeAlias = Any
Path: TypeAlias = tuple[str | int, ...]
Reason = Literal["unknown", "missing", "type", "value"]


class Misfit(Exception):
    """A value that does not fit: ``unknown`` and ``missing`` fields (the path ends with the name), a wrong ``type``
    (``detail`` says what was expected) or a ``value`` outside the allowed ones (``detail`` lists them)."""

    def __init__(self, reason: Reason, path: Path, detail: str = "", value: Json = None) -> None:
        super().__init__(f"{reason} at {path}: {detail}")
        self.reason: Reason = reason
        self.path = path
        self.detail = detail
        self.value = value


class Kind(Protocol):
    """Something a value can be."""

    def read(self, value: Json, path: Path) -> Json:
        """The value, its field names spelt one way. Raises Misfit."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value of some Python types; bool is never a number."""

    types: tuple[type, ...]
    name: str

    def read(self, value: Json, path: Path) -> Json:
        """The value itself. Raises Misfit for another type."""
        if not isinstance(value, self.types) or (isinstance(value, bool) and bool not in self.types):
            raise Misfit("type", path, self.name, value)
        return value


STRING = Scalar((str,), "a valid string")
INTEGER = Scalar((int,), "a valid integer")
NUMBER = Scalar((int, float), "a valid number")
BOOLEAN = Scalar((bool,), "a valid boolean")
OBJECT = Scalar((dict,), "an object")
ANY = Scalar((object, bool), "anything")


@dataclass(frozen=True, slots=True)
class Enum:
    """One of some strings."""

    values: tuple[str, ...]

    def read(self, value: Json, path: Path) -> Json:
        """The value itself. Raises Misfit for any other."""
        if not isinstance(value, str) or value not in self.values:
            raise Misfit("value", path, ", ".join(repr(one) for one in self.values), value)
        return value


def enum(*values: str) -> Enum:
    """One of these strings."""
    return Enum(values)


@dataclass(frozen=True, slots=True)
class Base64:
    """Bytes as base64 text; the url-safe alphabet too where ``url_safe``."""

    url_safe: bool = False

    def read(self, value: Json, path: Path) -> Json:
        """The text itself. Raises Misfit when it does not decode."""
        STRING.read(value, path)
        if not is_base64(value, url_safe=self.url_safe):
            raise Misfit("value", path, "base64", value)
        return value


def is_base64(text: str, *, url_safe: bool = False) -> bool:
    """Whether text is base64 of something. Padding may be left out only in the url-safe reading."""
    standard = text.replace("-", "+").replace("_", "/") if url_safe else text
    if url_safe:
        standard = standard.rstrip("=") + "=" * (-len(standard.rstrip("=")) % 4)
    try:
        base64.b64decode(standard, validate=True)
    except ValueError:
        return False
    return bool(text)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of one kind, with at least ``least`` and at most ``most`` members."""

    kind: Kind
    least: int = 0
    most: int | None = None

    def read(self, value: Json, path: Path) -> Json:
        """The members read. Raises Misfit."""
        if not isinstance(value, list):
            raise Misfit("type", path, "a valid list", value)
        if len(value) < self.least:
            raise Misfit("value", path, f"at least {self.least} items", value)
        if self.most is not None and len(value) > self.most:
            raise Misfit("value", path, f"at most {self.most} items", value)
        return [self.kind.read(item, (*path, index)) for index, item in enumerate(value)]


@dataclass(frozen=True, slots=True)
class Nullable:
    """A kind, or null."""

    kind: Kind

    def read(self, value: Json, path: Path) -> Json:
        """None or the value read."""
        return None if value is None else self.kind.read(value, path)


@dataclass(frozen=True, slots=True)
class StringOr:
    """A string, or a kind for everything else."""

    kind: Kind
    string: Kind = STRING

    def read(self, value: Json, path: Path) -> Json:
        """The value read as what it looks like."""
        return (self.string if isinstance(value, str) else self.kind).read(value, path)


@dataclass(frozen=True, slots=True)
class Obj:
    """An object: its fields, those it must have, and how names are spelt (``spell`` gives the name in ``fields``)."""

    fields: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    spell: Callable[[str], str] | None = None

    def read(self, value: Json, path: Path) -> Json:
        """The object with its fields read. Raises Misfit for unknown, missing and misfit fields."""
        if not isinstance(value, dict):
            raise Misfit("type", path, "an object", value)
        result: dict[str, Json] = {}
        for key, item in value.items():
            name = self.spell(key) if self.spell else key
            if name not in self.fields:
                raise Misfit("unknown", (*path, key), value=item)
            if name in result:
                raise Misfit("value", (*path, key), "one spelling of the field", item)
            result[name] = self.fields[name].read(item, (*path, name))
        for name in self.required:
            if name not in result:
                raise Misfit("missing", (*path, name))
        return result


@dataclass(frozen=True, slots=True)
class Tagged:
    """One of several objects, told apart by the string in ``tag`` (``default`` where it is absent)."""

    tag: str
    kinds: Mapping[str, Kind]
    default: str | None = None

    def read(self, value: Json, path: Path) -> Json:
        """The object read as its tag says. Raises Misfit for an unknown tag."""
        if not isinstance(value, dict):
            raise Misfit("type", path, "an object", value)
        tag = value.get(self.tag, self.default)
        if tag is None:
            raise Misfit("missing", (*path, self.tag))
        if not isinstance(tag, str) or tag not in self.kinds:
            raise Misfit("value", (*path, self.tag), ", ".join(repr(one) for one in self.kinds), tag)
        return self.kinds[tag].read(value, path)
