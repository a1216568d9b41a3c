"""What a run sees and writes of the stored variables.

A run that belongs to a chat sees all five tiers and may write them; any other run sees and writes the global ones. What it
writes is staged: later nodes of the run see it at once, everybody else when the run's turn commits.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol

from agentui.jsonio import Json
from agentui.variables.scopes import Scope

if TYPE_CHECKING:
    from agentui.variables.staging import Staged

Tier = Literal["run", "page", "floor", "branch", "chat", "global"]
"""Where SetVars may put a value; ``run`` is gone with the run."""

NOTHING: Mapping[str, Json] = MappingProxyType({})
NO_TIERS: Mapping[Scope, Mapping[str, Json]] = MappingProxyType({})


class Memory(Protocol):
    """The variables that a run began with. Handed to the run by whoever knows the store."""

    def staged(self) -> "Staged":
        """The run's buffer; made when it is first asked for."""


class NoMemory:
    """A run without stored variables: a preview, or a pipeline that names none."""

    def staged(self) -> "Staged":
        """An empty buffer in which nothing can be written."""
        # With it comes SQLAlchemy, which runs that name no stored variable do without.
        from agentui.variables.staging import Staged

        return Staged({}, writable=(), now=lambda: 0)
