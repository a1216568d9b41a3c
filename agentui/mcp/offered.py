"""A server's tools as tools of this server: their names, what the operator says of them, and whether they are what was
approved."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentui.jsonio import Json, dumps
from agentui.mcp.records import McpServer, ToolDefinition, ToolOverride
from agentui.tools.arguments import ArgumentCheck
from agentui.tools.errors import InvalidToolSchema
from agentui.tools.tool import ALL_SLOTS, HostedTool, ToolAnswer, ToolCallContext

_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
"""What some vendor does not take in the name of a tool."""
MARGIN = 0.1
"""Seconds by which a call is given up before its tool is: then it is told that nobody knows what became of the call."""
LONGEST_NAME = 64
"""Characters of a tool's name that every vendor takes."""

Approval: TypeAlias = Literal["approved", "new", "changed", "gone"]
"""A tool as it was approved, one that nobody approved, one that was approved otherwise than it is now, and one that is gone."""

_WHY_NOT: Mapping[Approval, str | None] = {
    "approved": None,
    "new": "It is new: nobody has approved it.",
    "changed": "It is no longer what was approved: look at it, and approve it as it is now.",
    "gone": "The server has it no more.",
}

CallTool = Callable[[McpServer, ToolDefinition, Mapping[str, Json], ToolCallContext], Awaitable[ToolAnswer]]
"""Makes a call at a server, of a tool as it was approved."""


@dataclass(frozen=True, slots=True)
class SeenTool:
    """A tool of a server. ``name`` is what models call, ``tool_name`` what its server does. One that is not ``available`` has
    a ``reason``. ``approval`` is how it stands to what somebody approved, ``annotations`` what its server says of it now."""

    name: str
    tool_name: str
    description: str
    parameters: Mapping[str, Json]
    side_effect_level: str
    allowed_slots: Sequence[str]
    replay_safety: str
    available: bool
    reason: str | None
    approval: Approval
    annotations: Mapping[str, bool]


def hosted_tools(server: McpServer, tools: Sequence[ToolDefinition], call: CallTool) -> Iterator[HostedTool]:
    """The tools as models are offered them. What the operator says of one goes over what its server says of it, and that over
    what the operator says of all."""
    overrides = {override.tool_name: override for override in server.settings.metadata_overrides}
    for tool in tools:
        said = overrides.get(tool.name, ToolOverride(tool.name))
        annotations = tool.annotations or {}
        only_reads = annotations.get("readOnlyHint") is True
        side_effect = said.side_effect_level or ("none" if only_reads else server.settings.default_side_effect_level)

        async def handle(arguments: Mapping[str, Json], context: ToolCallContext, tool: ToolDefinition = tool) -> ToolAnswer:
            return await call(server, tool, arguments, context)

        yield HostedTool(
            name=offered_name(server, tool.name),
            description=tool.description,
            parameters=tool.parameters if said.parameter_schema is None else said.parameter_schema,
            handler=handle,
            group=f"mcp:{server.name}",
            provider_type="mcp",
            provider_id=server.id,
            side_effect=side_effect,
            replay_safety=said.replay_safety or ("safe" if side_effect == "none" else "confirm_on_replay"),
            slots=ALL_SLOTS if said.allowed_slots is None else frozenset(said.allowed_slots),
            annotations=annotations,
            rules=tuple(server.settings.skill_rules),
            timeout=(2 * server.settings.connect_timeout_ms + server.settings.call_timeout_ms) / 1000 + MARGIN,
        )


def offered_name(server: McpServer, tool: str) -> str:
    """What models call a tool: with the server's prefix, and with "_" for what not every vendor takes."""
    name = _UNFIT.sub("_", f"{server.settings.tool_prefix or ''}{tool}")
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Likeness:
    """What is compared of a tool: a hash of all that a model is told of it, and what its server says of it."""

    told: str
    annotations: Mapping[str, bool] | None

    @classmethod
    def of(cls, tool: ToolDefinition) -> "Likeness":
        """Of a tool as it is, or as it was approved."""
        told = hashlib.sha256(dumps([tool.name, tool.description, tool.parameters])).hexdigest()
        return cls(told, tool.annotations)

    def is_approved_by(self, approved: "Likeness") -> bool:
        """Whether this is what was approved. What was approved before annotations were read, is that whatever they say now:
        none of them counts for it."""
        return self.told == approved.told and approved.annotations in (None, self.annotations)


def parameters_fault(parameters: Mapping[str, Json]) -> str | None:
    """Why no vendor takes a tool with these parameters; None where they do."""
    if parameters.get("type", "object") != "object":
        return "Its parameters are no object."
    try:
        ArgumentCheck(parameters)
    except InvalidToolSchema as error:
        return error.message
    return None


def usable_tools(tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    """Those that can be offered. One that no vendor takes would spoil every request that offers it beside others."""
    return [tool for tool in tools if parameters_fault(tool.parameters) is None]


def seen_tools(server: McpServer, live: Sequence[ToolDefinition], taken: Collection[str], call: CallTool) -> Iterator[SeenTool]:
    """Every tool that a server has now or had when it was approved; ``taken`` are names of other tools."""
    approved = {tool.name: Likeness.of(tool) for tool in server.approved or ()}
    present = {tool.name for tool in live}
    gone = [tool for tool in server.approved or () if tool.name not in present]
    names = set(taken)
    for tool, hosted in zip((*live, *gone), hosted_tools(server, (*live, *gone), call), strict=True):
        approval = _approval(tool, present, approved)
        if hosted.name in names:
            reason: str | None = "Another tool has this name: give the server a tool_prefix."
        elif (fault := parameters_fault(tool.parameters)) is not None:
            reason = fault
        else:
            reason = _WHY_NOT[approval]
        names.add(hosted.name)
        yield SeenTool(
            hosted.name,
            tool.name,
            hosted.description,
            hosted.parameters,
            hosted.side_effect,
            sorted(hosted.slots),
            hosted.replays,
            reason is None,
            reason,
            approval,
            tool.annotations or {},
        )


def _approval(tool: ToolDefinition, present: Collection[str], approved: Mapping[str, Likeness]) -> Approval:
    if tool.name not in present:
        return "gone"
    if tool.name not in approved:
        return "new"
    return "approved" if Likeness.of(tool).is_approved_by(approved[tool.name]) else "changed"
