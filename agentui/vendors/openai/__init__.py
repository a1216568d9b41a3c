"""OpenAI Chat Completions, and the many servers that speak it: a table of contents.

messages.py and tools.py hold what requests and answers share; request.py, reply.py, stream.py, errors.py and models.py each one
side of the dialect; completions.py is its older form for plain text; platform.py is what OpenAI's two APIs share.
"""

import time
from collections.abc import Callable, Mapping

from agentui.chat.reply import Reply
from agentui.chat.request import VendorName, WireRequest
from agentui.errors import UpstreamRefused
from agentui.ids import new_id
from agentui.jsonio import Json
from agentui.vendors.base import Billing, CountTokens, StreamRenderer, named_model, switch_stream
from agentui.vendors.ending import MarkedEnd
from agentui.vendors.openai import billing, completions, errors, reply, request
from agentui.vendors.openai.platform import OpenAIPlatform
from agentui.vendors.openai.stream import OpenAIStreamParser, OpenAIStreamRenderer


class OpenAI(OpenAIPlatform):
    """The dialect; ``Vendor`` says what each part promises.

    ``now`` gives seconds since 1970. Every answer must have a ``created`` and an ``id``, and other vendors send no time; both
    are made here, once for each answer, so that everything behind it stays pure.
    """

    name: VendorName = "openai"
    title = "OpenAI Chat Completions"
    # Most clients drop the fields that compatible servers add to the dialect.
    keeps_thoughts = False
    keeps_answers = False
    takes_cache_marks = False
    billing: Billing = billing
    ends_in_malformed_calls = False

    count_tokens: CountTokens | None = None

    read_request = staticmethod(request.read_request)
    patch_request = staticmethod(request.patch_request)
    parse_request = staticmethod(request.parse_request)
    render_request = staticmethod(request.render_request)
    render_prompt = staticmethod(request.render_prompt)
    parse_reply = staticmethod(reply.parse_reply)
    stream_parser = OpenAIStreamParser

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now

    def chat_endpoint(self, model: str, *, stream: bool) -> str:
        """Model and stream switch stand in the body."""
        return request.CHAT_PATH

    def fit_body(self, body: dict[str, Json], *, model: str, stream: bool) -> WireRequest:
        """Without an empty ``stop``, which the API refuses."""
        if body.get("stop") == []:
            del body["stop"]
        stream = switch_stream(body, stream=stream)
        return WireRequest("openai", "chat", named_model(body, model), stream, request.CHAT_PATH, body)

    def render_reply(self, answer: Reply, wire: WireRequest) -> Json:
        """A whole answer for the caller who sent ``wire``."""
        if wire.is_retold:
            return completions.render_reply(answer, wire, id=new_id("cmpl"), now=int(self._now()))
        return reply.render_reply(answer, wire, id=answer.id or new_id("chatcmpl"), now=int(self._now()))

    def takes_sampling(self, wire: WireRequest) -> bool:
        """Always."""
        return True

    def stream_end(self) -> MarkedEnd:
        """Finds ``[DONE]``."""
        return MarkedEnd(OpenAIStreamParser())

    def stream_renderer(self, wire: WireRequest) -> StreamRenderer:
        """A machine that writes one stream to the caller who sent ``wire``."""
        if wire.is_retold:
            return completions.CompletionStreamRenderer(wire, id=new_id("cmpl"), now=int(self._now()))
        return OpenAIStreamRenderer(wire, id=new_id("chatcmpl"), now=int(self._now()))

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamRefused:
        """What an upstream's error answer means."""
        return errors.parse_error(status, headers, body, now=self._now())
