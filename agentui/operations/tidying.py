"""``OperationTidier``: keeps the logs as short as they are to be."""

from typing import Final

from agentui.jobs.runner import JobRunner
from agentui.jsonio import Json
from agentui.operations.log import AT_ONCE, tidy_operations
from agentui.store.base import Store

TIDY_SECONDS: Final = 3600.0
"""Between two looks for entries that are too old; until then a log is longer."""


class OperationTidier:
    """Removes of each account what is older than its newest ``most`` entries, as background work of ``jobs``."""

    def __init__(self, store: Store, jobs: JobRunner, most: int) -> None:
        self._store = store
        self._most = most
        jobs.handle("operations.tidy", self._tidy, every_seconds=TIDY_SECONDS)

    async def _tidy(self, _: Json) -> None:
        while await self._store.write(tidy_operations, self._most) >= AT_ONCE:
            continue
