"""How a command begins and ends: the event loop, the signals that ask for the end, and what a person is told of both.

Nothing here serves, so that the supervisor of workers, and commands that only look something up, do not load the server.
"""

import asyncio
import contextlib
import errno
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from agentui.settings import Settings


class CommandError(Exception):
    """What the user must change, in one sentence."""


class StopSignals:
    """What Ctrl+C and polite kills have asked for: an end, and from the second one on an end at once."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.hurry = asyncio.Event()
        self.from_keyboard = False
        """True when the first of them was Ctrl+C."""

    def listen(self, *, keyboard: bool = True) -> None:
        """Hear the signals from now on; without ``keyboard`` Ctrl+C is ignored, because somebody else hears it."""
        loop = asyncio.get_running_loop()
        # Windows' loops take no signal handlers; there Ctrl+C arrives as KeyboardInterrupt.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(signal.SIGTERM, self.ask)
            if keyboard:
                loop.add_signal_handler(signal.SIGINT, self._press)
            else:
                signal.signal(signal.SIGINT, signal.SIG_IGN)

    def ask(self) -> None:
        """Ask for the end; a second time, for an end at once."""
        (self.hurry if self.asked.is_set() else self.asked).set()

    def _press(self) -> None:
        self.from_keyboard = self.from_keyboard or not self.asked.is_set()
        self.ask()


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a server's coroutine on the fastest loop that this platform has."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def cannot_listen(settings: Settings, error: OSError) -> CommandError:
    """Why nobody can listen where the settings say, and what to change."""
    place = f"cannot listen on {settings.host} port {settings.port}"
    match error.errno:
        case errno.EADDRINUSE:
            return CommandError(f"{place}, which another program uses: choose another with --port, or stop that program.")
        case errno.EACCES:
            return CommandError(f"{place}, which only an administrator may use: choose one above 1023 with --port.")
    return CommandError(f"{place} ({error.strerror or error}): choose an address of this computer with --host.")


def tell_waiting(stop: StopSignals, requests: int) -> None:
    """Tell a person at the keyboard what the end waits for, where it waits."""
    if stop.from_keyboard and requests and not stop.hurry.is_set():
        what = "1 request" if requests == 1 else f"{requests} requests"
        print(f"Waiting for {what} to end; press Ctrl+C again to stop now.", file=sys.stderr, flush=True)
