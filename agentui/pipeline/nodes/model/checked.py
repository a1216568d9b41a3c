"""Answers that follow a schema: a model that gives another one is told what is wrong with it, and asked again."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from agentui.chat.deltas import Usage
from agentui.chat.messages import text_message
from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, ResponseFormat
from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.pipeline.nodecontext import NodeContext
from agentui.pipeline.nodes.data.schema_field import SchemaField, complaint
from agentui.pipeline.nodes.model.chat_out import reply_out
from agentui.pipeline.nodes.text.model_json import NoJson, find_json
from agentui.threads import LONG, in_thread
from agentui.tools.schemas import BadSchema
from agentui.vendors.base import Vendor
from agentui.vendors.offering import want

AGAIN = (
    "This answer cannot be used:\n{}\n"
    "Answer again. Write nothing but JSON that follows this JSON Schema, without a fence around it:\n{}"
)
"""What a model is told of an answer, and asked for."""
_NAME = "answer"

Ask = Callable[[ChatRequest], Awaitable[tuple[Reply, Json]]]
"""Asks a model and gives its answer, also in the provider's JSON, while nobody else hears of it."""


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The schema of a node's answers. ``retries`` is how often a model is asked again; None where nobody looks."""

    field: SchemaField
    written: str
    retries: int | None

    def asked_for(self, vendor: Vendor, chat: ChatRequest) -> ChatRequest:
        """The request with the schema, which each dialect says in its own way."""
        if self.field.schema is None:
            return chat
        return want(vendor, chat, ResponseFormat("schema", self.field.schema, _NAME))

    async def read(self, text: str, *, exactly: bool) -> tuple[Json, str]:
        """The value of an answer, and what is wrong with it ("" for nothing). ``exactly`` allows no mistakes in it, because
        somebody else will read it as it is."""
        work = partial(find_json, text, repair=not exactly)
        try:
            value = (work() if len(text) <= LONG // 8 else await in_thread(work)).value
            return value, complaint(await self.field.misfits(value))
        except (NoJson, BadSchema) as error:
            return None, str(error)


async def checked_out(ctx: NodeContext, chat: ChatRequest, schema: AnswerSchema, ask: Ask) -> Mapping[str, Json]:
    """OUT of a chat whose answer follows the schema, with its value in ``json``; where the node answers, it is told once it is
    known to be good. An answer that calls the caller's tools is no such answer, and told as it is.

    Raises UpstreamInvalid where the last answer is no better, and what ``ask`` raises.
    """
    chat = replace(chat, stream=False)
    spent = Usage()
    for left in range(schema.retries or 0, -1, -1):
        reply, result = await ask(chat)
        spent = spent if reply.usage is None else spent.plus(reply.usage)
        value: Json = None
        if reply.choices and reply.choices[0].tool_calls:
            break
        value, wrong = await schema.read(reply.text, exactly=ctx.sink is not None)
        if not wrong:
            break
        if not left:
            raise UpstreamInvalid(f"The model's answer does not follow the node's response_schema: {wrong}")
        ctx.warn(f"The answer does not follow response_schema, and the model is asked again. {wrong}")
        told = text_message("user", AGAIN.format(wrong, schema.written))
        chat = replace(chat, messages=(*chat.messages, text_message("assistant", reply.text), told))
    else:
        raise AssertionError("The last round ends or fails.")
    reply = replace(reply, usage=spent)
    if ctx.sink is not None:
        ctx.run.reply = reply
        await ctx.sink.reply(reply)
    return {**reply_out(reply, result), "json": value}
