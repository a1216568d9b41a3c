"""Return: the answer, here and now."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Literal

from pydantic import Field

from agentui.errors import NodeFailed, Returned
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.walk.said import answer_with, reply_of, said_in
from agentui.pipeline.walk.speaker import Speaker
from agentui.upstream.http.request import is_token

_UNFIT = re.compile(r"[^\t\x20-\x7e]")
_OWN = "x-agentui-"


class ReturnParams(NodeParams):
    """What is answered, and how it looks."""

    what: Literal["text", "json", "node"] = Field(
        "text",
        description="text: the text below; json: the JSON below; node: what another node answered.",
        json_schema_extra={"enumDescriptions": ["A text", "JSON", "Another node's answer"]},
    )
    text: str = Field("", description="The answer, a template.", json_schema_extra={"when": {"what": ["text"]}, "ui": "macro"})
    body: str = Field(
        "", description="The answer as JSON, a template.", json_schema_extra={"when": {"what": ["json"]}, "ui": "json"}
    )
    node: str = Field(
        "", description="The id of the node whose answer it is.", max_length=64, json_schema_extra={"when": {"what": ["node"]}}
    )
    status: int = Field(200, ge=200, le=599, description="200, or 400 to 599: the caller gets an error with the text.")
    finish_reason: Literal["stop", "length", "content_filter", "refusal"] = Field(
        "stop",
        description="Why the answer ends, for the caller.",
        json_schema_extra={"enumDescriptions": ["It is complete", "It is too long", "A filter", "A refusal"]},
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="Headers of the answer whose names begin with x-.", json_schema_extra={"ui": "macro"}
    )


@node("Return")
class Return(Node[ReturnParams]):
    """Ends the run with an answer, in the caller's dialect; what still runs is cancelled.

    Where another node has begun to answer, it says nothing. A status from 400 up fails the run with the text as the message.
    OUT: ``text``, ``status``, and ``json`` where JSON is answered.
    """

    Params = ReturnParams
    title = "Return"
    category = "control"
    icon = "return"
    ports = ("done",)
    error_port = False
    ends_run = True
    summary = "{what}"

    def prepare(self, build: Build) -> None:
        """Compile what is answered."""
        params = self.params
        self._text = build.text("text", params.text)
        self._body = build.json("body", params.body or "null")
        self._headers = {name.lower(): build.text(f"headers.{name}", value) for name, value in params.headers.items()}
        for name in params.headers:
            if not is_token(name) or not name.lower().startswith("x-") or name.lower().startswith(_OWN):
                text = f"{name!r:.80} cannot be set: names begin with x-, and not with {_OWN}."
                build.problem("return.header", text, f"headers.{name}", facts={"header": name[:80], "own": _OWN})
        if 200 < params.status < 400:
            build.problem("return.status", "An answer has the status 200, an error one from 400 to 599.", "status")
        if params.what == "node":
            if params.node:
                build.reads.add_node(params.node, is_defended=False)
            else:
                build.problem("return.node", "Whose answer is it? Name a node.", "node")

    def hands_on(self, before: Sequence[str]) -> Collection[str]:
        """The node whose answer is returned."""
        return (self.params.node,) if self.params.what == "node" else ()

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT: ``text``, ``status``, ``json``. Raises Returned where the status is one of an error, and NodeFailed."""
        out = await ctx.apart(partial(self._out, ctx))
        headers = {name: _fit(name, ctx.render(value)) for name, value in self._headers.items()}
        if isinstance(ctx.sink, Speaker) and not ctx.sink.may_speak:
            ctx.warn(f"Node {ctx.node_id} returned nothing: another node answers already.")
            return out
        if self.params.status != 200:
            raise Returned(out["text"], status=self.params.status)
        if ctx.sink is None:
            return out
        ctx.sink.note_headers(headers)
        if ctx.incoming.operation != "chat":
            await answer_with(ctx.run, ctx.sink, out)
            return out
        calls = self._named(ctx).get("tool_calls") if self.params.what == "node" else ()
        reply = reply_of(ctx.run, out["text"], calls, self.params.finish_reason)
        ctx.run.reply, ctx.run.partial_reply = reply, None
        await ctx.sink.reply(reply)
        return out

    async def rehearse(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT, with nothing answered."""
        return await ctx.apart(partial(self._out, ctx))

    async def preview(self, ctx: NodeContext) -> Json:
        """What it would answer."""
        return dict(await self.rehearse(ctx))

    def _out(self, ctx: NodeContext) -> dict[str, Json]:
        status = self.params.status
        match self.params.what:
            case "json":
                value = ctx.render(self._body)
                return {"text": dumps_text(value), "json": value, "status": status}
            case "node":
                return {"text": said_in(self._named(ctx)), "status": status}
            case "text":
                return {"text": ctx.render(self._text), "status": status}

    def _named(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT of the node that is named, {} where it was skipped."""
        out: Mapping[str, Json] = ctx.frame.seen.get(self.params.node, {})
        return out


def _fit(name: str, value: str) -> str:
    """A header's value. Raises NodeFailed for characters that no header may hold; what it says never holds the value."""
    if _UNFIT.search(value):
        raise NodeFailed(f"The value of the header {name!r} holds a line break or a character that no header may have.")
    return value
