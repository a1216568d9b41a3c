"""The arguments of a call: read from what a model wrote, and checked by the tool's schema.

A schema may come from a stranger (an MCP server, a definition), and arguments always do: neither may make the server fetch
addresses or compute for long. References lead nowhere outside the schema and are followed so often only, patterns are matched
with a time limit.
"""

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]  # it ships none
from jsonschema.exceptions import SchemaError, ValidationError  # type: ignore[import-untyped]
from jsonschema.validators import extend  # type: ignore[import-untyped]
from referencing import Registry
from referencing.exceptions import Unresolvable

from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import compile_js
from agentui.tools.errors import InvalidArguments, InvalidToolSchema

MAX_ARGUMENTS = 1024 * 1024
"""Bytes of a call's arguments, as the model wrote them and with what its references stand for."""
MAX_SCHEMA = 256 * 1024
"""Bytes of a tool's schema."""
MAX_REFERENCES = 10_000
"""How many references one check follows: two to each other's double make a schema of a kilobyte endless."""
SHOWN = 500

_followed: ContextVar[Iterator[int]] = ContextVar("followed")
"""Counts the references that a check follows."""


def read_arguments(text: str) -> dict[str, Json]:
    """The arguments that a model wrote. Raises InvalidArguments where they are no JSON object or too large or too deep."""
    if len(text) > MAX_ARGUMENTS or len(text.encode("utf-8", "surrogatepass")) > MAX_ARGUMENTS:
        raise InvalidArguments(f"The arguments are longer than {MAX_ARGUMENTS} bytes. Send less.")
    try:
        value = loads(text or "{}")
    except InvalidJson as error:
        raise InvalidArguments(f"The arguments are no JSON: {error}"[:SHOWN]) from None
    if not isinstance(value, dict):
        raise InvalidArguments("The arguments are no JSON object.")
    return value


def size_of(arguments: Mapping[str, Json]) -> int:
    """Bytes of the arguments with what their references stand for. Raises InvalidArguments where they are too many."""
    size = len(dumps(dict(arguments)))
    if size > MAX_ARGUMENTS:
        raise InvalidArguments(f"With what its references stand for, the call has more than {MAX_ARGUMENTS} bytes. Use slices.")
    return size


class ArgumentCheck:
    """A tool's schema, compiled. Raises InvalidToolSchema where it is none, or cannot be applied safely."""

    def __init__(self, schema: Mapping[str, Json]) -> None:
        plain = dict(schema)
        written = dumps(plain)
        if len(written) > MAX_SCHEMA:
            raise InvalidToolSchema(f"The JSON Schema is longer than {MAX_SCHEMA} bytes.")
        if b'"unevaluatedProperties"' in written and b'"patternProperties"' in written:
            raise InvalidToolSchema("unevaluatedProperties beside patternProperties is not supported.")
        try:
            Draft202012Validator.check_schema(plain, format_checker=FormatChecker(()))
        except SchemaError as error:
            raise InvalidToolSchema(f"This is no JSON Schema: {error.message}"[:SHOWN]) from None
        except RecursionError:
            raise InvalidToolSchema("The JSON Schema is too deep.") from None
        self._validator = _Validator(plain, registry=Registry())

    def check(self, arguments: Mapping[str, Json]) -> None:
        """Raises InvalidArguments that says where the arguments break which rule, and InvalidToolSchema where that cannot be
        told."""
        _followed.set(iter(range(MAX_REFERENCES)))
        try:
            fault = next(self._validator.iter_errors(dict(arguments)), None)
        except (Unresolvable, RecursionError, TimeoutError, RegexError) as error:
            raise InvalidToolSchema(f"The tool's schema cannot be applied: {type(error).__name__}.") from None
        if fault is not None:
            path = "".join(f"/{step}" for step in fault.absolute_path)
            raise InvalidArguments(f"{path or 'The arguments'}: {fault.message}"[:SHOWN])


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
    if isinstance(instance, str) and compile_js(pattern, "u").search(instance) is None:
        yield ValidationError(f"{instance!r:.100} does not match {pattern!r:.100}")


def _unique_items(validator: Any, wanted: bool, instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``uniqueItems``, by what the items look like as JSON: work is linear in them."""
    if wanted and isinstance(instance, list) and len({dumps(item) for item in instance}) < len(instance):
        yield ValidationError("the items are not all different")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``patternProperties``, as ``_pattern``."""
    if not isinstance(instance, dict):
        return
    for pattern, inner in patterns.items():
        compiled = compile_js(pattern, "u")
        for name, value in instance.items():
            if compiled.search(name) is not None:
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, inner: Any, instance: Json, schema: Any) -> Iterator[Any]:
    """The keyword ``additionalProperties``, as ``_pattern``."""
    if not isinstance(instance, dict):
        return
    named = schema.get("properties", {})
    patterns = [compile_js(pattern, "u") for pattern in schema.get("patternProperties", {})]
    for name, value in instance.items():
        if name in named or any(pattern.search(name) is not None for pattern in patterns):
            continue
        if inner is False:
            yield ValidationError(f"there is no argument {name!r:.100}")
        else:
            yield from validator.descend(value, inner, path=name)


_Validator: Any = extend(
    Draft202012Validator,
    {
        "$ref": _reference,
        "$dynamicRef": _dynamic_reference,
        "additionalProperties": _additional_properties,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
    },
)
