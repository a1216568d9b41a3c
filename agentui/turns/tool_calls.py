"""The calls of tools that one turn makes, kept until the turn is over: what is irreversible stands in the store before it
begins."""

from dataclasses import replace

from agentui.chats.tools.executions import CountedExecution, keep_executions
from agentui.ids import SystemClock
from agentui.store.base import Store
from agentui.tools.execution import Execution


class TurnCalls:
    """Hears of the calls of one turn of an account (``ExecutionListener``)."""

    def __init__(self, store: Store, account: str) -> None:
        self._store = store
        self._account = account
        self._calls: dict[str, CountedExecution] = {}

    @property
    def calls(self) -> tuple[CountedExecution, ...]:
        """Every call so far, in the order in which they began."""
        return tuple(self._calls.values())

    @property
    def may_be_repeated(self) -> bool:
        """Whether another attempt may make the same calls: none of them has done what nobody takes back."""
        calls = [call.execution for call in self.calls]
        return not any(call.side_effect == "irreversible" and call.replay_safety != "safe" for call in calls)

    def begin_again(self) -> None:
        """Another attempt makes the turn's answer: the calls so far go with the one that was given up."""
        self._calls = {id: replace(call, is_discarded=True) for id, call in self._calls.items()}

    async def started(self, execution: Execution) -> None:
        """A tool is about to run. One that cannot be undone does not before its row is durable: raises the store's errors."""
        call = self._count(execution)
        if execution.side_effect == "irreversible":
            await self._write(call)

    async def finished(self, execution: Execution) -> None:
        """A call is over. Raises the store's errors where what cannot be undone is not written down."""
        is_durable = execution.id in self._calls and execution.side_effect == "irreversible"
        call = self._count(execution)
        if is_durable:
            await self._write(call)

    def _count(self, execution: Execution) -> CountedExecution:
        known = self._calls.get(execution.id)
        call = CountedExecution(len(self._calls), execution) if known is None else replace(known, execution=execution)
        self._calls[execution.id] = call
        return call

    async def _write(self, call: CountedExecution) -> None:
        await self._store.write(keep_executions, self._account, [call], "pending", SystemClock().now_ms())
