"""The calls of one node in one run: to its own target, or to the one of several that answers."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from agentui.chat.deltas import End, Finish, Start, UsageDelta
from agentui.errors import AgentUIError, NotFound, UpstreamTruncated
from agentui.jsonio import Json
from agentui.pipeline.model_call import ModelPiece, ModelRequest, WholeReply, ask_model
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.cached_call import CacheParams, OpenedCall, open_call
from agentui.pipeline.nodes.model.failures import filtered
from agentui.pipeline.nodes.model.forwarding import OpenedForward, begin_forward, check_offered, open_forward
from agentui.pipeline.nodes.model.routing import Route
from agentui.pipeline.nodes.model.targets import Candidate, ModelTarget, RoutingParams
from agentui.upstream.call import UpstreamCall
from agentui.vendors.base import Vendor

Make = Callable[[NodeContext, ModelTarget], Awaitable[ModelRequest]]
"""Writes the request for a target."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What a node's configuration says of where it calls: its own target, and those that stand for it where there are some."""

    own: ModelTarget
    candidates: Sequence[Candidate]
    routing: RoutingParams
    cache: CacheParams


@dataclass(slots=True)
class _Speaking:
    """A target that has said something: ``held`` is what came until then."""

    request: ModelRequest
    opened: OpenedCall
    held: list[ModelPiece]


class Calls:
    """Calls until one target answers, and remembers which. ``asked`` is the request that was answered last."""

    def __init__(self, ctx: NodeContext, targets: Targets) -> None:
        self.asked: ModelRequest | None = None
        self._ctx = ctx
        self._targets = targets
        self._route = Route(ctx, targets.candidates, targets.routing) if targets.candidates else None
        self._cache: str | None = None

    @property
    def request(self) -> ModelRequest:
        """The request that was answered last."""
        assert self.asked is not None  # nobody asks before there is an answer
        return self.asked

    async def chat(self, make: Make) -> OpenedCall:
        """Ask; the answer once it has begun. Raises as ``call_model`` and ``make`` do, and AllTargetsFailed."""
        if self._route is None:
            self.asked = await make(self._ctx, self._targets.own)
            opened = await open_call(self._ctx, self.asked, self._targets.cache)
            self._cache = opened.cache
            return opened

        async def begin(ctx: NodeContext, target: ModelTarget) -> _Speaking:
            request = await make(ctx, target)
            opened = await open_call(ctx, request, self._targets.cache)
            return await _until_words(request, opened, "content_filter" in self._targets.routing.on_errors)

        speaking = await self._route.first(begin, _hang_up)
        self.asked, self._cache = speaking.request, speaking.opened.cache
        return OpenedCall(_rest(speaking, self._route), speaking.opened.written_by, speaking.opened.cache)

    async def ask(self, make: Make) -> Json:
        """Ask for what is no chat (a token count, embeddings); its JSON. Raises as ``chat`` does."""
        if self._route is None:
            self.asked = await make(self._ctx, self._targets.own)
            return await ask_model(self._ctx, self.asked)

        async def begin(ctx: NodeContext, target: ModelTarget) -> tuple[ModelRequest, Json]:
            request = await make(ctx, target)
            return request, await ask_model(ctx, request)

        async def nothing(_: tuple[ModelRequest, Json]) -> None:
            """It is over already."""

        request, answer = await self._route.first(begin, nothing)
        self.asked = request
        return answer

    def first_target(self) -> ModelTarget:
        """The target that is asked first, where nothing is known of its health. Raises NotFound and NodeFailed for a preset
        that cannot be used."""
        return self._targets.own if self._route is None else self._route.order[0].resolve(self._ctx)

    async def forward(self, make: Callable[[NodeContext, ModelTarget], UpstreamCall]) -> OpenedForward:
        """Pass the caller's request on to the targets that have its route, until one takes it; the answer once it has begun.

        What is uploaded can be read once, so it goes to the first of them alone. Raises NotFound where none has the route, and
        as ``open_forward`` does; with several targets AllTargetsFailed and UpstreamRefused.
        """
        if self._route is None or self._ctx.incoming.upload is not None:
            return await open_forward(self._ctx, make(self._ctx, self.forward_target()))

        async def begin(ctx: NodeContext, target: ModelTarget) -> OpenedForward:
            return await begin_forward(ctx, make(ctx, target))

        offering = [each for each in self._route.order if self._may_offer(each)]
        if not offering:
            self.forward_target()
        return await self._route.first_of(offering, begin)

    def forward_target(self) -> ModelTarget:
        """The first target that has the caller's route. Raises NotFound where none has."""
        own = self._targets.own
        targets = iter([own]) if self._route is None else (each.resolve(self._ctx) for each in self._route.order)
        refused: NotFound | None = None
        for target in targets:
            try:
                check_offered(self._ctx.incoming, self._own_vendor, target.vendor(self._ctx))
            except NotFound as error:
                refused = error
            else:
                return target
        assert refused is not None  # there is a target at least
        try:
            raise refused
        finally:
            del refused  # its frames know the run

    def _may_offer(self, candidate: Candidate) -> bool:
        """Whether a target has the caller's route; one that cannot be used fails in its turn."""
        try:
            target = candidate.resolve(self._ctx)
        except AgentUIError:
            return True
        return self._offers(target)

    def _offers(self, target: ModelTarget) -> bool:
        """Whether a target has the caller's route."""
        try:
            check_offered(self._ctx.incoming, self._own_vendor, target.vendor(self._ctx))
        except NotFound:
            return False
        return True

    @property
    def _own_vendor(self) -> Vendor:
        """The caller's."""
        assert self._ctx.incoming.vendor is not None
        return self._ctx.services.vendors[self._ctx.incoming.vendor]

    def shown(self) -> dict[str, Json]:
        """What a preview tells beside the request: the targets in order."""
        return {} if self._route is None else {"targets": self._route.shown()}

    def out(self) -> dict[str, Json]:
        """What OUT tells beside the answer: which target gave it, what became of the others, and whether it was kept."""
        told: dict[str, Json] = {}
        if self._route is not None and self._route.answered is not None:
            told = {"target": self._route.answered.name, "attempts": self._route.attempts}
        return told if self._cache is None else {**told, "cache": self._cache}


