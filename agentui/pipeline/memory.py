"""What a run sees and writes of the stored variables.

A run that belongs to a chat sees all five tiers and may write them; any other run sees and writes the global ones. What it
writes is staged: later nodes of the run see it at once, everybody else when the run's turn commits.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, Protocol

from agentui.jsonio import Json
from agentui.pipeline.result import RunResult
from agentui.variables.scopes import Scope
from agentui.variables.staging import Staged

Tier = Literal["run", "page", "floor", "branch", "chat", "global"]
"""Where SetVars may put a value; ``run`` is gone with the run."""

NOTHING: Mapping[str, Json] = MappingProxyType({})
NO_TIERS: Mapping[Scope, Mapping[str, Json]] = MappingProxyType({})


class RunMemory(Protocol):
    """The memory of one run. The engine ends it with exactly one of ``commit`` and ``fail``, and with ``fail`` after a
    ``commit`` that raised."""

    def staged(self) -> Staged:
        """The run's buffer of variables."""

    @property
    def headers(self) -> Mapping[str, str]:
        """What a caller over HTTP is told of it."""

    async def commit(self, result: RunResult) -> None:
        """The nodes have succeeded: make durable what they wrote. Raises AgentUIError, and nothing is kept then."""

    async def fail(self, error: Mapping[str, Json], *, cancelled: bool, words: str) -> None:
        """The run failed (``code``, ``message``), or was cancelled: keep nothing but the trace that it was, and perhaps the
        ``words`` of its answer that the caller had heard by then ("" for none)."""


class NoMemory:
    """A run without stored variables: a preview, or a pipeline that names none."""

    def staged(self) -> Staged:
        """An empty buffer in which nothing can be written."""
        return Staged({}, writable=(), now=lambda: 0)
