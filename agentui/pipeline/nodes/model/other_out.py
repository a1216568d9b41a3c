"""OUT of what is no chat: token counts and embeddings."""

from agentui.chat.request import WireRequest
from agentui.jsonio import Json
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.calls import Calls, Make
from agentui.vendors.base import Embeddings


async def count_out(ctx: NodeContext, calls: Calls, make: Make) -> dict[str, Json]:
    """OUT of a token count. Raises as ``Calls.ask`` does."""
    body = await calls.ask(make)
    counter = calls.request.vendor.count_tokens
    assert counter is not None  # or its request had not been made
    tokens = counter.parse_reply(body)
    if ctx.sink is not None:
        await ctx.sink.tokens(tokens, estimated=False)
    return {"result": body, "response_text": str(tokens)}


async def embeddings_out(ctx: NodeContext, calls: Calls, make: Make) -> dict[str, Json]:
    """OUT of embeddings. Raises as ``Calls.ask`` does."""
    own = ctx.incoming.wire
    answer = body = await calls.ask(make)
    request = calls.request
    assert own is not None and request.vendor.embeddings is not None
    if own.vendor != request.vendor.name:
        answer = request.vendor.embeddings.parse_reply(body, asked_embeddings(ctx, own))
        answer = _embeddings(ctx, own).render_reply(answer, own)
    if ctx.sink is not None:
        await ctx.sink.document(answer)
    return {"result": body, "response_text": ""}


def asked_embeddings(ctx: NodeContext, own: WireRequest) -> WireRequest:
    """The caller's request for embeddings as all dialects understand it."""
    return _embeddings(ctx, own).parse_request(own)


def _embeddings(ctx: NodeContext, own: WireRequest) -> Embeddings:
    embeddings = ctx.services.vendors[own.vendor].embeddings
    assert embeddings is not None  # or its reader had made something else of the request
    return embeddings
