"""OpenAI Chat Completions, and the many servers that speak it: a table of contents.

messages.py and tools.py hold what requests and answers share; request.py, reply.py, stream.py, errors.py, prompt.py and
models.py each one side of the dialect.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from agentui.chat.messages import Message
from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, Operation, VendorName, WireRequest
from agentui.errors import AgentUIError, Unsupported, UpstreamRefused
from agentui.ids import new_id
from agentui.jsonio import Json
from agentui.vendors.base import ErrorReply, ModelInfo, Prompt, StreamFormat
from agentui.vendors.openai.errors import parse_error, render_error
from agentui.vendors.openai.models import MODELS_PATH, parse_models, render_model, render_models
from agentui.vendors.openai.prompt import render_prompt
from agentui.vendors.openai.reply import parse_reply, render_reply
from agentui.vendors.openai.request import (
    CHAT_PATH,
    EMBEDDINGS_PATH,
    parse_request,
    patch_request,
    read_request,
    render_request,
)
from agentui.vendors.openai.stream import OpenAIStreamParser, OpenAIStreamRenderer
from agentui.vendors.sse import encode_comment

_NO_COUNT = "OpenAI chat completions have no way to count tokens; ask a Claude or Gemini model."


class OpenAI:
    """The dialect ``openai``.

    ``now`` gives seconds since 1970. Every answer must have a ``created`` and an ``id``, and other vendors send no time; both
    are made here, at the door, once for each answer, so that everything behind it stays pure.
    """

    name: VendorName = "openai"
    title = "OpenAI"
    default_base_url = "https://api.openai.com"

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now

    def read_request(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Json]
    ) -> WireRequest:
        """Take in a caller's request; the dialect has no query."""
        return read_request(path, headers, body)

    def default_endpoint(self, model: str, operation: Operation, *, stream: bool) -> str:
        """Where to post, below the base URL; model and streaming are in the body."""
        if operation == "count_tokens":
            raise Unsupported(_NO_COUNT)
        return EMBEDDINGS_PATH if operation == "embeddings" else CHAT_PATH

    def patch_request(self, wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
        """The same request with another model or stream switch."""
        return patch_request(wire, model=model, stream=stream)

    def parse_request(self, wire: WireRequest) -> ChatRequest:
        """Take the dialect off."""
        return parse_request(wire)

    def render_request(self, chat: ChatRequest) -> WireRequest:
        """Put the dialect on."""
        return render_request(chat)

    def render_prompt(self, messages: Sequence[Message]) -> Prompt:
        """Prompt Blocks for templates."""
        return render_prompt(messages)

    def parse_reply(self, body: Json) -> Reply:
        """A whole answer with the dialect taken off."""
        return parse_reply(body)

    def render_reply(self, reply: Reply, wire: WireRequest) -> Json:
        """A whole answer for the caller who sent ``wire``."""
        return render_reply(reply, id=reply.id or new_id("chatcmpl"), model=wire.model, now=int(self._now()))

    def stream_parser(self) -> OpenAIStreamParser:
        """A machine that understands one stream."""
        return OpenAIStreamParser()

    def stream_renderer(self, wire: WireRequest) -> OpenAIStreamRenderer:
        """A machine that writes one stream to the caller who sent ``wire``."""
        return OpenAIStreamRenderer(wire, id=new_id("chatcmpl"), now=int(self._now()))

    def stream_format(self, wire: WireRequest) -> StreamFormat:
        """Server-sent events; comments keep them alive."""
        return StreamFormat("text/event-stream; charset=utf-8", encode_comment("keep-alive"))

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamRefused:
        """What an upstream's error answer means."""
        return parse_error(status, headers, body, now=self._now())

    def render_error(self, error: AgentUIError) -> ErrorReply:
        """An error in the caller's shape."""
        return render_error(error)

    def auth_headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token."""
        return {"authorization": f"Bearer {key}"}

    def version_headers(self, chat: WireRequest) -> dict[str, str]:
        """None: the path says the version."""
        return {}

    def parse_models(self, body: Json) -> list[ModelInfo]:
        """A model list with the dialect taken off."""
        return parse_models(body)

    def render_models(self, models: Sequence[ModelInfo]) -> Json:
        """A model list for the caller."""
        return render_models(models)

    def render_model(self, model: ModelInfo) -> Json:
        """One entry of the list."""
        return render_model(model)

    def models_endpoint(self) -> str:
        """Where the model list is."""
        return MODELS_PATH

    def render_count_request(self, chat: ChatRequest) -> WireRequest:
        """Raises Unsupported: there is no such call."""
        raise Unsupported(_NO_COUNT)

    def render_embeddings_request(self, wire: WireRequest) -> WireRequest:
        """The request itself: this is the dialect that embeddings are asked in."""
        return wire

    def parse_embeddings_reply(self, body: Json, wire: WireRequest) -> Json:
        """The answer itself."""
        return body

    def parse_token_count(self, body: Json) -> int:
        """Raises Unsupported: there is no such call."""
        raise Unsupported(_NO_COUNT)

    def render_token_count(self, tokens: int) -> Json:
        """Raises Unsupported: there is no such call."""
        raise Unsupported(_NO_COUNT)
