"""Answers that follow a schema: a model that gives another one is told what is wrong with it, and asked again."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from pydantic import Field

from agentui.chat.deltas import Usage
from agentui.chat.messages import Message, text_message
from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, ResponseFormat
from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.pipeline.node import Build, NodeParams
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.data.schema_field import SchemaField, complaint
from agentui.pipeline.nodes.model.chat_out import reply_out
from agentui.pipeline.nodes.model.extraction import Way
from agentui.pipeline.nodes.text.model_json import NoJson, find_json
from agentui.pipeline.sink import Sink
from agentui.threads import LONG, in_thread
from agentui.tools.schemas import BadSchema
from agentui.vendors.base import Vendor
from agentui.vendors.offering import want
from agentui.vendors.registry import VENDOR_TITLES

AGAIN = (
    "This answer cannot be used:\n{}\n"
    "Answer again. Write nothing but JSON that follows this JSON Schema, without a fence around it:\n{}"
)
"""What a model is told of an answer, and asked for."""
_NAME = "answer"

Ask = Callable[[Sequence[Message], Sink | None], Awaitable[tuple[Reply, Json]]]
"""Asks a model with these messages behind the conversation, and gives its answer, also in the provider's JSON; the sink
hears of it."""


class AnswerParams(NodeParams):
    """What is wanted of an answer."""

    response_schema: str = Field(
        "",
        description="A JSON Schema for the answer, which the provider is told in its own way; empty: any answer.",
        json_schema_extra={"ui": "json"},
    )
    validate_retries: int | None = Field(
        None,
        ge=0,
        le=10,
        description="Hold the answer against response_schema, and ask again so often with what is wrong; empty: do not look.",
    )
    extract: Way = Field(
        "auto",
        description="What OUT has as the answer's text: auto, the place of a dialect, a JSONPath, or a regular expression.",
        json_schema_extra={"enumDescriptions": ["The text", *VENDOR_TITLES.values(), "JSONPath", "Regular expression"]},
    )
    extract_expression: str = Field(
        "",
        description="The JSONPath in result, or the expression: its first group, else all of its match.",
        max_length=4000,
        json_schema_extra={"when": {"extract": ["jsonpath", "regex"]}},
    )


class AnswerSchema:
    """The schema of a node's answers. ``retries`` is how often a model is asked again; None where nobody looks."""

    def __init__(self, build: Build, params: AnswerParams, *, has_template: bool) -> None:
        """Compile the fields; what does not go together is a problem of the node."""
        self.field = SchemaField(build, "response_schema", params.response_schema)
        self.written = params.response_schema
        self.retries = params.validate_retries
        if has_template and self.written.strip():
            text = "A schema goes with Prompt Blocks: a template writes the whole request itself."
            build.problem("schema.template", text, "response_schema")
        if self.retries is not None and not self.written.strip():
            build.problem("schema.missing", "There is no response_schema to hold answers against.", "validate_retries")

    def asked_for(self, vendor: Vendor, chat: ChatRequest) -> ChatRequest:
        """The request with the schema, which each dialect says in its own way; for one answer where a turn would like several,
        for one is held against the schema."""
        if self.field.schema is None:
            return chat
        chat = replace(chat, params=replace(chat.params, answers=None))
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


async def checked_out(ctx: NodeContext, schema: AnswerSchema, ask: Ask) -> dict[str, Json]:
    """OUT of a chat whose answer follows the schema, with its value in ``json``; where the node answers, it is told once it is
    known to be good. An answer that calls the caller's tools is no such answer, and told as it is.

    Raises UpstreamInvalid where the last answer is no better, and what ``ask`` raises.
    """
    told: list[Message] = []
    spent = Usage()
    left = schema.retries or 0
    while True:
        reply, result = await ask(told, None)
        spent = spent if reply.usage is None else spent.plus(reply.usage)
        if reply.choices and reply.choices[0].tool_calls:
            value = None
            break
        value, wrong = await schema.read(reply.text, exactly=ctx.sink is not None)
        if not wrong:
            break
        if not left:
            raise UpstreamInvalid(f"The model's answer does not follow the node's response_schema: {wrong}")
        left -= 1
        ctx.warn(f"The answer does not follow response_schema, and the model is asked again. {wrong}")
        told += (text_message("assistant", reply.text), text_message("user", AGAIN.format(wrong, schema.written)))
    reply = replace(reply, usage=spent)
    if ctx.sink is not None:
        ctx.run.reply = reply
        await ctx.sink.reply(reply)
    return {**reply_out(reply, result), "json": value}
