"""OpenAI Chat Completions, and the many servers that speak it: a table of contents.

messages.py and tools.py hold what requests and answers share; request.py, reply.py, stream.py, errors.py, prompt.py and
models.py each one side of the dialect; platform.py is what OpenAI's two APIs share.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from agentui.chat.messages import Message
from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, Operation, VendorName, WireRequest
from agentui.errors import Unsupported, UpstreamRefused
from agentui.ids import new_id
from agentui.jsonio import Json
from agentui.vendors.base import Prompt, named_model, switch_stream
from agentui.vendors.ending import MarkedEnd
from agentui.vendors.openai.errors import parse_error
from agentui.vendors.openai.platform import OpenAIPlatform
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

_NO_COUNT = "OpenAI chat completions have no way to count tokens; ask a Claude or Gemini model."


class OpenAI(OpenAIPlatform):
    """The dialect ``openai``.

    ``now`` gives seconds since 1970. Every answer must have a ``created`` and an ``id``, and other vendors send no time; both
    are made here, at the door, once for each answer, so that everything behind it stays pure.
    """

    name: VendorName = "openai"
    title = "OpenAI"

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

    def fit_body(self, body: dict[str, Json], *, model: str, stream: bool) -> WireRequest:
        """Without an empty ``stop``, which the API refuses."""
        if body.get("stop") == []:
            del body["stop"]
        stream = switch_stream(body, stream=stream)
        return WireRequest("openai", "chat", named_model(body, model), stream, CHAT_PATH, body)

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

    def stream_end(self) -> MarkedEnd:
        """Finds ``[DONE]``."""
        return MarkedEnd(OpenAIStreamParser())

    def stream_renderer(self, wire: WireRequest) -> OpenAIStreamRenderer:
        """A machine that writes one stream to the caller who sent ``wire``."""
        return OpenAIStreamRenderer(wire, id=new_id("chatcmpl"), now=int(self._now()))

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamRefused:
        """What an upstream's error answer means."""
        return parse_error(status, headers, body, now=self._now())

    def render_count_request(self, chat: ChatRequest) -> WireRequest:
        """Raises Unsupported: there is no such call."""
        raise Unsupported(_NO_COUNT)

    def parse_token_count(self, body: Json) -> int:
        """Raises Unsupported: there is no such call."""
        raise Unsupported(_NO_COUNT)

    def render_token_count(self, tokens: int) -> Json:
        """Raises Unsupported: there is no such call."""
        raise Unsupported(_NO_COUNT)
