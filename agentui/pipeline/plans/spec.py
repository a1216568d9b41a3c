"""What a file in ``pipelines/`` says (format 1).

Only the fields that the engine reads are checked; unknown ones are allowed and survive, because the files are stored as
the documents that people wrote and never as what we understood of them.
"""

from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentui.documents.document import ID_PATTERN, problems_of
from agentui.errors import InvalidPipeline, Problem
from agentui.jsonio import Json

MAX_NODES = 500


class NodeSpec(BaseModel):
    """One node of the drawing. ``parent`` is the id of the loop in whose body it stands."""

    model_config = ConfigDict(extra="allow", strict=True)

    id: str = Field(pattern=f"^{ID_PATTERN}$")
    type: str = Field(min_length=1, max_length=100)
    title: str = ""
    config: dict[str, Any] = Field(default_factory=dict)
    enabled: bool = True
    on_error: Literal["fail", "continue"] = "fail"
    parent: str | None = None


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
        problems = tuple(_at_its_node(problem, document) for problem in problems_of(error))
        is_empty = [problem.code for problem in problems] == ["spec.no_nodes"]
        raise InvalidPipeline(problems[0].message if is_empty else "This is not a pipeline document.", problems) from error


def _at_its_node(problem: Problem, document: Json) -> Problem:
    """The problem with the node's id (its number where it has none) in place of the path ``nodes.3`` that leads into it."""
    if problem.field == "nodes" and document.get("nodes") == []:
        return Problem("spec.no_nodes", "The pipeline has no node yet: add one.", field="nodes")
    path = (problem.field or "").split(".")
    if len(path) < 2 or path[0] != "nodes" or not path[1].isdigit():
        return problem
    match document["nodes"][int(path[1])]:
        case {"id": str(name)}:
            node = name
        case _:
            node = f"#{int(path[1]) + 1}"
    return replace(problem, node=node, field=".".join(path[2:]) or None)
