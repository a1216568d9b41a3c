"""The runs of this process: those under way, and the last ones that ended."""

import asyncio
import re
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass

from agentui.errors import NotFound
from agentui.jsonio import Json, held_when_parsed
from agentui.pipeline.result import RunState
from agentui.pipeline.run import Run, RunOrigin
from agentui.pipeline.tokens import tokens_of
from agentui.templating.core.weight import weight_within

MAX_WAITING = 256
"""How many new runs a slow listener may fall behind before the oldest are left out."""

_EVENT_BYTES = 256
_NODE = 100
"""Bytes of a value in memory beside its characters."""
_MOST_WEIGHED = 1024 * 1024
"""Characters up to which what nodes made is weighed, some milliseconds' worth of small values."""
_MAX_CLIENT = 60
_COMMENT = re.compile(r"\([^()]*\)")
_BROWSERS: Mapping[str, str] = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
"""What a browser's User-Agent holds, most telling first: each of them also names those that it is like."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in one line. ``started`` is milliseconds since 1970, ``duration_ms`` None while it runs.

    ``account`` is whose it is. ``origin`` is ``client`` or ``try``. ``session``, ``branch`` and ``floor`` name the chat that
    it is a turn of. ``client`` is the caller's program by its User-Agent. ``model`` is what the caller named, ``models`` are
    those that were asked. The tokens are those of all calls, None where no provider told any.
    """

    id: str
    account: str
    pipeline: str
    pipeline_name: str
    version: str
    state: RunState
    started: int
    duration_ms: float | None
    method: str
    path: str
    vendor: str | None
    operation: str
    model: str | None
    models: list[str]
    stream: bool
    origin: RunOrigin
    session: str | None
    branch: str | None
    floor: str | None
    client: str | None
    input_tokens: int | None
    output_tokens: int | None
    event_count: int
    error: Json

    @classmethod
    def of(cls, run: Run) -> "RunSummary":
        """What can be said of a run now."""
        last = run.events.items[-1] if run.events.items else None
        ended = last is not None and last.type == "run.finished"
        tokens = tokens_of(run)
        return cls(
            id=run.id,
            account=run.account,
            pipeline=run.plan.id,
            pipeline_name=run.plan.name,
            version=run.plan.version,
            state=run.state,
            started=run.started_ms,
            duration_ms=None if run.finished is None else round((run.finished - run.started) * 1000, 3),
            method=run.incoming.method,
            path=run.incoming.path,
            vendor=run.incoming.vendor,
            operation=run.incoming.operation,
            model=run.incoming.model,
            models=list(run.asked_models),
            stream=run.incoming.wants_stream,
            origin=run.origin,
            session=run.session,
            branch=run.branch,
            floor=run.floor,
            client=client_of(run.incoming.headers.get("user-agent", "")),
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            event_count=len(run.events.items),
            error=last.data.get("error") if last is not None and ended and isinstance(last.data, Mapping) else None,
        )

    def mentions(self, words: str, redact: Callable[[str], str]) -> bool:
        """True when every word stands in what names the run, its pipeline, model, path, chat or client, or in its error, as
        ``redact`` lets them be seen: a search must not tell the letters of a key."""
        if not words:
            return True
        message = self.error.get("message") if isinstance(self.error, Mapping) else None
        what = (self.id, self.pipeline, self.pipeline_name, self.model, self.vendor, self.path, self.state, message)
        said = (*what, *self.models, self.origin, self.session, self.branch, self.floor, self.client)
        text = redact("\n".join(part for part in said if isinstance(part, str))).casefold()
        return all(word in text for word in words.casefold().split())


def client_of(user_agent: str) -> str | None:
    """The short name of a caller's program: the browser's behind ``Mozilla/5.0``, else the first product."""
    products = [word.partition("/")[0] for word in _COMMENT.sub(" ", user_agent).split()]
    if not products:
        return None
    known = next((name for sign, name in _BROWSERS.items() if sign in products), None)
    return known if known is not None and products[0] == "Mozilla" else products[0][:_MAX_CLIENT]


