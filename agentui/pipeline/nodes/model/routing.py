"""Which of several targets answers: asked in order, by weight, or several at once, until one of them speaks.

    fallback, weighted:  first ──failed before its first words──> next ──> ... ──> those that are left alone ──> all failed
    race:                several at once ──> the first that speaks; the others are cancelled
                                    └─ one failed: the next one begins

Before the first words nothing has reached the caller, so another target may be asked; afterwards a failure is the answer's.
"""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar
from urllib.parse import quote

from agentui.errors import AgentUIError, AllTargetsFailed, UpstreamTimeout
from agentui.ids import fingerprint
from agentui.jsonio import Json
from agentui.pipeline.caches.thought_cache import conversation_of
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.failures import harms, kind_of
from agentui.pipeline.nodes.model.targets import Candidate, ModelTarget, RoutingParams, hash_draws, weighted_order
from agentui.pipeline.sink import NullSink, Sink
from agentui.redaction import provider_keys
from agentui.upstream.health import Away

T = TypeVar("T")

TARGET_HEADER = "x-agentui-target"
MAX_TOLD = 300
"""Characters of one target's failure in the error that tells of all."""

Begin = Callable[[NodeContext, ModelTarget], Awaitable[T]]
"""Asks one target, in a context of its own, until it speaks."""
Discard = Callable[[T], Awaitable[None]]
"""Ends what another target was quicker than."""


class NotedSink(NullSink):
    """Keeps what one of several calls says of its answer, until it is the one that counts."""

    def __init__(self, sink: Sink) -> None:
        super().__init__(wants_stream=sink.wants_stream)
        self._dropped: list[str] = []
        self._headers: dict[str, str] = {}

    def note_dropped(self, names: Sequence[str]) -> None:
        """Keep the names."""
        self._dropped += names

    def note_headers(self, headers: Mapping[str, str]) -> None:
        """Keep the headers."""
        self._headers.update(headers)

    def tell(self, sink: Sink) -> None:
        """Say all of it to the sink."""
        if self._dropped:
            sink.note_dropped(self._dropped)
        if self._headers:
            sink.note_headers(self._headers)


@dataclass(eq=False, slots=True)
class _Call(Generic[T]):
    """One target that is being asked: since when, by what its health is remembered, and what it came to."""

    candidate: Candidate
    ctx: NodeContext
    target: ModelTarget
    key: str
    started: float
    is_admitted: bool = False
    result: T | None = None


