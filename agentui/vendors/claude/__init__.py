"""Anthropic's Messages API, called "claude" throughout: a table of contents."""

from collections.abc import Mapping, Sequence

from agentui.chat.messages import Message
from agentui.chat.reply import Reply
from agentui.chat.request import ChatRequest, Operation, VendorName, WireRequest
from agentui.errors import AgentUIError, Unsupported, UpstreamRefused
from agentui.jsonio import Json
from agentui.vendors.base import ErrorReply, ModelInfo, Prompt, StreamFormat, TraceNames, named_model, switch_stream
from agentui.vendors.claude.body import COUNT_ENDPOINT, ENDPOINT, forward_request, render_count_request, render_request
from agentui.vendors.claude.counting import parse_token_count, render_token_count
from agentui.vendors.claude.errors import parse_error, render_error
from agentui.vendors.claude.models import ENDPOINT as MODELS_ENDPOINT
from agentui.vendors.claude.models import parse_models, render_model, render_models
from agentui.vendors.claude.prompt import render_prompt
from agentui.vendors.claude.reply import parse_reply, render_reply
from agentui.vendors.claude.request import parse_request, read_request
from agentui.vendors.claude.stream import ClaudeStreamParser
from agentui.vendors.claude.stream_out import PING, ClaudeStreamRenderer
from agentui.vendors.ending import MarkedEnd

NO_EMBEDDINGS = "Claude has no embeddings; choose a provider of another kind for them."
DEFAULT_VERSION = "2023-06-01"
"""The API version of bodies made here: it takes sampling parameters, which 2026-10-21 refuses even at their defaults."""


class Claude:
    """The dialect."""

    name: VendorName = "claude"
    title = "Anthropic Claude"
    default_base_url = "https://api.anthropic.com"
    trace_names = TraceNames("anthropic")

    def read_request(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Json]
    ) -> WireRequest:
        """See ``request.read_request``."""
        return read_request(path, query, headers, body)

    def default_endpoint(self, model: str, operation: Operation, *, stream: bool) -> str:
        """The model stands in the body, so one path serves all."""
        if operation == "embeddings":
            raise Unsupported(NO_EMBEDDINGS)
        return COUNT_ENDPOINT if operation == "count_tokens" else ENDPOINT

    def fit_endpoint(self, endpoint: str, *, stream: bool) -> tuple[str, bool]:
        """As it was written: the body asks for a stream."""
        return endpoint, stream

    def fit_body(self, body: dict[str, Json], *, model: str, stream: bool) -> WireRequest:
        """Without an empty ``system``, which the API refuses."""
        if body.get("system") == "":
            del body["system"]
        stream = switch_stream(body, stream=stream)
        return WireRequest("claude", "chat", named_model(body, model), stream, ENDPOINT, body)

    def patch_request(self, wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
        """See ``body.forward_request``."""
        return forward_request(wire, model=model, stream=stream)

    def parse_request(self, wire: WireRequest) -> ChatRequest:
        """See ``request.parse_request``."""
        return parse_request(wire)

    def render_request(self, chat: ChatRequest) -> WireRequest:
        """See ``body.render_request``."""
        return render_request(chat)

    def render_prompt(self, messages: Sequence[Message]) -> Prompt:
        """See ``prompt.render_prompt``."""
        return render_prompt(messages)

    def parse_reply(self, body: Json) -> Reply:
        """See ``reply.parse_reply``."""
        return parse_reply(body)

    def render_reply(self, reply: Reply, wire: WireRequest) -> Json:
        """See ``reply.render_reply``."""
        return render_reply(reply, wire)

    def stream_parser(self) -> ClaudeStreamParser:
        """A fresh machine for one stream."""
        return ClaudeStreamParser()

    def stream_end(self) -> MarkedEnd:
        """Finds ``message_stop``."""
        return MarkedEnd(ClaudeStreamParser())

    def stream_renderer(self, wire: WireRequest) -> ClaudeStreamRenderer:
        """A fresh machine for one stream to the caller who sent ``wire``."""
        return ClaudeStreamRenderer(wire)

    def stream_format(self, wire: WireRequest) -> StreamFormat:
        """Server-sent events, kept alive by ``ping`` events."""
        return StreamFormat("text/event-stream", PING)

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamRefused:
        """See ``errors.parse_error``."""
        return parse_error(status, headers, body)

    def render_error(self, error: AgentUIError) -> ErrorReply:
        """See ``errors.render_error``."""
        return render_error(error)

    def auth_headers(self, key: str) -> dict[str, str]:
        """``x-api-key``, which every version takes; OAuth tokens are bearers."""
        return {"authorization": f"Bearer {key}"} if key.startswith("sk-ant-oat") else {"x-api-key": key}

    def version_headers(self, chat: WireRequest) -> dict[str, str]:
        """The caller's own version and betas; ``DEFAULT_VERSION`` where it named none or the body was made here."""
        return {"anthropic-version": DEFAULT_VERSION, **(chat.headers if chat.vendor == "claude" else {})}

    def parse_models(self, body: Json) -> list[ModelInfo]:
        """See ``models.parse_models``."""
        return parse_models(body)

    def render_models(self, models: Sequence[ModelInfo]) -> Json:
        """See ``models.render_models``."""
        return render_models(models)

    def render_model(self, model: ModelInfo) -> Json:
        """See ``models.render_model``."""
        return render_model(model)

    def models_endpoint(self) -> str:
        """The list, as long as one page may be."""
        return MODELS_ENDPOINT

    def render_count_request(self, chat: ChatRequest) -> WireRequest:
        """See ``body.render_count_request``."""
        return render_count_request(chat)

    def render_embeddings_request(self, wire: WireRequest) -> WireRequest:
        """Claude has none."""
        raise Unsupported(NO_EMBEDDINGS)

    def parse_embeddings_reply(self, body: Json, wire: WireRequest) -> Json:
        """Claude has none."""
        raise Unsupported(NO_EMBEDDINGS)

    def parse_token_count(self, body: Json) -> int:
        """See ``counting.parse_token_count``."""
        return parse_token_count(body)

    def render_token_count(self, tokens: int) -> Json:
        """See ``counting.render_token_count``."""
        return render_token_count(tokens)