class LiveFeed:
    """The runs that begin from now on, for one listener. ``async with`` it; iterate it."""

    def __init__(self, feeds: "set[LiveFeed]", account: str | None = None) -> None:
        """``account`` is whose runs are told of; None for everybody's."""
        self._feeds = feeds
        self._account = account
        self._waiting: deque[Run] = deque(maxlen=MAX_WAITING)
        self._news = asyncio.Event()
        self._is_closed = False

    async def __aenter__(self) -> "LiveFeed":
        self._feeds.add(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._feeds.discard(self)

    def put(self, run: Run) -> None:
        """Tell the listener of a run, where it is one that it may know of."""
        if self._account in (None, run.account):
            self._waiting.append(run)
            self._news.set()

    def close(self) -> None:
        """Let the listener end after what is there."""
        self._is_closed = True
        self._news.set()

    @property
    def is_closed(self) -> bool:
        """True when nothing more will come."""
        return self._is_closed

    async def wait(self) -> None:
        """Wait until there is a run that was not read yet, or nothing more will come."""
        await self._news.wait()

    def clear(self) -> None:
        """Count all that is there as read."""
        self._waiting.clear()
        if not self._is_closed:
            self._news.clear()

    async def __aiter__(self) -> AsyncIterator[Run]:
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self._is_closed:
                return
            self._news.clear()
            await self._news.wait()


class RunHistory:
    """Runs by id, in the order in which they began.

    Running ones are always here; of the others the last ``max_runs``, as far as they take no more than about ``max_bytes``.
    Runs are referred to, never copied.
    """

    def __init__(self, max_runs: int, max_bytes: int) -> None:
        self._max_runs = max_runs
        self._max_bytes = max_bytes
        self._runs: dict[str, Run] = {}
        self._ended: OrderedDict[str, int] = OrderedDict()
        """Sizes of the runs that ended, in the order in which they did."""
        self._bytes = 0
        self._feeds: set[LiveFeed] = set()
        self._is_closed = False

    def add(self, run: Run) -> None:
        """Take in a run that begins; it moves to the ended ones by itself."""
        self._runs[run.id] = run
        run.on_finish = self._settle
        run.audience = self._feeds
        for feed in tuple(self._feeds):
            feed.put(run)

    def get(self, id: str) -> Run:
        """One run. Raises NotFound."""
        run = self._runs.get(id)
        if run is None:
            raise _no_run(id)
        return run

    def list(
        self,
        limit: int = 50,
        query: str = "",
        pipeline: str | None = None,
        state: RunState | None = None,
        before: str | None = None,
        account: str | None = None,
    ) -> list[RunSummary]:
        """The newest runs that fit, newest first. ``query`` is words that must all be found; ``before`` is the id of a run
        that all of them began before: ids sort by time. ``account`` is whose they are; None for anybody's."""
        found: list[RunSummary] = []
        for run in reversed(self._runs.values()):
            if len(found) >= limit:
                break
            if (pipeline is not None and run.plan.id != pipeline) or (state is not None and run.state != state):
                continue
            if account not in (None, run.account):
                continue
            if before is not None and run.id >= before:
                continue
            summary = RunSummary.of(run)
            if summary.mentions(query, run.redactor.redact):
                found.append(summary)
        return found

    def since(self, id: str) -> Sequence[Run]:
        """The runs that began after the one with this id, oldest first. Where it was dropped, ids tell: they sort by time."""
        is_known = id in self._runs
        later = []
        for run in reversed(self._runs.values()):
            if run.id == id or (not is_known and run.id < id):
                break
            later.append(run)
        return later[::-1]

    @property
    def running(self) -> Sequence[Run]:
        """The runs under way, oldest first."""
        return [run for run in self._runs.values() if run.finished is None]

    def seen_by(self, account: str | None) -> "SeenRuns":
        """The runs of an account alone; those of all for None."""
        return SeenRuns(self, account)

    def subscribe(self, account: str | None = None) -> LiveFeed:
        """A feed of the runs that begin while it is entered: an account's, or those of all for None."""
        feed = LiveFeed(self._feeds, account)
        if self._is_closed:
            feed.close()
        return feed

    def forget(self, account: str) -> None:
        """Drop what ended of an account: nothing is kept for it any more."""
        for id in [id for id in self._ended if self._runs[id].account == account]:
            self._bytes -= self._ended.pop(id)
            del self._runs[id]

    def close(self) -> None:
        """The server stops: let every listener end."""
        self._is_closed = True
        for feed in tuple(self._feeds):
            feed.close()

    @property
    def bytes(self) -> int:
        """About how much memory the ended runs hold."""
        return self._bytes

    def _settle(self, run: Run) -> None:
        """A run ended: weigh it, and drop the oldest where there is too much."""
        if run.id in self._ended or run.id not in self._runs:
            return
        size = _size(run)
        self._ended[run.id] = size
        self._bytes += size
        while self._ended and (len(self._ended) > self._max_runs or self._bytes > self._max_bytes):
            dropped, its_size = self._ended.popitem(last=False)
            self._bytes -= its_size
            del self._runs[dropped]


@dataclass(frozen=True, slots=True)
class SeenRuns:
    """The runs that one reader may know of: those of an account, or all for None. Another's run is one that there is not."""

    history: RunHistory
    account: str | None

    def get(self, id: str) -> Run:
        """One run. Raises NotFound."""
        run = self.history.get(id)
        if self.account not in (None, run.account):
            raise _no_run(id)
        return run

    def list(
        self, limit: int, query: str, pipeline: str | None, state: RunState | None, before: str | None
    ) -> list[RunSummary]:
        """As ``RunHistory.list``."""
        return self.history.list(limit, query, pipeline, state, before, self.account)

    def since(self, id: str) -> Sequence[Run]:
        """As ``RunHistory.since``."""
        return [run for run in self.history.since(id) if self.account in (None, run.account)]

    def subscribe(self) -> LiveFeed:
        """As ``RunHistory.subscribe``."""
        return self.history.subscribe(self.account)


def _no_run(id: str) -> NotFound:
    return NotFound(f"There is no run {id!r}; only the last ones are kept.", run=id)


def _size(run: Run) -> int:
    """Roughly what a run holds: the bytes of the caller's body and of others that were sent, the upstreams' answers, which are
    parsed, what nodes made of them, and the events.

    Walking all values could cost more than keeping them: lengths and weights that are known anyway count.
    """
    sent = len(run.incoming.body) + run.sent_bytes
    headers = run.incoming.headers
    heads = sum(map(len, headers)) + sum(map(len, headers.values())) + _NODE * len(headers)
    return sent + heads + run.received_bytes + _made(run) + _EVENT_BYTES * len(run.events.items)


def _made(run: Run) -> int:
    """What nodes that call nobody gave out, about as much as it weighs when written; where that is too much to be weighed,
    it holds the caller's body parsed."""
    size = run.frame.made_within(_MOST_WEIGHED)
    if run.plan.bodies or run.plan.calls:
        # The walks inside are over; their OUT is held by events alone.
        inner = (event.data for event in run.events.items if event.type == "node.finished" and "/" in (event.node or ""))
        for out in inner:
            if size > _MOST_WEIGHED:
                break
            size += weight_within(out, _MOST_WEIGHED)
    return size if size <= _MOST_WEIGHED else size + held_when_parsed(run.incoming.body)
