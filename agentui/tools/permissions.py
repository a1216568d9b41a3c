"""What a model may do with tools in one turn."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentui.tools.builtin.variables import DEFAULT_INTENT, WriteIntent
from agentui.tools.catalog import selectors_of
from agentui.tools.tool import CallerSlot, HostedTool
from agentui.tools.vars.tools import READING_GROUP

MAX_CALLS = 1000
MAX_STEPS = 50
DEFAULT_CALLS = 20
DEFAULT_STEPS = 8
MAX_REFUSED = 100
"""Calls of a turn that are read and come to nothing, beside those that it may make: reading and checking cost, too."""


@dataclass(frozen=True, slots=True)
class Permissions:
    """Which tools may be called and how often (spec: tavern-api part 10).

    ``slot_allow_list`` and ``slot_deny_list`` hold selectors (a tool's name, ``group:NAME``, ``mcp:SERVER`` or ``*``) by who
    calls; a slot without a list of what is allowed may call all that its tools allow it, and what is denied stays denied.
    ``irreversible_allow_list`` holds selectors of tools that may be called although nobody takes back what they do; with
    ``allow_irreversible`` all of them may. Where any tool is allowed, the group that reads working variables is as well (seed
    004: it is there wherever a tool is): the prompt tells models to read rules and long results by it.
    """

    enabled: bool = False
    max_calls_per_turn: int = DEFAULT_CALLS
    """1 to MAX_CALLS."""
    max_steps_per_generation: int = DEFAULT_STEPS
    """How many times one generation may ask for tools, 1 to MAX_STEPS; after that it has to answer."""
    allow_irreversible: bool = False
    irreversible_allow_list: frozenset[str] = frozenset()
    default_write_intent: WriteIntent = DEFAULT_INTENT
    """How far a value goes that ``set_variable`` writes without an intent."""
    slot_allow_list: Mapping[CallerSlot, frozenset[str]] = field(default_factory=dict)
    slot_deny_list: Mapping[CallerSlot, frozenset[str]] = field(default_factory=dict)

    def refusal(self, tool: HostedTool, slot: CallerSlot) -> str | None:
        """Why this slot may not call this tool, as the model is told; None where it may."""
        if not self.enabled:
            return "Tools are switched off here."
        if slot not in tool.slots:
            return f"The tool {tool.name} is not for the {slot}."
        selectors = selectors_of(tool)
        allowed = self.slot_allow_list.get(slot)
        is_listed = allowed is None or not selectors.isdisjoint(allowed) or bool(allowed and tool.group == READING_GROUP)
        if not is_listed or not selectors.isdisjoint(self.slot_deny_list.get(slot, frozenset())):
            return f"The tool {tool.name} is not allowed here."
        is_agreed = self.allow_irreversible or not selectors.isdisjoint(self.irreversible_allow_list)
        if tool.side_effect == "irreversible" and not is_agreed:
            return f"The tool {tool.name} cannot be undone, and such tools are not allowed here."
        return None


@dataclass(slots=True)
class CallBudget:
    """How many calls are left of a turn, whoever in it makes them, and which tools it may call no more."""

    left: int
    doubtful: set[str] = field(default_factory=set)
    """Names of the tools of which a call ended without anybody knowing what it did."""
    looks: int = field(init=False)
    """How many calls are still looked at."""

    def __post_init__(self) -> None:
        self.looks = self.left + MAX_REFUSED

    def look(self) -> bool:
        """Begin with a call, whatever comes of it; False where it is not looked at."""
        self.looks -= 1
        return self.looks >= 0

    def spend(self) -> bool:
        """Take one call; False where none is left."""
        if self.left <= 0:
            return False
        self.left -= 1
        return True
