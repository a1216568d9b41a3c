"""Tools of installed packages: each entry of the group ``agentui.tools`` names a ``HostedTool``."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from agentui.errors import AgentUIError
from agentui.installed import entry_points
from agentui.tools.arguments import ArgumentCheck
from agentui.tools.tool import HostedTool

GROUP: Final = "agentui.tools"


def load_tools(taken: Collection[str]) -> tuple[list[HostedTool], list[str]]:
    """The tools of packages, and one sentence for each entry that was left out: one that does not import, that is no tool,
    whose schema is none, or whose name is ``taken`` or another's. A broken package never stops the server, and none answers for
    a tool of the server's own."""
    tools: dict[str, HostedTool] = {}
    complaints: list[str] = []
    for entry in entry_points(group=GROUP):
        try:
            tool = entry.load()
        except Exception as error:  # noqa: BLE001 - a stranger's import may raise anything
            complaints.append(f"The tool plug-in {entry.name!r} does not import: {type(error).__name__}: {error}")
            continue
        if not isinstance(tool, HostedTool):
            complaints.append(f"The entry point {entry.name!r} is no tool: name a HostedTool.")
        elif tool.name in taken or tool.name in tools:
            complaints.append(f"The tool {tool.name!r} of {entry.value!r} exists already and is left out.")
        elif (fault := _fault_of(tool)) is not None:
            complaints.append(f"The tool {tool.name!r} of {entry.value!r} is left out: {fault}")
        else:
            tools[tool.name] = replace(tool, provider_type="unknown", provider_id=entry.name)
    return list(tools.values()), complaints


def _fault_of(tool: HostedTool) -> str | None:
    """What is wrong with a tool's schema; None for nothing."""
    try:
        ArgumentCheck(tool.parameters)
    except AgentUIError as error:
        return error.message
    return None
