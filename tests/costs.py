"""Counts what the server does, instead of how long it takes: the same on every machine, and on a busy one.

    with counting() as costs:
        ...
    costs.lines         lines of Python that ran in ``agentui``
    costs.calls         its functions that were entered, or gone on with
    costs.copies        dataclasses that it copied (``replace``, ``asdict``), and deep copies
    costs.compilations  statements that SQLAlchemy made SQL of
    costs.statements    statements that were sent to a database

Threads that were there before are not seen; what runs on the event loop is.
"""

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import agentui

OWN = f"{Path(agentui.__file__).parent}/"
_COPIES = {("dataclasses.py", "replace"), ("dataclasses.py", "asdict"), ("copy.py", "deepcopy")}


@dataclass
class Costs:
    """What was counted. ``by_function`` are the lines of each function, for whoever looks for what has grown."""

    lines: int = 0
    calls: int = 0
    copies: int = 0
    compilations: int = 0
    statements: int = 0
    by_function: Counter[str] = field(default_factory=Counter)


@contextmanager
def counting() -> Iterator[Costs]:
    """Count until the end of the block."""
    costs = Costs()
    kinds: dict[CodeType, str] = {}

    def kind_of(code: CodeType) -> str:
        name = Path(code.co_filename).name
        if code.co_filename.startswith(OWN):
            return "own"
        if (name, code.co_name) in _COPIES:
            return "copy"
        if "sqlalchemy" in code.co_filename:
            if code.co_qualname == "SQLCompiler.__init__":
                return "compilation"
            if code.co_qualname == "DefaultExecutionContext._init_compiled":
                return "statement"
        return ""

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            costs.lines += 1
            costs.by_function[f"{frame.f_code.co_filename.removeprefix(OWN)}:{frame.f_code.co_qualname}"] += 1
        return line

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        kind = kinds.get(code)
        if kind is None:
            kind = kinds[code] = kind_of(code)
        match kind:
            case "own":
                costs.calls += 1
                return line
            case "copy" if frame.f_back is not None and frame.f_back.f_code.co_filename.startswith(OWN):
                costs.copies += 1
            case "compilation":
                costs.compilations += 1
            case "statement":
                costs.statements += 1
        return None

    before = sys.gettrace()
    threading.settrace(enter)
    sys.settrace(enter)
    try:
        yield costs
    finally:
        sys.settrace(before)
        threading.settrace(None)  # type: ignore[arg-type]  # the way to set none
