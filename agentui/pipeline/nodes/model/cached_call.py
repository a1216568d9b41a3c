"""A model's answer out of the cache, where the same request was answered before; else the call, whose answer is kept.

Requests are the same when they are rendered to the same bytes for the same address: what no model reads is left out.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from pydantic import Field

from agentui.chat.deltas import Delta, UsageDelta
from agentui.chat.reply import Reply, ReplyBuilder
from agentui.chat.request import VendorName
from agentui.errors import BadRequest
from agentui.ids import fingerprint
from agentui.jsonio import Json, dumps
from agentui.pipeline.caches.answer_cache import KeptAnswer
from agentui.pipeline.caches.tool_steps import size_of_part
from agentui.pipeline.model_call import ModelPiece, ModelRequest, StreamedPiece, WholeReply, call_model
from agentui.pipeline.node import NodeParams
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.target import ACCOUNT_HEADERS, KEY_HEADERS
from agentui.redaction import mask_url, provider_keys

CACHE_HEADER = "x-agentui-cache"
UNREAD = frozenset(
    {"stream", "stream_options", "user", "metadata", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"}
)
"""Members of requests that say nothing to the model."""
CALLERS = KEY_HEADERS | ACCOUNT_HEADERS
"""Headers that say who asks. Any other one that is sent may change the answer, or tell callers apart."""
SHAPE = frozenset({"content-type", "accept"})
"""Headers that say how a request and its answer are written."""
WHOLE = frozenset({"stop", "stop_sequence"})


class CacheParams(NodeParams):
    """Whether answers are kept, and for whom."""

    cache_s: float = Field(
        0.0,
        title="Keep answers (seconds)",
        ge=0,
        le=31 * 86400,
        description="Seconds that an answer is kept and given to the same request; 0: none is.",
    )
    cache_for: Literal["session", "caller", "global"] = Field(
        "caller",
        title="Keep for",
        description="Who gets a kept answer: the same chat, the same caller's key, or everybody.",
        json_schema_extra={"enumDescriptions": ["The same chat", "The same caller's key", "Everybody"]},
    )
    cache_tool_calls: bool = Field(False, description="Keep answers that call tools too.")


@dataclass(slots=True)
class OpenedCall:
    """An answer on its way: its pieces, and the dialect of their events, None where it has none. ``cache`` is hit, miss or
    bypass, None where nothing is kept."""

    pieces: AsyncGenerator[ModelPiece, None]
    written_by: VendorName | None
    cache: str | None = None


async def open_call(ctx: NodeContext, request: ModelRequest, rules: CacheParams) -> OpenedCall:
    """Answer a request. Raises BadRequest for a header ``x-agentui-cache`` that says what there is not."""
    # The events of a wrapped answer say more than its deltas: nobody reads them.
    vendor = None if request.wire.is_wrapped else request.vendor.name
    if not rules.cache_s:
        return OpenedCall(call_model(ctx, request), vendor)
    asked = ctx.incoming.headers.get(CACHE_HEADER, "").strip().lower()
    if asked not in ("", "bypass", "refresh"):
        raise BadRequest("x-agentui-cache is bypass (do not use the cache) or refresh (ask anew and keep).", param=CACHE_HEADER)
    place = _place(ctx, request, rules)
    if place is None or asked == "bypass":
        _tell(ctx, {CACHE_HEADER: "bypass"})
        return OpenedCall(call_model(ctx, request), vendor, "bypass")
    key = await ctx.incoming.worked_out(partial(_key, request, ctx.run.account, place))
    found = None if asked == "refresh" or ctx.run.answers_anew else ctx.services.answers.find(key)
    if found is not None:
        answer, age = found
        _tell(ctx, {CACHE_HEADER: "hit", "age": str(int(age))})
        told = {"method": "POST", "url": mask_url(request.url), "body": request.wire.body, "cache": "hit", "age_s": int(age)}
        ctx.run.emit("node.request", ctx.node_id, told)
        return OpenedCall(_replayed(answer), None, "hit")
    _tell(ctx, {CACHE_HEADER: "miss"})
    return OpenedCall(_kept(ctx, request, rules, key), vendor, "miss")


def _tell(ctx: NodeContext, headers: Mapping[str, str]) -> None:
    if ctx.sink is not None:
        ctx.sink.note_headers(headers)


def _place(ctx: NodeContext, request: ModelRequest, rules: CacheParams) -> Sequence[str] | None:
    """What tells those apart who may not have each other's answers; None where an answer cannot be kept for anybody."""
    chat = None if ctx.run.session is None else ("session", ctx.run.session)
    match rules.cache_for:
        case "global":
            return ("global",)
        case "session":
            return chat
    own = [key for key in (ctx.incoming.api_key, *provider_keys(ctx.incoming.headers)) if key]
    if not own:
        # Nobody knows who these are: what one of them is told is no other's.
        return chat
    keys = [f"{name}={value}" for name, value in sorted(request.headers.items()) if name in CALLERS]
    return ("caller", *own, "sends", *keys)


def _key(request: ModelRequest, account: str, place: Sequence[str]) -> str:
    """A hash of an account's request as it would go out, streamed or not."""
    wire = request.wire
    url = request.url.replace(":streamGenerateContent", ":generateContent").replace("?alt=sse", "?").replace("&alt=sse", "")
    body: Json = {name: value for name, value in wire.body.items() if name not in UNREAD}
    cut = repr((wire.cut, wire.is_wrapped))
    headers = [f"{name}={value}" for name, value in sorted(request.headers.items()) if name not in CALLERS | SHAPE]
    return fingerprint(account, *place, wire.vendor, url.rstrip("?"), cut, *headers, dumps(body))


async def _replayed(answer: KeptAnswer) -> AsyncGenerator[ModelPiece, None]:
    """A kept answer, whose input counts as read from a cache."""
    yield StreamedPiece((), [_as_cached(delta) for delta in answer.deltas])


def _as_cached(delta: Delta) -> Delta:
    if not isinstance(delta, UsageDelta):
        return delta
    return UsageDelta(replace(delta.usage, cache_read=delta.usage.input))


async def _kept(ctx: NodeContext, request: ModelRequest, rules: CacheParams, key: str) -> AsyncGenerator[ModelPiece, None]:
    """The answer of a call, kept when it is whole."""
    builder = ReplyBuilder()
    whole: Reply | None = None
    async with aclosing(call_model(ctx, request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, WholeReply):
                whole = piece.reply
            else:
                builder.feed(piece.deltas)
            yield piece
    reply = builder.reply() if whole is None else whole
    if _is_fit(reply, rules):
        ctx.services.answers.keep(key, list(reply.deltas()), sum(map(size_of_part, reply.choices[0].parts)), rules.cache_s)


def _is_fit(reply: Reply, rules: CacheParams) -> bool:
    """Whether an answer may be given again: one choice, not cut, not filtered, and without calls unless they are wanted."""
    if len(reply.choices) != 1 or not reply.choices[0].parts:
        return False
    choice = reply.choices[0]
    if choice.tool_calls:
        return rules.cache_tool_calls and choice.finish in (*WHOLE, "tool_calls")
    return choice.finish in WHOLE
