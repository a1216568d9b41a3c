"""What the packages of this environment bring by their entry points; those of ``agentui.tools`` name each a ``HostedTool``."""

from collections.abc import Collection
from dataclasses import replace
from functools import cache
from importlib import metadata
from typing import Final

from agentui.errors import AgentUIError
from agentui.tools.arguments import ArgumentCheck
from agentui.tools.tool import HostedTool
from agentui.tools.vars.rules import MAX_DECLARED, check_rule

GROUP: Final = "agentui.tools"


@cache
def entry_points(group: str) -> metadata.EntryPoints:
    """
    The entry points of a group (``agentui.nodes``), as the packages stood when the program first asked: what is installed later
    is there after its next start. A look goes through every package, which is a tenth of making an application.
    """
    return metadata.entry_points(group=group)


def load_tools(taken: Collection[str]) -> tuple[list[HostedTool], list[str]]:
    """The tools of packages, and one sentence for each entry that was left out: one that does not import, that is no tool,
    whose schema or whose rules are none, or whose name is ``taken`` or another's. A broken package never stops the server, and
    none answers for a tool of the server's own."""
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
    """What is wrong with a tool's schema or its rules; None for nothing."""
    try:
        ArgumentCheck(tool.parameters)
        for rule in tool.rules:
            check_rule(rule)
        if len(tool.rules) > MAX_DECLARED:
            return f"It declares more than {MAX_DECLARED} skill rules."
    except AgentUIError as error:
        return error.message
    except Exception as error:  # noqa: BLE001 - a stranger's values may be of any type
        return f"{type(error).__name__}: {error}"
    return None
