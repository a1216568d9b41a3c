"""A field of a configuration that holds a JSON Schema."""

from collections.abc import Sequence

from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.pipeline.node import Build
from agentui.threads import apart
from agentui.tools.schemas import BadSchema, Misfit, SchemaCheck, weight_of

MOST_TOLD = 10
"""Places of one value that are told of."""


class SchemaField:
    """A schema that values are held against. ``schema`` is None where the field is empty or broken."""

    def __init__(self, build: Build, name: str, source: str) -> None:
        """Compile the text of the field ``name``; one that is no schema is a problem of the node."""
        self.schema: dict[str, Json] | None = None
        if not source.strip():
            return
        try:
            schema = loads(source)
            if not isinstance(schema, dict):
                raise BadSchema("A JSON Schema is a JSON object.")
            self._check = SchemaCheck(schema)
            self.schema = schema
        except (InvalidJson, BadSchema) as error:
            build.problem("schema.invalid", f"This is no JSON Schema that can be used: {error}", name)

    async def misfits(self, value: Json) -> Sequence[Misfit]:
        """Where a value breaks which rule; nothing without a schema. Raises BadSchema where that cannot be told."""
        if self.schema is None:
            return ()
        return await apart(weight_of(self.schema, len(dumps(value))), lambda: self._check.misfits(value, MOST_TOLD))


def complaint(misfits: Sequence[Misfit]) -> str:
    """What is wrong with a value, a line for each place."""
    return "\n".join(f"{misfit.path or '(the whole)'}: {misfit.message}" for misfit in misfits)
