"""What a file in ``pipelines/`` says (format 1).

Only the fields that the engine reads are checked; unknown ones are allowed and survive, because the files are stored as
the documents that people wrote and never as what we understood of them.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentui.errors import InvalidPipeline, Problem
from agentui.jsonio import Json

ID_PATTERN = r"[A-Za-z0-9_-]{1,64}"
MAX_NODES = 500
MAX_FILE_BYTES = 2 * 1024 * 1024


class NodeSpec(BaseModel):
    """One node of the drawing."""

    model_config = ConfigDict(extra="allow", strict=True)

    id: str = Field(pattern=f"^{ID_PATTERN}$")
    type: str = Field(min_length=1, max_length=100)
    title: str = ""
    config: dict[str, Any] = Field(default_factory=dict)
    enabled: bool = True
    on_error: Literal["fail", "continue"] = "fail"


class EdgeSpec(BaseModel):
    """``to`` runs after ``from`` left through the port ``from_port``."""

    model_config = ConfigDict(extra="allow", strict=True, populate_by_name=True)

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    from_port: str = "done"


class PipelineSpec(BaseModel):
    """A whole pipeline. Without ``answer`` the only node that nothing follows answers."""

    model_config = ConfigDict(extra="allow", strict=True)

    format: Literal[1]
    name: str = Field(min_length=1, max_length=200)
    description: str = ""
    nodes: list[NodeSpec] = Field(min_length=1, max_length=MAX_NODES)
    edges: list[EdgeSpec] = Field(default_factory=list, max_length=MAX_NODES * 20)
    answer: str | None = None


def parse_spec(document: Json) -> PipelineSpec:
    """Read a pipeline document. Raises InvalidPipeline with one problem for each wrong field."""
    try:
        return PipelineSpec.model_validate(document)
    except ValidationError as error:
        problems = problems_of(error, document)
        raise InvalidPipeline("This is not a pipeline document.", problems) from error


def problems_of(error: ValidationError, document: Json = None, node: str | None = None) -> tuple[Problem, ...]:
    """A pydantic error as problems: the field as a dotted path, and the node where the path leads into one."""
    problems = []
    for item in error.errors(include_url=False, include_input=False):
        path = [str(part) for part in item["loc"]]
        where = node
        if node is None and len(path) >= 2 and path[0] == "nodes" and path[1].isdigit():
            where = _node_id(document, int(path[1]))
            path = path[2:]
        problems.append(Problem("spec.invalid", item["msg"], node=where, field=".".join(path) or None))
    return tuple(problems)


def _node_id(document: Json, position: int) -> str:
    """The id of the node at a position, or its number where it has none."""
    try:
        name = document["nodes"][position]["id"]
    except (KeyError, IndexError, TypeError):
        return f"#{position + 1}"
    return name if isinstance(name, str) else f"#{position + 1}"
