"""The shapes of defined tools over HTTP."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from agentui.definitions.records import Definition, DefinitionSource, HandlerType, HttpHandler, Method, PipelineHandler
from agentui.definitions.stored import DefinitionFilter
from agentui.jsonio import Json
from agentui.schemas.forms import NO_NUL, Form, Id, ListQuery, Patch, QueryBool
from agentui.tools.tool import CallerSlot, SideEffect

MAX_TEMPLATE = 100_000
MOST_BYTES = 1024 * 1024

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""What every vendor takes as the name of a tool."""
Description = Annotated[str, Field(max_length=2000), NO_NUL]
Template = Annotated[str, Field(max_length=MAX_TEMPLATE)]
Slots = Annotated[list[CallerSlot], Field(max_length=4)]
Timeout = Annotated[int, Field(ge=1000, le=600_000)]
Kind = Literal["script", "http", "pipeline"]


class HttpForm(Form):
    """A handler that is a request."""

    method: Method = "GET"
    url: Annotated[str, Field(min_length=1, max_length=10_000), NO_NUL]
    headers: dict[Id, Annotated[str, Field(max_length=10_000)]] = Field(default_factory=dict, max_length=50)
    body: Template = ""
    timeout_ms: Timeout = 30_000
    max_response_bytes: int = Field(256 * 1024, ge=1, le=MOST_BYTES)

    @property
    def handler(self) -> HttpHandler:
        """The same for the store."""
        return HttpHandler(**self.model_dump())


class PipelineForm(Form):
    """A handler that is a run of a pipeline."""

    pipeline_id: Id
    input: Template = ""
    model: Id | None = None
    timeout_ms: Timeout = 120_000

    @property
    def handler(self) -> PipelineHandler:
        """The same for the store."""
        return PipelineHandler(**self.model_dump())


class OfHttp(Form):
    """A definition's handler that is a request."""

    handler: HttpForm


class OfPipeline(Form):
    """A definition's handler that is a run."""

    handler: PipelineForm


HANDLERS: Mapping[HandlerType, type[OfHttp | OfPipeline]] = {"http": OfHttp, "pipeline": OfPipeline}
"""The forms of handlers, where errors find them."""


class NewDefinition(Form):
    """A tool to define; without a ``side_effect_level`` only a GET and a pipeline have none."""

    name: Name
    description: Description = ""
    parameters: dict[str, Json] = Field(default_factory=dict)
    side_effect_level: SideEffect | None = None
    allowed_slots: Slots = Field(default_factory=list)
    source: DefinitionSource = "custom"
    source_id: Id | None = None
    enabled: bool = True
    handler_type: Kind = "script"
    handler: dict[str, Json] = Field(default_factory=dict)


class DefinitionPatch(Patch):
    """What to change of a defined tool; ``handler`` is said anew as a whole."""

    name: Name = "unnamed"
    description: Description = ""
    parameters: dict[str, Json] = Field(default_factory=dict)
    side_effect_level: SideEffect = "irreversible"
    allowed_slots: Slots = Field(default_factory=list)
    source: DefinitionSource = "custom"
    source_id: Id | None = None
    enabled: bool = True
    handler_type: Kind = "script"
    handler: dict[str, Json] = Field(default_factory=dict)


class DefinitionToggle(Form):
    """Whether a tool is to be offered."""

    enabled: bool


class DefinitionQuery(ListQuery):
    """Which defined tools, in which order."""

    source: DefinitionSource | None = Field(None, description="That came with a preset, a character or nothing (custom).")
    source_id: Id | None = Field(None, description="That came with this one.")
    enabled: QueryBool | None = Field(None, description="true or false: only those that are on, or off.")
    sort_by: Literal["updated_at", "name"] = Field("updated_at", description="updated_at or name.")

    @property
    def wanted(self) -> DefinitionFilter:
        """The definitions that are meant."""
        return DefinitionFilter(self.source, self.source_id, self.enabled)


def fields_of(definition: Definition) -> dict[str, Any]:
    """The fields of a definition as ``NewDefinition`` has them."""
    return {name: value for name, value in asdict(definition).items() if name in NewDefinition.model_fields}
