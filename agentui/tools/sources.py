"""Where the tools of this server come from: those that stand, and those that may change while it runs."""

from collections.abc import Awaitable, Callable, Collection, Sequence

from agentui.tools.catalog import NO_TOOLS, Catalog
from agentui.tools.tool import HostedTool

Source = Callable[[str, Collection[str]], Awaitable[Sequence[HostedTool]]]
"""Gives an account's tools as they are now. None of them may have one of these names, which are others'."""


class ToolSources:
    """The tools of a server. ``reserved`` are names of tools that are made for each turn."""

    def __init__(self, standing: Catalog = NO_TOOLS, reserved: Collection[str] = ()) -> None:
        self.standing = standing
        self._reserved = frozenset(reserved)
        self._sources: list[Source] = []

    @property
    def taken(self) -> frozenset[str]:
        """The names that no source's tool may have."""
        return self._reserved | self.standing.tools.keys()

    def add(self, source: Source) -> None:
        """Ask this source, too. An earlier one has its names first."""
        self._sources.append(source)

    async def catalog(self, account: str) -> Catalog:
        """Every tool that an account has, as it is now. Raises what the sources raise."""
        tools = list(self.standing)
        for source in self._sources:
            tools += await source(account, {*self._reserved, *(tool.name for tool in tools)})
        return Catalog.of(tools)