async def _until_words(request: ModelRequest, opened: OpenedCall, is_filter_failure: bool) -> _Speaking:
    """Hear an answer until it says something. Leaving early closes it."""
    held: list[ModelPiece] = []
    try:
        async for piece in opened.pieces:
            held.append(piece)
            finish = _first_said(piece)
            if finish == "content_filter" and is_filter_failure:
                raise filtered(request.vendor.name)
            if finish is not None:
                return _Speaking(request, opened, held)
    except BaseException:
        await opened.pieces.aclose()
        raise
    raise UpstreamTruncated("The upstream's answer ended before it began.")


def _first_said(piece: ModelPiece) -> str | None:
    """How an answer ended that ends with nothing said, "words" where a piece says something, None where it says nothing yet."""
    if isinstance(piece, WholeReply):
        choice = piece.reply.choices[0] if piece.reply.choices else None
        return (choice.finish or "words") if choice is not None and not choice.parts else "words"
    for delta in piece.deltas:
        match delta:
            case Start() | UsageDelta():
                continue
            case Finish(reason):
                return reason
            case End():
                return "words"
        return "words"
    return None


async def _rest(speaking: _Speaking, route: Route) -> AsyncGenerator[ModelPiece, None]:
    """All pieces of an answer that has begun."""
    async with aclosing(speaking.opened.pieces) as pieces:
        for piece in speaking.held:
            yield piece
        try:
            async for piece in pieces:
                yield piece
        except AgentUIError as error:
            route.broke_off(error)
            raise


async def _hang_up(speaking: _Speaking) -> None:
    """Another target was quicker."""
    await speaking.opened.pieces.aclose()