class Route:
    """The targets of one node in one run. The one that answered is asked first from then on.

    ``attempts`` tell of each that was asked or left out: ``target``, ``state`` (answered, failed, skipped, lost), ``ms`` and
    ``error``.
    """

    def __init__(
        self,
        ctx: NodeContext,
        candidates: Sequence[Candidate],
        params: RoutingParams,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """``draw`` gives numbers in [0, 1) for targets that are chosen by weight."""
        self.attempts: list[dict[str, Json]] = []
        self.answered: Candidate | None = None
        self._ctx = ctx
        self._params = params
        self._health = ctx.services.target_health
        self._order = _ordered(ctx, candidates, params, draw)
        self._key = ""

    @property
    def order(self) -> Sequence[Candidate]:
        """The targets as they would be asked, those that are left alone included."""
        if self.answered is None:
            return self._order
        return [self.answered, *(each for each in self._order if each is not self.answered)]

    async def first(self, begin: Begin[T], discard: Discard[T]) -> T:
        """What the first target comes to that speaks. Raises AllTargetsFailed, and what the node does not choose to mend."""
        failures: list[dict[str, Json]] = []
        if self._params.strategy == "race" and self.answered is None:
            call = await self._race(begin, discard, failures)
        else:
            call = await self._fall(self.order, begin, failures)
        return self._settled(call)

    async def first_of(self, candidates: Sequence[Candidate], begin: Begin[T]) -> T:
        """The same for some of the targets, one after the other also where the node lets them race: what is made at several
        vendors is paid at several. Raises as ``first`` does."""
        return self._settled(await self._fall(candidates, begin, []))

    def _settled(self, call: _Call[T]) -> T:
        """What the target came to that answers, of which the sink is told."""
        result = call.result
        assert result is not None  # it has spoken
        self.answered, self._key = call.candidate, call.key
        self._note(call.candidate, "answered", call.started)
        sink = self._ctx.sink
        if sink is not None:
            assert isinstance(call.ctx.sink, NotedSink)
            call.ctx.sink.tell(sink)
            sink.note_headers({TARGET_HEADER: quote(call.candidate.name, safe=" !#$&'()*+,/:;=?@[]~")})
        return result

    def broke_off(self, error: AgentUIError) -> None:
        """The answering target failed in the middle."""
        if harms(error):
            self._health.failed(self._key, self._params.cooldown_s, error.retry_after)

    def shown(self) -> list[dict[str, Json]]:
        """The targets in order, for a preview: which would be asked, and why others would be left out."""
        lines: list[dict[str, Json]] = []
        asked = 0
        at_once = (self._params.at_once or len(self._order)) if self._params.strategy == "race" else 1
        for candidate in self._order:
            state, why = "failed", None
            ctx = self._ctx.beside(self._ctx.sink)
            try:
                away = self._health.away(candidate.resolve(ctx).health_key(ctx))
            except AgentUIError as error:
                why = error.message
            else:
                asked += away is None
                state = "skipped" if away is not None else "asked" if asked <= at_once else "waits"
                why = None if away is None else _told(away)
            finally:
                ctx.close()
            lines.append({"target": candidate.name, "state": state, "why": why})
        return lines

    async def _fall(self, candidates: Sequence[Candidate], begin: Begin[T], failures: list[dict[str, Json]]) -> _Call[T]:
        """One after the other; those that are left alone after failures come last, those that asked for a pause not at all."""
        later: list[_Call[T]] = []
        for candidate in candidates:
            call = self._aimed(candidate, failures, later)
            if call is not None and await self._speaks(call, begin, failures):
                return call
        for call in later:
            if await self._speaks(call, begin, failures):
                return call
        raise _all_failed(failures)

    async def _race(self, begin: Begin[T], discard: Discard[T], failures: list[dict[str, Json]]) -> _Call[T]:
        """Several at once; where one fails the next one begins."""
        waiting: deque[_Call[T]] = deque()
        limit = self._params.at_once or len(self._order)
        running: dict[asyncio.Task[bool], _Call[T]] = {}
        refused: AgentUIError | None = None
        winner: _Call[T] | None = None
        try:
            later: list[_Call[T]] = []
            found = (self._aimed(candidate, failures, later) for candidate in self._order)
            waiting.extend(call for call in found if call is not None)
            waiting.extend(later)
            while winner is None and (running or (waiting and refused is None)):
                while waiting and refused is None and len(running) < limit:
                    call = waiting.popleft()
                    running[asyncio.create_task(self._races(call, begin, failures))] = call
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in running if task.done()]:
                    call = running[task]
                    try:
                        spoke = task.result()
                    except AgentUIError as error:
                        refused, spoke = refused or error, False
                    if not spoke:
                        del running[task]
                    elif winner is None:
                        del running[task]
                        winner = call
        finally:
            await self._cancel(running, discard)
            for call in waiting:
                self._leave(call)
        if winner is not None:
            return winner
        if refused is not None:
            try:
                raise refused
            finally:
                del refused
        raise _all_failed(failures)

    async def _cancel(self, running: Mapping["asyncio.Task[bool]", _Call[T]], discard: Discard[T]) -> None:
        """End the calls that were not quick enough: their connections are closed."""
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        for task, call in running.items():
            if task.cancelled():
                self._leave(call)  # it had not begun
            else:
                task.exception()  # which nobody asks for any more
            if call.result is not None:
                await discard(call.result)
            self._note(call.candidate, "lost", call.started)

    def _leave(self, call: _Call[T]) -> None:
        """The call says nothing of its target."""
        if call.is_admitted:
            self._health.left(call.key)

    def _aimed(self, candidate: Candidate, failures: list[dict[str, Json]], later: list[_Call[T]]) -> _Call[T] | None:
        """A target ready to be asked. None for one that cannot be, and one that is left alone, which may join ``later``."""
        started = monotonic()
        sink = None if self._ctx.sink is None else NotedSink(self._ctx.sink)
        ctx = self._ctx.beside(sink)
        try:
            target = candidate.resolve(ctx)
            key = target.health_key(ctx)
        except AgentUIError as error:
            self._failed(candidate, error, started, failures)
            return None
        finally:
            ctx.used_secrets = ()
            ctx.close()
        call: _Call[T] = _Call(candidate, ctx, target, key, started)
        away = self._health.admit(key)
        if away is None:
            call.is_admitted = True
            return call
        text = f"The target {candidate.name} is left out: {_told(away)}"
        self._ctx.run.emit(
            "run.warning", self._ctx.node_id, {"code": "target.skipped", "target": candidate.name, "message": text}
        )
        self.attempts.append({"target": candidate.name, "state": "skipped", "why": _told(away)})
        if away.is_asked:
            failures.append({"target": candidate.name, "message": _told(away), "retry_after": away.seconds})
        else:
            later.append(call)
        return None

    async def _races(self, call: _Call[T], begin: Begin[T], failures: list[dict[str, Json]]) -> bool:
        """Ask a target in a task of its own, which is cancelled when another one was quicker: False then."""
        try:
            return await self._speaks(call, begin, failures)
        except asyncio.CancelledError as gone:
            gone.__traceback__ = None  # frames that know it would keep the run until the garbage collector comes by
            return False

    async def _speaks(self, call: _Call[T], begin: Begin[T], failures: list[dict[str, Json]]) -> bool:
        """Ask a target; False where it failed in a way that the next one may mend. Raises every other failure."""
        call.started = monotonic()
        limit = call.candidate.timeout
        is_over = False
        clock = asyncio.timeout(limit)
        try:
            try:
                async with clock:
                    call.result = await begin(call.ctx, call.target)
            except TimeoutError as late:
                if not clock.expired():
                    raise
                raise UpstreamTimeout(f"It said nothing within {limit:g} seconds.", phase="first_byte") from late
            self._health.succeeded(call.key)
            is_over = True
        except AgentUIError as error:
            if harms(error):
                self._health.failed(call.key, self._params.cooldown_s, error.retry_after)
                is_over = True
            self._failed(call.candidate, error, call.started, failures)
            return False
        finally:
            call.ctx.close()
            if not is_over:
                self._leave(call)
        return True

    def _failed(self, candidate: Candidate, error: AgentUIError, started: float, failures: list[dict[str, Json]]) -> None:
        """Note a failure. Raises it where the node does not choose to ask the next target after such a one."""
        redact = self._ctx.run.redactor.redact
        described: dict[str, Json] = {"code": error.code, "message": redact(error.message), "status": error.status}
        self._note(candidate, "failed", started, described)
        kind = kind_of(error)
        if kind is None or kind not in self._params.on_errors:
            raise error
        self._ctx.run.emit(
            "run.warning",
            self._ctx.node_id,
            {
                "code": "target.failed",
                "target": candidate.name,
                "message": f"The target {candidate.name} failed: {described['message']}",
                "error": described,
            },
        )
        failures.append({"target": candidate.name, **described, "retry_after": error.retry_after})

    def _note(self, candidate: Candidate, state: str, started: float, error: Json = None) -> None:
        """Keep what became of a target."""
        line: dict[str, Json] = {"target": candidate.name, "state": state, "ms": round((monotonic() - started) * 1000, 1)}
        self.attempts.append(line if error is None else {**line, "error": error})


