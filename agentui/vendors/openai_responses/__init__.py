"""OpenAI's Responses API (``/v1/responses``), the dialect of newer OpenAI clients and of the Vercel AI SDK."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from agentui.chat.messages import Message
from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, Operation, WireRequest
from agentui.errors import UpstreamInvalid, UpstreamRefused
from agentui.ids import new_id
from agentui.jsonio import Json
from agentui.vendors.base import Prompt, named_model, switch_stream
from agentui.vendors.ending import MarkedEnd
from agentui.vendors.openai.platform import OpenAIPlatform
from agentui.vendors.openai_responses.errors import parse_error
from agentui.vendors.openai_responses.prompt import render_prompt
from agentui.vendors.openai_responses.render import render_count_request, render_request
from agentui.vendors.openai_responses.reply import parse_reply, render_reply
from agentui.vendors.openai_responses.request import (
    default_endpoint,
    holds_foreign_thoughts,
    parse_request,
    patch_request,
    read_request,
    requires_state,
)
from agentui.vendors.openai_responses.sealed import VENDOR
from agentui.vendors.openai_responses.shelf import Shelf
from agentui.vendors.openai_responses.stream import ResponsesStreamParser, ResponsesStreamRenderer

__all__ = ["OpenAIResponses", "requires_state"]


class OpenAIResponses(OpenAIPlatform):
    """The dialect's table of contents; what the methods promise is written at ``Vendor``.

    ``now`` gives seconds since 1970, for answers of upstreams that tell no time.

    One exception to a dialect's purity: ``shelf`` keeps the items of the answers that were made here, because callers
    point to them by id in their next request (the API stores answers by default). It is handed in and bounded, and
    without it everything but those references works the same.
    """

    name: Literal["openai_responses"] = "openai_responses"
    title = "OpenAI Responses"

    def __init__(self, shelf: Shelf | None = None, now: Callable[[], float] = time.time) -> None:
        self._shelf = Shelf() if shelf is None else shelf
        self._now = now

    def read_request(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Json]
    ) -> WireRequest:
        """Take in a caller's request; see ``request``."""
        return read_request(path, headers, body)

    def default_endpoint(self, model: str, operation: Operation, *, stream: bool) -> str:
        """``/v1/responses`` or ``/v1/responses/input_tokens``; the model stands in the body."""
        return default_endpoint(operation)

    def fit_body(self, body: dict[str, Json], *, model: str, stream: bool) -> WireRequest:
        """The body as it is."""
        stream = switch_stream(body, stream=stream)
        return WireRequest(VENDOR, "chat", named_model(body, model), stream, default_endpoint("chat"), body)

    def patch_request(self, wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
        """Another model or stream switch; see ``request``. References to items made here, and other vendors' thoughts, mean
        nothing to OpenAI, so a request that holds some is put together anew."""
        if self._shelf.expand(wire) is wire and not holds_foreign_thoughts(wire):
            return patch_request(wire, model=model, stream=stream)
        return render_request(replace(self.parse_request(wire), model=model, stream=stream))

    def parse_request(self, wire: WireRequest) -> ChatRequest:
        """Take the dialect off; see ``request``, ``items`` and ``tools``. References that the shelf knows are the items."""
        return replace(parse_request(self._shelf.expand(wire)), wire=wire)

    def render_request(self, chat: ChatRequest) -> WireRequest:
        """Put the dialect on; see ``render``."""
        return render_request(chat)

    def render_prompt(self, messages: Sequence[Message]) -> Prompt:
        """``pm.input``, ``pm.instructions``, ``pm.system_text``, ``pm.messages``; see ``prompt``."""
        return render_prompt(messages)

    def parse_reply(self, body: Json) -> Reply:
        """A whole response; see ``reply``."""
        return parse_reply(body)

    def render_reply(self, reply: Reply, wire: WireRequest) -> Json:
        """A whole response; see ``reply``."""
        return render_reply(reply, wire, id=new_id("resp"), now=int(self._now()), shelf=self._shelf)

    def stream_parser(self) -> ResponsesStreamParser:
        """A fresh machine; see ``stream``."""
        return ResponsesStreamParser()

    def stream_end(self) -> MarkedEnd:
        """Finds ``response.completed`` and its kin."""
        return MarkedEnd(ResponsesStreamParser())

    def stream_renderer(self, wire: WireRequest) -> ResponsesStreamRenderer:
        """A fresh machine; see ``stream`` and ``events``."""
        return ResponsesStreamRenderer(wire, id=new_id("resp"), now=int(self._now()), shelf=self._shelf)

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamRefused:
        """OpenAI's error shape; see ``errors``."""
        return parse_error(status, headers, body, now=self._now())

    def render_count_request(self, chat: ChatRequest) -> WireRequest:
        """For ``/v1/responses/input_tokens``; see ``render``."""
        return render_count_request(chat)

    def parse_token_count(self, body: Json) -> int:
        """``{"object": "response.input_tokens", "input_tokens": n}``."""
        match body:
            case {"input_tokens": int(tokens)}:
                return tokens
        raise UpstreamInvalid("The upstream's answer holds no input_tokens.", vendor=VENDOR)

    def render_token_count(self, tokens: int) -> Json:
        """``{"object": "response.input_tokens", "input_tokens": n}``."""
        return {"object": "response.input_tokens", "input_tokens": tokens}
