"""The tools of a live turn: which its session allows, and who hears of their calls."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from agentui.assets.bundle import PromptAssets
from agentui.chats.tools.permissions import permissions_of, read_permissions
from agentui.jsonio import Json, dumps_text
from agentui.principal import Principal
from agentui.store.base import Store
from agentui.tools.builtin import builtin_tools
from agentui.tools.catalog import EVERY, Catalog
from agentui.tools.execution import DeliveryMode, Execution, ExecutionListener
from agentui.tools.executor import Surroundings
from agentui.tools.grant import NAMED_BY_A_NODE, ToolGrant
from agentui.tools.permissions import CallBudget, Permissions
from agentui.tools.sources import ToolSources
from agentui.tools.tool import CallerSlot, CallPlace
from agentui.turns.service import Turn

Tell = Callable[[str, Json], Awaitable[None]]
"""Tells a client of an event."""


class TurnTools:
    """What one turn may call. Its calls are counted together, whichever attempt makes them."""

    def __init__(
        self,
        sources: ToolSources,
        permissions: Permissions,
        principal: Principal,
        turn: Turn,
        assets: Callable[[], PromptAssets],
        tell: Tell,
    ) -> None:
        """The calls are made in the name of ``principal``. ``sources`` has the tools that need nothing of a turn; ``assets``
        gives what the turn's prompt is made of."""
        place = turn.place
        self._sources = sources
        self._own = builtin_tools(turn.staged, assets, permissions.default_write_intent)
        self._catalog: Catalog | None = None
        self._permissions = permissions
        self._budget = CallBudget(permissions.max_calls_per_turn)
        self._listeners = (turn.calls, _Client(tell))
        self.principal = principal
        self.session = place.session_id
        self._place = CallPlace(
            principal, place.run_id, place.session_id, place.branch_id, place.floor_id, place.floor.input_page_id
        )

    @property
    def are_allowed(self) -> bool:
        """Whether the session allows any."""
        return self._permissions.enabled

    def grant(
        self,
        attempt_no: int,
        slot: CallerSlot = "narrator",
        *,
        is_offered: bool = True,
        delivery_mode: DeliveryMode = "inline",
        hears: Sequence[ExecutionListener] = (),
    ) -> ToolGrant:
        """The tools of who calls in an attempt at the answer, numbered from 1: all that the session allows, or those alone that
        a node names where it allows none or nothing else ``is_offered``. ``hears`` are told of the calls as well."""
        is_allowed = self.are_allowed
        return ToolGrant(
            self._all,
            self._permissions if is_allowed else NAMED_BY_A_NODE,
            Surroundings(listeners=(*self._listeners, *hears), delivery_mode=delivery_mode, attempt_no=attempt_no),
            replace(self._place, caller_slot=slot),
            (EVERY,) if is_allowed and is_offered else (),
            self._budget,
        )

    def offered(self) -> list[str]:
        """The names of the tools that who answers was offered by the session; none where nobody asked for any."""
        if self._catalog is None or not self.are_allowed:
            return []
        return [tool.name for tool in self._catalog if self._permissions.refusal(tool, "narrator") is None]

    async def _all(self) -> Catalog:
        """Every tool, as they were when the turn first wanted any."""
        if self._catalog is None:
            self._catalog = Catalog.of((*self._own, *await self._sources.catalog(self._place.account)))
        return self._catalog


async def permissions_for(store: Store, account: str, session_id: str, *, wanted: bool) -> Permissions:
    """What a turn's session allows it, which is nothing where the turn does not want tools."""
    if not wanted:
        return Permissions()
    return permissions_of(await store.read(read_permissions, account, session_id))


class _Client:
    """Tells a turn's client of calls, as events ``tool``."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    async def started(self, execution: Execution) -> None:
        """A tool is about to run; whether it may be run again is not known yet."""
        await self._tell("tool", _event(replace(execution, replay_safety="uncertain"), "start"))

    async def finished(self, execution: Execution) -> None:
        """A call is over: its phase is how it ended."""
        await self._tell("tool", _event(execution, execution.status))


MOST_TOLD = 200
"""Characters of a result that clients hear of."""


def _message(execution: Execution, phase: str) -> str:
    """What happens in a call, in a sentence or by the beginning of its result."""
    if phase == "start":
        return f"{execution.tool_name} is called."
    if execution.error_message is not None:
        return execution.error_message
    text = execution.result if isinstance(execution.result, str) else dumps_text(execution.result)
    return text if len(text) <= MOST_TOLD else f"{text[:MOST_TOLD]}…"


def _event(execution: Execution, phase: str) -> dict[str, Json]:
    """A call as clients hear of it (spec: tavern-api part 5)."""
    return {
        "execution_id": execution.id,
        "tool_name": execution.tool_name,
        "provider_id": execution.provider_id,
        "provider_type": execution.provider_type,
        "side_effect_level": execution.side_effect,
        "phase": phase,
        "message": _message(execution, phase),
        "duration_ms": execution.duration_ms,
        "replay_safety": execution.replay_safety,
    }
