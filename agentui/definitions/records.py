"""A tool that somebody defined, and what serves its calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agentui.jsonio import Json
from agentui.tools.tool import CallerSlot, SideEffect

HandlerType: TypeAlias = Literal["http", "pipeline"]
"""What serves the calls of a definition: a request, or a run of a pipeline."""
DefinitionSource: TypeAlias = Literal["preset", "character", "custom"]
"""What a definition came with (spec: tavern-api appendix A); ``custom`` with nothing."""
Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True, slots=True)
class HttpHandler:
    """A request that is sent with the arguments of a call put into its templates, which see them as ``args``.

    ``url`` has a host of its own, ``body`` is JSON with macros ("" for none). Times are milliseconds.
    """

    method: Method
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    timeout_ms: int = 30_000
    max_response_bytes: int = 256 * 1024


@dataclass(frozen=True, slots=True)
class PipelineHandler:
    """A run of a pipeline, whose templates see the arguments of a call as ``args``.

    ``input`` is a template of what the run's user says, "" for the arguments as JSON; ``model`` is for nodes that name none.
    """

    pipeline_id: str
    input: str = ""
    model: str | None = None
    timeout_ms: int = 120_000


@dataclass(frozen=True, slots=True)
class Definition:
    """A defined tool. ``parameters`` is the JSON Schema of its arguments; no ``allowed_slots`` are all. ``source`` and
    ``source_id`` only say where it came from."""

    id: str
    name: str
    description: str
    parameters: Mapping[str, Json]
    side_effect_level: SideEffect
    allowed_slots: Sequence[CallerSlot]
    source: DefinitionSource
    source_id: str | None
    enabled: bool
    handler_type: HandlerType
    handler: HttpHandler | PipelineHandler
    created_at: int
    updated_at: int
