"""How much work something is, counted rather than timed: a busy machine counts the same."""

import gc
import sys
import tracemalloc
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any


def lines_run(work: Callable[[], object]) -> int:
    """The lines of Python that are run."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    gc.disable()  # what it ends would be counted too
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


@dataclass
class Work:
    """What some work came to: ``lines`` of Python run, and ``bytes`` made or looked at by what is written in C."""

    lines: int = 0
    bytes: int = 0


_LOOKS_AT_ALL = frozenset(
    [
        *("casefold", "copy", "count", "decode", "encode", "find", "index", "insert", "join", "lower", "lstrip"),
        *("partition", "remove", "replace", "reverse", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "sort"),
        *("split", "splitlines", "strip", "translate", "upper"),
    ]
)
"""Methods that may look at all of their object, or move it."""
_HOLDERS = (str, bytes, bytearray, list, tuple, deque)


def work_of(work: Callable[[], object]) -> Work:
    """What ``work`` comes to. Bytes are the memory that each line asks for, which holds every copy (slices, sums, joins), and
    the size of each object that a method looks through (``extend`` only adds: Python 3.13 decodes ``%41`` with it). What
    escapes: ``in`` on a list, ``del`` and ``pop`` at its front."""
    done = Work()
    held = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal held
        if event == "line":
            done.lines += 1
            now, peak = tracemalloc.get_traced_memory()
            done.bytes += max(0, peak - held)
            tracemalloc.reset_peak()
            held = now
        return trace

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call" and arg.__name__ in _LOOKS_AT_ALL and isinstance(arg.__self__, _HOLDERS):
            done.bytes += len(arg.__self__)

    before = sys.gettrace(), sys.getprofile()
    gc.disable()  # when it runs is no matter of what is counted
    tracemalloc.start()
    held = tracemalloc.get_traced_memory()[0]
    sys.setprofile(profile)
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
        tracemalloc.stop()
        gc.enable()
    return done


def assert_doubling(prepare: Callable[[int], Callable[[], object]], short: int = 16, doublings: int = 2) -> None:
    """Fails where doubling the size more than 2.5-folds the work, lines or bytes. ``prepare`` makes the work of a size."""
    prepare(short)()  # what is made once is made now
    few, many = work_of(prepare(short)), work_of(prepare(short * 2**doublings))
    most = 2.5**doublings
    assert many.lines <= most * max(few.lines, 50), (few, many)
    assert many.bytes <= most * max(few.bytes, 16_000), (few, many)
