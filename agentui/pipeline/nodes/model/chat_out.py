"""OUT of a chat: what a model answered, kept and passed on piece by piece."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from agentui.chat.deltas import TextDelta
from agentui.chat.reply import Reply, ReplyBuilder
from agentui.chat.request import VendorName
from agentui.jsonio import InvalidJson, Json, loads
from agentui.pipeline.model_call import ModelPiece, ModelRequest, StreamedPiece, WholeReply
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.sink import Sink


async def collect_reply(
    ctx: NodeContext,
    asked: Callable[[], ModelRequest],
    answer: AsyncGenerator[ModelPiece, None] | AsyncGenerator[StreamedPiece, None],
    written_by: VendorName | None,
    sink: Sink | None,
) -> tuple[Reply, Json]:
    """What a model answers, and that in the provider's JSON: each piece is kept, and passed on to ``sink``, before the next is
    read.

    ``asked`` gives the request that was answered; ``written_by`` is the dialect of the answer's events, None where it has none.
    """
    builder = ReplyBuilder()
    if sink is not None:
        ctx.run.partial_reply = builder
    whole = await _pass_on(ctx, builder, answer, written_by, sink)
    reply = builder.reply() if whole is None else whole
    request = asked()
    vendor = request.vendor
    if vendor.name != ctx.incoming.vendor or not vendor.keeps_thoughts:
        # For callers who cannot give them back: other dialects have no place for them.
        await ctx.services.thought_cache.share(vendor.name, ctx.run.account, ctx.incoming, reply)
    if sink is not None:
        ctx.run.reply, ctx.run.partial_reply = reply, None
    return reply, vendor.render_reply(reply, request.wire) if whole is None else whole.raw


async def _pass_on(
    ctx: NodeContext,
    builder: ReplyBuilder,
    answer: AsyncGenerator[ModelPiece, None] | AsyncGenerator[StreamedPiece, None],
    written_by: VendorName | None,
    sink: Sink | None,
) -> Reply | None:
    """Feed each piece to ``builder`` and pass it on, until the answer ends. Gives the reply where it came in one piece."""
    whole: Reply | None = None
    async with aclosing(answer) as pieces:
        async for piece in pieces:
            if isinstance(piece, WholeReply):
                whole = piece.reply
                if whole.text:
                    ctx.run.emit("node.chunk", ctx.node_id, {"text": whole.text})
                if sink is not None:
                    await sink.reply(whole, piece.body)
                continue
            builder.feed(piece.deltas)
            for delta in piece.deltas:
                if type(delta) is TextDelta:
                    ctx.emit_chunk(delta.text)
            if sink is not None:
                await sink.send(written_by, piece.events, piece.deltas)
    return whole


def reply_out(reply: Reply, result: Json) -> dict[str, Json]:
    """A reply as OUT: the provider's JSON, and what pipelines mostly want of it."""
    choice = reply.choices[0] if reply.choices else None
    calls = choice.tool_calls if choice else ()
    usage = reply.usage
    return {
        "result": result,
        "response_text": reply.text,
        "usage": None
        if usage is None
        else {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "total_tokens": usage.total,
            "cache_read_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "reasoning_tokens": usage.reasoning,
        },
        "finish_reason": choice.finish if choice else None,
        "tool_calls": [{"id": call.id, "name": call.name, "arguments": _arguments(call.arguments)} for call in calls],
    }


def _arguments(text: str) -> Json:
    """Arguments as JSON; a model's broken JSON stays text."""
    try:
        return loads(text or "{}")
    except InvalidJson:
        return text
