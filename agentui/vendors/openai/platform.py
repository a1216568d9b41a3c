"""What OpenAI's two APIs have in common: the key, the shape of an error, the list of models, embeddings, streams kept alive."""

from collections.abc import Sequence

from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError
from agentui.jsonio import Json
from agentui.vendors.base import ErrorReply, ModelInfo, StreamFormat, TraceNames
from agentui.vendors.openai.errors import render_error
from agentui.vendors.openai.models import MODELS_PATH, parse_models, render_model, render_models
from agentui.vendors.sse import encode_comment


class OpenAIPlatform:
    """The part of a dialect of OpenAI's that does not depend on which API is spoken; see ``Vendor`` for the promises."""

    default_base_url = "https://api.openai.com"

    trace_names = TraceNames("openai")

    def fit_endpoint(self, endpoint: str, *, stream: bool) -> tuple[str, bool]:
        """As it was written: the body asks for a stream."""
        return endpoint, stream

    def stream_format(self, wire: WireRequest) -> StreamFormat:
        """Server-sent events; comments keep them alive."""
        return StreamFormat("text/event-stream; charset=utf-8", encode_comment("keep-alive"))

    def render_error(self, error: AgentUIError) -> ErrorReply:
        """An error in OpenAI's one shape; see ``errors``."""
        return render_error(error)

    def auth_headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token."""
        return {"authorization": f"Bearer {key}"}

    def version_headers(self, chat: WireRequest) -> dict[str, str]:
        """None: the path says the version."""
        return {}

    def parse_models(self, body: Json) -> list[ModelInfo]:
        """A model list with the dialect taken off; see ``models``."""
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

    def render_embeddings_request(self, wire: WireRequest) -> WireRequest:
        """The request itself: OpenAI's is the dialect that embeddings are asked in."""
        return wire

    def parse_embeddings_reply(self, body: Json, wire: WireRequest) -> Json:
        """The answer itself."""
        return body
