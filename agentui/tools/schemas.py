"""JSON Schemas, and values that are held against them.

A schema may come from a stranger (an MCP server, a definition), and values always do: neither may make the server fetch
addresses or compute for long. References lead nowhere outside the schema and are followed so often only, patterns are matched
with a time limit, and a check has one as a whole.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from time import monotonic
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]  # it ships none
from jsonschema.exceptions import SchemaError, ValidationError  # type: ignore[import-untyped]
from jsonschema.validators import extend  # type: ignore[import-untyped]
from referencing import Registry
from referencing.exceptions import Unresolvable

from agentui.jsonio import Json, dumps, loads
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import compile_js

MAX_SCHEMA = 256 * 1024
"""Bytes of a schema."""
MAX_REFERENCES = 10_000
"""How many references one check follows: two to each other's double make a schema of a kilobyte endless."""
CHECK_SECONDS = 2.0
"""How long one check may take: a list of alternatives times a list of items makes some kilobytes minutes."""
MAX_COMPILED = 128
"""Schemas that stay compiled."""
SHOWN = 500

_followed: ContextVar[Iterator[int]] = ContextVar("followed")
"""Counts the references that a check follows."""
_until: ContextVar[float] = ContextVar("until")
"""The moment of ``time.monotonic`` at which a check is given up."""


class BadSchema(ValueError):
    """A text that is no JSON Schema, or one that cannot be applied safely; the message says why."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """Where a value breaks a rule of its schema (a JSON Pointer, "" for the whole) and which."""

    path: str
    message: str


class SchemaCheck:
    """A schema, compiled. Raises BadSchema."""

    def __init__(self, schema: Mapping[str, Json]) -> None:
        written = dumps(dict(schema))
        if len(written) > MAX_SCHEMA:
            raise BadSchema(f"The JSON Schema is longer than {MAX_SCHEMA} bytes.")
        fault, self._validator = _compiled(written)
        if fault is not None:
            raise BadSchema(fault)

    def misfits(self, value: Json, most: int = 1) -> list[Misfit]:
        """Where the value breaks which rule, ``most`` places at most. Raises BadSchema where that cannot be told."""
        _followed.set(iter(range(MAX_REFERENCES)))
        _until.set(monotonic() + CHECK_SECONDS)
        try:
            faults = list(islice(self._validator.iter_errors(value), most))
        except (Unresolvable, RecursionError, TimeoutError, RegexError) as error:
            raise BadSchema(f"The schema cannot be applied: {type(error).__name__}.") from None
        return [Misfit("".join(f"/{step}" for step in each.absolute_path), each.message[:SHOWN]) for each in faults]


@lru_cache(MAX_COMPILED)
def _compiled(written: bytes) -> tuple[str | None, Any]:
    """What is wrong with a schema, None for nothing, and its validator: remembered, for both take long where it is large."""
    if b'"unevaluatedProperties"' in written and b'"patternProperties"' in written:
        return "unevaluatedProperties beside patternProperties is not supported.", None
    schema = loads(written)
    try:
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))
    except SchemaError as error:
        return f"This is no JSON Schema: {error.message}"[:SHOWN], None
    except RecursionError:
        return "The JSON Schema is too deep.", None
    return None, _Validator(schema, registry=Registry())


def weight_of(schema: Mapping[str, Json], size: int) -> int:
    """About how many bytes of JSON take as long to read as arguments of ``size`` bytes take to be held against a schema, at
    worst; the schema may still have to be compiled."""
    written = dumps(dict(schema))
    if b'"$ref"' in written or b'"$dynamicRef"' in written:
        return MAX_SCHEMA
    return len(written) * (64 + size // 8)


def _hurry() -> None:
    """Raise TimeoutError where the check has taken too long."""
    if monotonic() > _until.get():
        raise TimeoutError


def _timed(keyword: Callable[..., Any]) -> Callable[..., Any]:
    """A keyword of JSON Schema that is not begun any more once the check has taken too long."""

    def check(validator: Any, value: Any, instance: Json, schema: Any) -> Any:
        _hurry()
        return keyword(validator, value, instance, schema)

    return check


def _reference(validator: Any, reference: str, instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``$ref``, followed so often only."""
    if next(_followed.get(), None) is None:
        raise TimeoutError
    yield from Draft202012Validator.VALIDATORS["$ref"](validator, reference, instance, schema)


def _dynamic_reference(validator: Any, reference: str, instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``$dynamicRef``, as ``_reference``."""
    if next(_followed.get(), None) is None:
        raise TimeoutError
    yield from Draft202012Validator.VALIDATORS["$dynamicRef"](validator, reference, instance, schema)


def _pattern(validator: Any, pattern: str, instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``pattern`` with the expressions of JavaScript, which JSON Schema asks for, under a time limit."""
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield ValidationError(f"{instance!r:.100} does not match {pattern!r:.100}")


def _matches(pattern: str, text: str) -> bool:
    _hurry()
    return compile_js(pattern, "u").search(text) is not None


def _fits(validator: Any, instance: Json, schema: Any) -> bool:
    return next(validator.descend(instance, schema), None) is None


def _any_of(validator: Any, schemas: Sequence[Any], instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``anyOf``, without keeping what is wrong by each: every fault repeats the whole of the value."""
    if not any(_fits(validator, instance, inner) for inner in schemas):
        yield ValidationError(f"{instance!r:.100} is not valid under any of the given schemas")


def _one_of(validator: Any, schemas: Sequence[Any], instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``oneOf``, as ``_any_of``."""
    fitting = sum(_fits(validator, instance, inner) for inner in schemas)
    if fitting != 1:
        yield ValidationError(f"{instance!r:.100} is valid under {fitting} of the given schemas, and not under one")


def _unique_items(validator: Any, wanted: bool, instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``uniqueItems``, by what the items look like as JSON: work is linear in them."""
    if wanted and isinstance(instance, list) and len({dumps(item) for item in instance}) < len(instance):
        yield ValidationError("the items are not all different")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``patternProperties``, as ``_pattern``."""
    if not isinstance(instance, dict):
        return
    for pattern, inner in patterns.items():
        for name, value in instance.items():
            if _matches(pattern, name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, inner: Any, instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``additionalProperties``, as ``_pattern``."""
    if not isinstance(instance, dict):
        return
    named = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in named or any(_matches(pattern, name) for pattern in patterns):
            continue
        if inner is False:
            yield ValidationError(f"there is no property {name!r:.100}")
        else:
            yield from validator.descend(value, inner, path=name)


_OWN: Mapping[str, Callable[..., Any]] = {
    "$ref": _reference,
    "$dynamicRef": _dynamic_reference,
    "additionalProperties": _additional_properties,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "uniqueItems": _unique_items,
}
_Validator: Any = extend(
    Draft202012Validator,
    {name: _timed(_OWN.get(name, keyword)) for name, keyword in Draft202012Validator.VALIDATORS.items()},
)
