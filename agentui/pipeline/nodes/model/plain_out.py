"""OUT of what is no chat: token counts and embeddings."""

from agentui.chat.request import WireRequest
from agentui.jsonio import Json
from agentui.pipeline.model_call import ModelRequest, ask_model
from agentui.pipeline.nodecontext import NodeContext
from agentui.vendors.base import Embeddings


async def count_out(ctx: NodeContext, request: ModelRequest) -> dict[str, Json]:
    """OUT of a token count."""
    assert request.vendor.count_tokens is not None
    body = await ask_model(ctx, request)
    tokens = request.vendor.count_tokens.parse_reply(body)
    if ctx.sink is not None:
        await ctx.sink.tokens(tokens, estimated=False)
    return {"result": body, "response_text": str(tokens)}


async def embeddings_out(ctx: NodeContext, request: ModelRequest) -> dict[str, Json]:
    """OUT of embeddings."""
    own = ctx.incoming.wire
    assert own is not None and request.vendor.embeddings is not None
    answer = body = await ask_model(ctx, request)
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
