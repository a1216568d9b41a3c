"""The arguments of a call: read from what a model wrote, and checked by the tool's schema."""

from collections.abc import Mapping

from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.tools.errors import InvalidArguments, InvalidToolSchema
from agentui.tools.schemas import SHOWN, BadSchema, SchemaCheck

MAX_ARGUMENTS = 1024 * 1024
"""Bytes of a call's arguments, as the model wrote them and with what its references stand for."""


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
        try:
            self._check = SchemaCheck(schema)
        except BadSchema as error:
            raise InvalidToolSchema(str(error)) from None

    def check(self, arguments: Mapping[str, Json]) -> None:
        """Raises InvalidArguments that says where the arguments break which rule, and InvalidToolSchema where that cannot be
        told."""
        try:
            misfits = self._check.misfits(dict(arguments))
        except BadSchema as error:
            raise InvalidToolSchema(f"The tool's schema: {error}") from None
        for misfit in misfits:
            raise InvalidArguments(f"{misfit.path or 'The arguments'}: {misfit.message}"[:SHOWN])
