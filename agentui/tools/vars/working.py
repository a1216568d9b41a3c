"""The working variables of one run, loaded when a model first needs them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import time_ns
from typing import TypeAlias

from agentui.threads import in_thread
from agentui.tools.vars.record import WorkingVariable
from agentui.tools.vars.rules import AGENT_RULES, RuleGroups, rule_variables, rules_prompt, with_rules
from agentui.tools.vars.system import Change, VariableSystem

Load: TypeAlias = Callable[[Sequence[WorkingVariable]], Awaitable[VariableSystem]]
"""Loads the variables of a place, with those of the rules."""
RuleSource: TypeAlias = Callable[[], RuleGroups]
"""Gives the rules of this server as they are now; it may read files."""


def shipped_rules() -> RuleGroups:
    """The rules that come with the server."""
    return AGENT_RULES


async def load_nothing(rules: Sequence[WorkingVariable]) -> VariableSystem:
    """The variables of a run that belongs to no chat: the rules."""
    return VariableSystem(rules, now=lambda: time_ns() // 1_000_000)


class WorkingVariables:
    """The variables of a run's models; all of its nodes share them."""

    def __init__(self, load: Load = load_nothing) -> None:
        self.rules_prompt = ""
        """What the system prompt says of the rules, once they are loaded."""
        self._groups: RuleGroups = {}
        self._load = load
        self._lock = asyncio.Lock()
        self._system: VariableSystem | None = None

    async def system(self, rules: RuleSource) -> VariableSystem:
        """The variables, loaded once. Raises what loading raises."""
        async with self._lock:
            if self._system is None:
                groups = await in_thread(rules)
                self._system = await self._load(rule_variables(groups))
                self._groups, self.rules_prompt = groups, rules_prompt(groups)
            return self._system

    def declare(self, groups: RuleGroups) -> None:
        """Add rules that groups of tools declare, once the variables are loaded; those of the server come first."""
        assert self._system is not None
        self._groups = with_rules(self._groups, groups)
        self._system.add_rules(rule_variables(groups))
        self.rules_prompt = rules_prompt(self._groups)

    @property
    def loaded(self) -> VariableSystem | None:
        """The variables, where anybody has asked for them."""
        return self._system

    def changes(self) -> tuple[Change, ...]:
        """What the run changed; nothing where nobody loaded them."""
        return () if self._system is None else self._system.changes()
