"""Who listens to a live turn over HTTP: a caller who waits for the whole answer, or one who reads events as they happen."""

from collections.abc import Mapping

from aiohttp import web

from agentui.api.ops.telemetry import TELEMETRY
from agentui.api.proxy.targets import ByteTarget, Recorder
from agentui.errors import AgentUIError
from agentui.http.errors import redacted
from agentui.http.events import STREAM_HEADERS
from agentui.http.guard import RUN_REDACTOR
from agentui.http.keys import REDACTOR
from agentui.jsonio import Json, dumps
from agentui.pipeline.run import Run
from agentui.schemas.forms import Data
from agentui.turns.live.progress import Progress
from agentui.turns.repeats import Saved
from agentui.vendors.sse import encode_comment, encode_event


class _Follower:
    """Lets the request know of its runs. ``run`` is the newest one; ``is_open`` says that the turn is."""

    def __init__(self, request: web.Request) -> None:
        self.run: Run | None = None
        self.is_open = False
        self._request = request

    def follow(self, run: Run) -> None:
        """A run begins."""
        self.run = run
        self._request[RUN_REDACTOR] = run.redactor
        self._request.app[TELEMETRY].follow(self._request, run)


class WholeListener(_Follower):
    """Waits for the end. ``recorder`` keeps the answer where the request has a key."""

    def __init__(self, request: web.Request, target: ByteTarget, recorder: Recorder | None) -> None:
        super().__init__(request)
        self._target = target
        self._recorder = recorder

    async def tell(self, event: str, data: Json) -> None:
        """The end sends the answer; nothing else is told."""
        self.is_open = True
        if event == "done":
            await self._target.end()

    async def moved(self, progress: Progress) -> None:
        """Nobody is told."""
        self.is_open = True

    async def save(self, done: Json) -> Saved | None:
        """Put the answer together."""
        assert self.run is not None  # there is an answer
        headers = {"content-type": "application/json", "cache-control": "no-store", **run_headers(self.run)}
        self._target.whole(200, headers, dumps(Data(done)))
        return None if self._recorder is None else await self._recorder.saved(self.run)


class StreamListener(_Follower):
    """Is sent every event when it happens; ``done`` waits until the turn is durable."""

    def __init__(self, request: web.Request, target: ByteTarget, recorder: Recorder | None) -> None:
        super().__init__(request)
        self._target = target
        self._recorder = recorder

    async def open(self) -> None:
        """Send the head. From here on what goes wrong is an event."""
        await self._target.begin(200, STREAM_HEADERS, encode_comment())

    async def tell(self, event: str, data: Json) -> None:
        """Send an event."""
        self.is_open = True
        if event == "done":
            await self._target.end()
        else:
            await self._target.write(encode_event(dumps(data), event))

    async def moved(self, progress: Progress) -> None:
        """Send where the turn is."""
        await self.tell("run", progress.as_json())

    async def save(self, done: Json) -> Saved | None:
        """Hold the last event."""
        assert self.run is not None
        self._target.hold(encode_event(dumps(done), "done"))
        return None if self._recorder is None else await self._recorder.saved(self.run)

    async def fail(self, error: AgentUIError) -> None:
        """Say what went wrong, and end."""
        app = self._request.app
        app[TELEMETRY].count_error(error.code)
        clean = redacted(error, app[REDACTOR] if self.run is None else self.run.redactor)
        told = {"code": clean.code, "message": clean.message, "details": clean.details}
        self._target.hold(encode_event(dumps(told), "error"))
        await self._target.end()


def run_headers(run: Run) -> Mapping[str, str]:
    """Which run answers."""
    return {"x-agentui-run": run.id, "x-agentui-pipeline": run.plan.id}
