"""One process that serves: from its event loop to its last answer."""

import asyncio
import contextlib
import ctypes
import errno
import gc
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import Any

from agentui.http.keys import REDACTOR
from agentui.http.limits import LIMITS
from agentui.http.workers import WorkerGroup
from agentui.logs import set_up_logging
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.settings import Settings, proxy_environment, secret_environment
from agentui.threads import in_thread

GARBAGE = 10_000
"""New objects that hold others, after which Python looks for circles among them."""
FREED_SECONDS = 10.0
"""How often freed memory is given back."""
NOTHING: Mapping[str, str] = MappingProxyType({})


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


async def serve(
    settings: Settings,
    greet: Callable[[int], None],
    *,
    named_origins: Mapping[str, str] = NOTHING,
    active: str = "default",
) -> None:
    """Serve alone until a signal asks for the end. ``greet`` is told the port. Raises CommandError where nobody can listen."""
    stop = StopSignals()
    # Before anybody is told that the server is there: a kill that comes at once is a polite one too.
    stop.listen()
    await serve_until(stop, settings, greet, tell_waiting, named_origins=named_origins, active=active)


async def serve_until(
    stop: StopSignals,
    settings: Settings,
    greet: Callable[[int], None],
    wait_for: Callable[[StopSignals, int], None],
    *,
    named_origins: Mapping[str, str] = NOTHING,
    active: str = "default",
    group: WorkerGroup | None = None,
) -> None:
    """Serve until ``stop`` says so; ``wait_for`` is then told how many requests are still under way.

    One of a ``group`` shares its port with the others.
    """
    app = create_app(
        settings,
        named_origins=named_origins,
        secret_env=secret_environment(),
        proxy_env=proxy_environment(),
        default_active=active,
        group=group,
    )
    set_up_logging(app[REDACTOR], settings)
    listener = Listener(app, stop_seconds=settings.stop_timeout)
    try:
        port = await listener.start(settings.host, settings.port, reuse_port=group is not None)
    except OSError as error:
        raise cannot_listen(settings, error) from error
    # What start-up made stays for good. Left among the rest, every full collection walks it: 50 to 80 ms in which nobody is
    # answered, once in some hundred requests.
    gc.freeze()
    # A request makes no circles, but some hundred objects that live until its answer: looking through those after every 700 new
    # ones, as Python does, is a tenth of a small request's time.
    gc.set_threshold(GARBAGE)
    giving_back = asyncio.create_task(give_back_freed(FREED_SECONDS), name="freed memory")
    greet(port)
    try:
        await stop.asked.wait()
    finally:
        giving_back.cancel()
        wait_for(stop, app[LIMITS].in_flight)
        await listener.stop(stop.hurry)


async def give_back_freed(seconds: float) -> None:
    """Let the system have, every so many seconds, what was freed; until cancelled.

    The malloc of glibc gives back only what is freed at the end of its heap: after many large requests half of what the process
    took would stay its own. (``malloc_trim``, malloc(3); other systems' have nothing like it.)
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    while trim is not None:
        await asyncio.sleep(seconds)
        await in_thread(lambda: trim(0))


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