def _all_failed(failures: Sequence[Mapping[str, Json]]) -> AllTargetsFailed:
    """The error where nobody has spoken, which tells why of each."""
    told = "; ".join(f"{each['target']}: {str(each['message'])[:MAX_TOLD]}" for each in failures)
    waits = [each["retry_after"] for each in failures]
    return AllTargetsFailed(
        f"No target has answered. {told}",
        retry_after=min(waits) if waits and None not in waits else None,
        targets=[{name: value for name, value in each.items() if name != "retry_after"} for each in failures],
    )


def _ordered(
    ctx: NodeContext, candidates: Sequence[Candidate], params: RoutingParams, draw: Callable[[], float]
) -> list[Candidate]:
    """The targets in the order in which this run asks them."""
    if params.strategy != "weighted":
        return list(candidates)
    if params.sticky == "none":
        draws = [1.0 - draw() for _ in candidates]
    else:
        draws = hash_draws(_sticky_key(ctx, params), [each.identity for each in candidates])
    return [candidates[position] for position in weighted_order([each.weight for each in candidates], draws)]


def _sticky_key(ctx: NodeContext, params: RoutingParams) -> str:
    """What a target is kept for: the chat, without one the caller's conversation; or the caller's key."""
    if params.sticky == "caller":
        return fingerprint(ctx.run.account, ctx.incoming.api_key, *provider_keys(ctx.incoming.headers))
    return ctx.run.session or conversation_of(ctx.run.account, ctx.incoming)


def _told(away: Away) -> str:
    """Why a target is left alone."""
    why = "it asked for a pause" if away.is_asked else "it failed several times in a row"
    return f"{why}; {max(1, round(away.seconds))} s are left."
