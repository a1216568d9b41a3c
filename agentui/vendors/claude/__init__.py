"""Anthropic's Messages API, called "claude" throughout: a table of contents."""

from agentui.chat.request import VendorName, WireRequest
from agentui.errors import AgentUIError
from agentui.jsonio import Json
from agentui.vendors.base import Billing, CountTokens, Embeddings, Models, StreamFormat, TraceNames, named_model, switch_stream
from agentui.vendors.claude import billing, counting, errors, models, render, reply, request, stream, turns
from agentui.vendors.ending import MarkedEnd

DEFAULT_VERSION = "2023-06-01"
"""The API version of bodies made here: it takes sampling parameters, which 2026-10-21 refuses even at their defaults."""


class Claude:
    """The dialect; ``Vendor`` says what each part promises."""

    name: VendorName = "claude"
    title = "Anthropic Claude"
    keeps_thoughts = True
    keeps_answers = False
    takes_cache_marks = True
    billing: Billing = billing
    ends_in_malformed_calls = False
    default_base_url = "https://api.anthropic.com"
    request_id_header = "request-id"
    trace_names = TraceNames("anthropic")

    models: Models = models
    count_tokens: CountTokens | None = counting
    embeddings: Embeddings | None = None

    read_request = staticmethod(request.read_request)
    patch_request = staticmethod(render.forward_request)
    parse_request = staticmethod(request.parse_request)
    render_request = staticmethod(render.render_request)
    render_prompt = staticmethod(turns.render_prompt)
    parse_reply = staticmethod(reply.parse_reply)
    render_reply = staticmethod(reply.render_reply)
    stream_parser = stream.ClaudeStreamParser
    stream_renderer = stream.ClaudeStreamRenderer
    parse_error = staticmethod(errors.parse_error)
    render_error = staticmethod(errors.render_error)
    not_found = staticmethod(errors.not_found)

    def chat_endpoint(self, model: str, *, stream: bool) -> str:
        """Model and stream switch stand in the body, so one path serves all."""
        return render.ENDPOINT

    def fit_endpoint(self, endpoint: str, *, stream: bool) -> tuple[str, bool]:
        """As it was written: the body asks for a stream."""
        return endpoint, stream

    def fit_body(self, body: dict[str, Json], *, model: str, stream: bool) -> WireRequest:
        """Without an empty ``system``, which the API refuses."""
        if body.get("system") == "":
            del body["system"]
        stream = switch_stream(body, stream=stream)
        return WireRequest("claude", "chat", named_model(body, model), stream, render.ENDPOINT, body)

    def takes_sampling(self, wire: WireRequest) -> bool:
        """Not while thinking, and not in a newer version of the API."""
        thinking = wire.body.get("thinking")
        is_thinking = isinstance(thinking, dict) and thinking.get("type") != "disabled"
        return not is_thinking and wire.headers.get("anthropic-version", DEFAULT_VERSION) == DEFAULT_VERSION

    def stream_end(self) -> MarkedEnd:
        """Finds ``message_stop``."""
        return MarkedEnd(stream.ClaudeStreamParser())

    def stream_format(self, wire: WireRequest) -> StreamFormat:
        """Server-sent events, kept alive by ``ping`` events."""
        return StreamFormat("text/event-stream", stream.PING)

    def tells_in_stream(self, error: AgentUIError) -> bool:
        """Never: a status is understood."""
        return False

    def auth_headers(self, key: str) -> dict[str, str]:
        """``x-api-key``, which every version takes; OAuth tokens are bearers."""
        return {"authorization": f"Bearer {key}"} if key.startswith("sk-ant-oat") else {"x-api-key": key}

    def version_headers(self, wire: WireRequest | None) -> dict[str, str]:
        """The caller's own version and betas; ``DEFAULT_VERSION`` where it named none or the body was made here."""
        own = wire.headers if wire is not None and wire.vendor == "claude" else {}
        return {"anthropic-version": DEFAULT_VERSION, **own}
