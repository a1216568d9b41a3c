"""One process that serves: from its event loop to its last answer."""

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType

from agentui.http.keys import REDACTOR
from agentui.http.limits import LIMITS
from agentui.http.worker_group import WorkerGroup
from agentui.logs import set_up_logging
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.serving.stopping import StopSignals, cannot_listen, tell_waiting
from agentui.settings import Settings, proxy_environment, secret_environment
from agentui.threads import in_thread

GARBAGE = 10_000
"""New objects that hold others, after which Python looks for circles among them."""
FREED_SECONDS = 10.0
"""How often freed memory is given back."""
NOTHING: Mapping[str, str] = MappingProxyType({})


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
