"""Gemini's generateContent dialect: a table of contents."""

from agentui.chat.reply import Reply
from agentui.chat.request import VendorName, WireRequest
from agentui.errors import AgentUIError
from agentui.jsonio import Json
from agentui.vendors.base import Billing, CountTokens, Embeddings, Models, StreamParser, TraceNames, named_model
from agentui.vendors.gemini import billing, contents, counting, embeddings, errors, models, reply, request, stream


class Gemini:
    """The dialect; ``Vendor`` says what each part promises."""

    name: VendorName = "gemini"
    title = "Google Gemini"
    keeps_thoughts = True
    keeps_answers = False
    takes_cache_marks = False
    billing: Billing = billing
    ends_in_malformed_calls = True
    default_base_url = "https://generativelanguage.googleapis.com"
    request_id_header = "x-request-id"
    trace_names = TraceNames("gcp.gemini", "generate_content")

    models: Models = models
    count_tokens: CountTokens | None = counting
    embeddings: Embeddings | None = embeddings

    read_request = staticmethod(request.read_request)
    chat_endpoint = staticmethod(request.chat_endpoint)
    fit_endpoint = staticmethod(request.fit_endpoint)
    patch_request = staticmethod(request.patch_request)
    parse_request = staticmethod(request.parse_request)
    render_request = staticmethod(request.render_request)
    render_prompt = staticmethod(contents.render_prompt)
    render_reply = staticmethod(reply.render_reply)
    stream_end = stream.GeminiEnd
    stream_renderer = reply.GeminiStreamRenderer
    stream_format = staticmethod(reply.stream_format)
    parse_error = staticmethod(errors.parse_error)
    render_error = staticmethod(errors.render_error)
    not_found = staticmethod(errors.not_found)

    def parse_reply(self, body: Json, origin: str = "") -> Reply:
        """A whole answer; its thoughts are signed, whoever serves it."""
        return reply.parse_reply(body)

    def stream_parser(self, origin: str = "") -> StreamParser:
        """A machine for one stream."""
        return stream.GeminiStreamParser()

    def fit_body(self, body: dict[str, Json], *, model: str, stream: bool) -> WireRequest:
        """The body as it is: model and stream stand in the path."""
        model = named_model(body, model)
        path = request.chat_endpoint(model, stream=stream).partition("?")[0]
        return WireRequest("gemini", "chat", model, stream, path, body)

    def tells_in_stream(self, error: AgentUIError) -> bool:
        """Never: a status is understood."""
        return False

    def auth_headers(self, key: str) -> dict[str, str]:
        """``x-goog-api-key``: a header, so that the key stays out of every log of URLs."""
        return {"x-goog-api-key": key}

    def takes_sampling(self, wire: WireRequest) -> bool:
        """Always."""
        return True

    def version_headers(self, wire: WireRequest | None) -> dict[str, str]:
        """The project that the caller bills; the version stands in the path."""
        return dict(wire.headers) if wire is not None and wire.vendor == "gemini" else {}
