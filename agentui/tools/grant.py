"""What the calls of one run may reach, whichever of its nodes makes them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from agentui.tools.catalog import Catalog
from agentui.tools.execution import ExecutionListener
from agentui.tools.executor import Executor, Surroundings
from agentui.tools.permissions import CallBudget, Permissions
from agentui.tools.tool import CallPlace
from agentui.tools.vars.kept import CallKeeper
from agentui.tools.vars.references import References
from agentui.tools.vars.system import VariableSystem
from agentui.tools.vars.tools import variable_tools

NAMED_BY_A_NODE = Permissions(enabled=True)
"""What a pipeline's node may call that names its tools, where no session says otherwise."""


@dataclass(frozen=True, slots=True)
class ToolGrant:
    """The tools of a run, and what may be done with them.

    ``catalog`` gives all there are, once somebody wants any. ``offered`` are selectors of the tools that the answering node
    offers beside those that it names itself. ``budget`` is shared by all who call in the turn, None for one of this run's own.
    ``within`` are the pipelines whose runs led to this one by calls of tools, the outermost first; ``inner`` is the grant of
    runs that serve its calls.
    """

    catalog: Callable[[], Awaitable[Catalog]]
    permissions: Permissions = NAMED_BY_A_NODE
    around: Surroundings = field(default_factory=Surroundings)
    place: CallPlace | None = None
    offered: tuple[str, ...] = ()
    budget: CallBudget | None = None
    within: tuple[str, ...] = ()
    inner: "ToolGrant | None" = None

    def calling_from(self, pipeline: str) -> "ToolGrant":
        """The same for calls of a run of this pipeline: a run that serves one may call what this one may, and its calls count
        with these."""
        counted = self if self.budget is not None else replace(self, budget=CallBudget(self.permissions.max_calls_per_turn))
        return replace(counted, inner=replace(counted, offered=(), within=(*self.within, pipeline)))

    def with_variables(self, system: VariableSystem, *, follows_all: bool) -> "ToolGrant":
        """The same with a run's working variables: their tools in the catalog, references resolved, results kept.
        ``follows_all`` as in ``References``. Raises ToolCatalogConflict where another tool has the name of one of theirs."""
        tools = variable_tools(system)

        async def catalog() -> Catalog:
            return Catalog.of((*await self.catalog(), *tools))

        references = References(system, follows_all=follows_all)
        return replace(
            self, catalog=catalog, around=replace(self.around, resolve=references.resolve_apart, keeper=CallKeeper(system))
        )

    async def executor(self, selectors: tuple[str, ...], place: CallPlace, *listeners: ExecutionListener) -> Executor:
        """What executes the calls of one node at a place. Raises UnknownTool, and what asking for the catalog raises."""
        where = place if self.place is None else self.place.at(place)
        around = replace(self.around, listeners=(*self.around.listeners, *listeners))
        catalog = await self.catalog()
        return Executor(catalog.chosen(selectors), self.permissions, where, around, self.budget, self.inner)
