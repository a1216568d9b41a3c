"""What the engine does to the machine while it is fed: an audit hook (PEP 578) that is listened to only while a watch is on.

Python cannot take a hook back, so there is one for the process, installed when it is first needed; it does nothing but look
whether anybody watches. Only the thread that began the watch is watched: what other threads do is their own affair.
"""

import codecs
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from types import TracebackType
from typing import Any

Allowed = Callable[[str, tuple[Any, ...]], bool]
"""Whether an event is what the engine does on purpose."""

_MOST_KEPT = 20


def nothing(event: str, args: tuple[Any, ...]) -> bool:
    """The rule for pure code: no event at all is expected of it."""
    return False


def parsing(event: str, args: tuple[Any, ...]) -> bool:
    """The rule for formulas: ``ast.parse`` is heard as ``compile`` of a text without a file; running what was compiled would
    be heard as ``exec`` and is not allowed."""
    return event == "compile" and len(args) == 2 and args[1] == "<unknown>"


class Watch:
    """While entered, every audit event of this thread that ``allowed`` does not know is kept as an escape."""

    def __init__(self, allowed: Allowed = nothing) -> None:
        self._allowed = allowed
        self._escapes: list[str] = []
        self._thread = 0

    def __enter__(self) -> "Watch":
        _Hook.install()
        # Templates' values pass through this codec, and Python imports its module at its first use in a process.
        codecs.lookup("utf-16-le")
        # What others left behind is closed now and not in the middle of the watch, where it would be taken for the engine's;
        # and looking through what they hold is no cost of an input.
        gc.collect()
        gc.freeze()
        self._thread = get_ident()
        _Hook.watch = self
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        _Hook.watch = None

    @property
    def has_seen(self) -> bool:
        """Whether something escaped since the last ``take``."""
        return bool(self._escapes)

    def take(self) -> list[str]:
        """The escapes since the last time."""
        taken, self._escapes = self._escapes, []
        return taken

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Look away for something of the campaign's own."""
        before, _Hook.watch = _Hook.watch, None
        try:
            yield
        finally:
            _Hook.watch = before

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        """Judge one event; called by the hook."""
        # ``id`` tells an address and opens nothing; copying a list asks for it.
        if (
            event == "builtins.id"
            or get_ident() != self._thread
            or self._allowed(event, args)
            or len(self._escapes) >= _MOST_KEPT
        ):
            return
        # Describing the arguments may itself raise events.
        with self.aside():
            self._escapes.append(f"{event} {args!r:.300}")


class _Hook:
    """The one hook of the process."""

    watch: Watch | None = None
    _is_installed = False

    @classmethod
    def install(cls) -> None:
        """Add the hook to the interpreter, once."""
        if not cls._is_installed:
            cls._is_installed = True
            sys.addaudithook(cls._hear)

    @staticmethod
    def _hear(event: str, args: tuple[Any, ...]) -> None:
        watch = _Hook.watch
        if watch is not None:
            watch.hear(event, args)
