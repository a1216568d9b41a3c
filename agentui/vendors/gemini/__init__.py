"""Gemini's generateContent dialect."""

from collections.abc import Mapping, Sequence

from agentui.chat.messages import Message
from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, Operation, VendorName, WireRequest
from agentui.errors import AgentUIError, UpstreamRefused
from agentui.jsonio import Json
from agentui.vendors.base import ErrorReply, ModelInfo, Prompt, StreamFormat, TraceNames, named_model
from agentui.vendors.gemini import errors, models, prompt, reply, request, stream
from agentui.vendors.gemini.ending import GeminiEnd


class Gemini:
    """The dialect's table of contents; see ``Vendor`` for what each method promises."""

    name: VendorName = "gemini"
    title: str = "Google Gemini"
    default_base_url: str = "https://generativelanguage.googleapis.com"
    trace_names = TraceNames("gcp.gemini", "generate_content")

    # Requests

    def read_request(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Json]
    ) -> WireRequest:
        """``/{version}/models/{model}:{method}`` with a body that has contents."""
        return request.read_request(path, query, headers, body)

    def default_endpoint(self, model: str, operation: Operation, *, stream: bool) -> str:
        """``/v1beta/models/{model}:{method}``, with ``?alt=sse`` for a stream."""
        return request.default_endpoint(model, operation, stream=stream)

    def fit_endpoint(self, endpoint: str, *, stream: bool) -> tuple[str, bool]:
        """The method in the path decides about the stream: one that is wanted is asked for, one that was written stays."""
        return request.fit_endpoint(endpoint, stream=stream)

    def fit_body(self, body: dict[str, Json], *, model: str, stream: bool) -> WireRequest:
        """The body as it is: model and stream stand in the path."""
        model = named_model(body, model)
        path = self.default_endpoint(model, "chat", stream=stream).partition("?")[0]
        return WireRequest("gemini", "chat", model, stream, path, body)

    def patch_request(self, wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
        """Another model or method in the path."""
        return request.patch_request(wire, model=model, stream=stream)

    def parse_request(self, wire: WireRequest) -> ChatRequest:
        """Take the dialect off."""
        return request.parse_request(wire)

    def render_request(self, chat: ChatRequest) -> WireRequest:
        """Put the dialect on."""
        return request.render_request(chat)

    def render_prompt(self, messages: Sequence[Message]) -> Prompt:
        """``contents`` and ``systemInstruction``."""
        return prompt.render_prompt(messages)

    # Answers

    def parse_reply(self, body: Json) -> Reply:
        """GenerateContentResponse in."""
        return reply.parse_reply(body)

    def render_reply(self, reply_: Reply, wire: WireRequest) -> Json:
        """GenerateContentResponse out."""
        return reply.render_reply(reply_, wire)

    def stream_parser(self) -> stream.GeminiStreamParser:
        """Reads ``alt=sse``."""
        return stream.GeminiStreamParser()

    def stream_end(self) -> GeminiEnd:
        """Finds the finish reason, as there is no end marker."""
        return GeminiEnd()

    def stream_renderer(self, wire: WireRequest) -> stream.GeminiStreamRenderer:
        """Writes SSE or an array, as the caller's ``alt`` asks."""
        return stream.GeminiStreamRenderer(wire)

    def stream_format(self, wire: WireRequest) -> StreamFormat:
        """``text/event-stream`` or ``application/json``, without heartbeat."""
        return stream.stream_format(wire)

    # Errors and headers

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamRefused:
        """google.rpc.Status, or whatever else stands in an error's body."""
        return errors.parse_error(status, headers, body)

    def render_error(self, error: AgentUIError) -> ErrorReply:
        """google.rpc.Status."""
        return errors.render_error(error)

    def auth_headers(self, key: str) -> dict[str, str]:
        """``x-goog-api-key``: a header, so that the key stays out of every log of URLs."""
        return {"x-goog-api-key": key}

    def version_headers(self, chat: WireRequest) -> dict[str, str]:
        """None: the version stands in the path."""
        return {}

    # Models, counts, embeddings

    def parse_models(self, body: Json) -> list[ModelInfo]:
        """``models`` in."""
        return models.parse_models(body)

    def render_models(self, models_: Sequence[ModelInfo]) -> Json:
        """``models`` out."""
        return models.render_models(models_)

    def render_model(self, model: ModelInfo) -> Json:
        """One entry."""
        return models.render_model(model)

    def models_endpoint(self) -> str:
        """``/v1beta/models``."""
        return models.models_endpoint()

    def render_count_request(self, chat: ChatRequest) -> WireRequest:
        """``:countTokens``."""
        return request.render_count_request(chat)

    def render_embeddings_request(self, wire: WireRequest) -> WireRequest:
        """``:batchEmbedContents``."""
        return models.render_embeddings_request(wire)

    def parse_embeddings_reply(self, body: Json, wire: WireRequest) -> Json:
        """``embeddings`` as OpenAI's list."""
        return models.parse_embeddings_reply(body, wire)

    def parse_token_count(self, body: Json) -> int:
        """``totalTokens`` in."""
        return models.parse_token_count(body)

    def render_token_count(self, tokens: int) -> Json:
        """``totalTokens`` out."""
        return models.render_token_count(tokens)
