"""Counts what the server does, instead of how long it takes: the same on every machine, and on a busy one.

    with counting() as counted:
        server = await start_server(...)
        costs = await counted.least(ask)
    costs.lines        lines of Python that ran in ``agentui``
    costs.calls        its functions that were entered, or gone on with
    costs.replaced     dataclasses that it copied by ``replace``
    costs.copied       what it copied by ``deepcopy`` and ``asdict``
    costs.statements   statements that were sent to a database
    costs.built        those of them that SQLAlchemy built, instead of being prepared once
    costs.compiled     those of these that it had no words for yet

What runs in this thread is counted, and in threads that began after ``counting``. Python's tracing does not follow the driver
of PostgreSQL.
"""

import copy
import dataclasses
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.sql.compiler import SQLCompiler

import agentui
from agentui.store import prepared

OWN = f"{Path(agentui.__file__).parent}/"
ASIDE = (f"{OWN}documents/folder.py", f"{OWN}jobs/")
"""What runs by the clock, beside requests and turns."""
_REPLACES = dataclasses.replace.__code__
_COPIES = {copy.deepcopy.__code__, dataclasses.asdict.__code__}
_SENDS = prepared._run.__code__
_COMPILES = SQLCompiler.__init__.__code__


@dataclass
class Costs:
    """What was counted. ``by_function`` are the lines of each function, for whoever looks for what has grown."""

    lines: int = 0
    calls: int = 0
    replaced: int = 0
    copied: int = 0
    statements: int = 0
    compiled: int = 0
    built: list[str] = field(default_factory=list)
    by_function: Counter[str] = field(default_factory=Counter)

    def largest(self, most: int = 30) -> str:
        """The functions with the most lines, one a line."""
        return "\n".join(f"{count:8} {name}" for name, count in self.by_function.most_common(most))


class Counted:
    """Counts while somebody asks for it."""

    def __init__(self) -> None:
        self._costs: Costs | None = None
        self._is_own: dict[CodeType, bool] = {}

    async def least(self, ask: Callable[[], Awaitable[object]], tries: int = 4) -> Costs:
        """The costs of the cheapest of some tries: something else may run beside one."""
        found = []
        for _ in range(tries):
            with self.all() as costs:
                await ask()
            found.append(costs)
        return min(found, key=lambda costs: costs.lines)

    @contextmanager
    def all(self) -> Iterator[Costs]:
        """The costs of everything that happens in a block."""
        costs = self._costs = Costs()
        try:
            yield costs
        finally:
            self._costs = None

    def enter(self, frame: FrameType, _: str, __: Any) -> Any:
        """What Python tells of every function that begins."""
        costs = self._costs
        if costs is None:
            return None
        code = frame.f_code
        if code is _SENDS:
            costs.statements += 1
        elif code is _COMPILES:
            costs.compiled += 1
        elif (code is _REPLACES or code in _COPIES) and frame.f_back is not None and self._counts(frame.f_back.f_code):
            if code is _REPLACES:
                costs.replaced += 1
            else:
                costs.copied += 1
        if not self._counts(code):
            return None
        costs.calls += 1
        return self._line

    def _counts(self, code: CodeType) -> bool:
        is_own = self._is_own.get(code)
        if is_own is None:
            name = code.co_filename
            is_own = self._is_own[code] = name.startswith(OWN) and not name.startswith(ASIDE)
        return is_own

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        costs = self._costs
        if event == "line" and costs is not None:
            costs.lines += 1
            costs.by_function[f"{frame.f_code.co_filename.removeprefix(OWN)}:{frame.f_code.co_qualname}"] += 1
        return self._line

    def build(self, _: object, statement: object, *more: object) -> None:
        """What SQLAlchemy tells of every statement that it executes itself."""
        costs, self._costs = self._costs, None  # its text is compiled for this list alone
        if costs is not None:
            costs.statements += 1
            costs.built.append(" ".join(str(statement).split()))
        self._costs = costs


@contextmanager
def counting() -> Iterator[Counted]:
    """What counts until the end of the block."""
    counted, before = Counted(), sys.gettrace()
    threading.settrace(counted.enter)
    sys.settrace(counted.enter)
    event.listen(Engine, "before_execute", counted.build)
    try:
        yield counted
    finally:
        event.remove(Engine, "before_execute", counted.build)
        sys.settrace(before)
        threading.settrace(None)  # type: ignore[arg-type]  # the way to set none
