"""The tools that may be called in one place, by their names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentui.tools.errors import ToolCatalogConflict, UnknownTool
from agentui.tools.tool import HostedTool

EVERY = "*"
GROUP = "group:"
MCP_SERVER = "mcp:"


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tools by name. A value: choosing from it makes another one."""

    tools: Mapping[str, HostedTool]

    @classmethod
    def of(cls, tools: Iterable[HostedTool]) -> "Catalog":
        """A catalog of these tools, in their order.

        Raises ToolCatalogConflict where two have one name: a tool that came from elsewhere must never answer for another.
        """
        named: dict[str, HostedTool] = {}
        for tool in tools:
            other = named.setdefault(tool.name, tool)
            if other is not tool:
                raise ToolCatalogConflict(
                    f"Two tools are named {tool.name!r:.200}: one of {other.provider_type} {other.provider_id!r:.100} and "
                    f"one of {tool.provider_type} {tool.provider_id!r:.100}. Rename one of them, or give its server a prefix.",
                    tool=tool.name[:200],
                )
        return cls(named)

    def __iter__(self) -> Iterator[HostedTool]:
        return iter(self.tools.values())

    def __len__(self) -> int:
        return len(self.tools)

    def get(self, name: str) -> HostedTool | None:
        """The tool of this name."""
        return self.tools.get(name)

    def chosen(self, selectors: Sequence[str]) -> "Catalog":
        """The tools that any selector names, in the catalog's order: a tool's name, ``group:NAME``, ``mcp:SERVER`` or ``*``.

        Raises UnknownTool for a selector that names none; ``*`` may name none.
        """
        if EVERY in selectors:
            return self
        wanted: set[str] = set()
        for selector in selectors:
            found = set(self._named(selector))
            if not found:
                raise UnknownTool(
                    f"No tool is meant by {selector!r:.200}: name a tool, group:NAME, mcp:SERVER or *.",
                    selector=selector[:200],
                )
            wanted |= found
        return Catalog({name: tool for name, tool in self.tools.items() if name in wanted})

    def _named(self, selector: str) -> Iterator[str]:
        """The names of the tools that one selector means."""
        if selector.startswith((GROUP, MCP_SERVER)):
            yield from (tool.name for tool in self if selector in selectors_of(tool))
        elif selector in self.tools:
            yield selector


def selectors_of(tool: HostedTool) -> frozenset[str]:
    """All selectors that mean this tool: its name, ``*``, ``group:NAME`` and, of an MCP server's, ``mcp:`` with the server's
    name (the group is called so) or its id."""
    of_server = {tool.group, f"{MCP_SERVER}{tool.provider_id}"} if tool.provider_type == "mcp" else set[str]()
    return frozenset({EVERY, tool.name, f"{GROUP}{tool.group}", *of_server})


NO_TOOLS = Catalog({})
