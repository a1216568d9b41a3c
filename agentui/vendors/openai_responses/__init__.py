"""OpenAI's Responses API (``/v1/responses``), the dialect of newer OpenAI clients and of the Vercel AI SDK."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, VendorName, WireRequest
from agentui.errors import AgentUIError, UpstreamRefused
from agentui.ids import new_id
from agentui.jsonio import Json
from agentui.vendors.base import Billing, CountTokens, StreamParser, named_model, switch_stream
from agentui.vendors.ending import MarkedEnd
from agentui.vendors.openai.platform import OpenAIPlatform
from agentui.vendors.openai_responses import billing, counting, errors, render, request, stream
from agentui.vendors.openai_responses.cache import ItemCache
from agentui.vendors.openai_responses.request import requires_state

__all__ = ["OpenAIResponses", "requires_state"]


class OpenAIResponses(OpenAIPlatform):
    """The dialect's table of contents; what the methods promise is written at ``Vendor``.

    ``now`` gives seconds since 1970, for answers of upstreams that tell no time.

    One exception to a dialect's purity: ``cache`` keeps the items of the answers that were made here, because callers
    point to them by id in their next request (the API stores answers by default). It is handed in and bounded, and
    without it everything but those references works the same.
    """

    name: VendorName = "openai_responses"
    title = "OpenAI Responses"
    keeps_thoughts = True
    keeps_answers = True
    takes_cache_marks = False
    billing: Billing = billing
    ends_in_malformed_calls = False

    count_tokens: CountTokens | None = counting

    read_request = staticmethod(request.read_request)
    render_request = staticmethod(render.render_request)
    render_prompt = staticmethod(render.render_prompt)

    def __init__(self, cache: ItemCache | None = None, now: Callable[[], float] = time.time) -> None:
        self._cache = ItemCache() if cache is None else cache
        self._now = now

    def chat_endpoint(self, model: str, *, stream: bool) -> str:
        """Model and stream switch stand in the body."""
        return request.ENDPOINT

    def fit_body(self, body: dict[str, Json], *, model: str, stream: bool) -> WireRequest:
        """The body as it is."""
        stream = switch_stream(body, stream=stream)
        return WireRequest(self.name, "chat", named_model(body, model), stream, request.ENDPOINT, body)

    def patch_request(self, wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
        """Another model or stream switch. References to items made here, and other vendors' thoughts, mean nothing to OpenAI,
        so a request that holds some is put together anew."""
        if self._cache.expand(wire) is wire and not request.holds_foreign_thoughts(wire):
            return request.patch_request(wire, model=model, stream=stream)
        return render.render_request(replace(self.parse_request(wire), model=model, stream=stream))

    def parse_request(self, wire: WireRequest) -> ChatRequest:
        """Take the dialect off. References that the cache knows are the items."""
        return replace(request.parse_request(self._cache.expand(wire)), wire=wire)

    def parse_reply(self, body: Json, origin: str = "") -> Reply:
        """A whole response; its thoughts are signed, whoever serves it."""
        return stream.parse_reply(body)

    def stream_parser(self, origin: str = "") -> StreamParser:
        """A machine for one stream."""
        return stream.ResponsesStreamParser()

    def render_reply(self, answer: Reply, wire: WireRequest) -> Json:
        """A whole response, whose items the cache keeps."""
        return stream.render_reply(answer, wire, id=new_id("resp"), now=int(self._now()), cache=self._cache)

    def takes_sampling(self, wire: WireRequest) -> bool:
        """Always."""
        return True

    def tells_in_stream(self, error: AgentUIError) -> bool:
        """A conversation that is too long: the API itself tells of it in ``response.failed``, and there alone Codex looks."""
        return isinstance(error, UpstreamRefused) and error.kind == "context_overflow"

    def stream_end(self) -> MarkedEnd:
        """Finds ``response.completed`` and its kin."""
        return MarkedEnd(stream.ResponsesStreamParser())

    def stream_renderer(self, wire: WireRequest) -> stream.ResponsesStreamRenderer:
        """A fresh machine, whose items the cache keeps."""
        return stream.ResponsesStreamRenderer(wire, id=new_id("resp"), now=int(self._now()), cache=self._cache)

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamRefused:
        """OpenAI's error shape."""
        return errors.parse_error(status, headers, body, now=self._now())
