"""What OpenAI's two APIs have in common: the key, the shape of an error, the list of models, embeddings, streams kept alive."""

import agentui.vendors.openai.embeddings as openai_embeddings
import agentui.vendors.openai.models as openai_models
from agentui.chat.request import WireRequest
from agentui.errors import AgentUIError
from agentui.vendors.base import Embeddings, Models, StreamFormat, TraceNames
from agentui.vendors.openai.errors import not_found, render_error
from agentui.vendors.openai.headers import told_headers
from agentui.vendors.sse import encode_comment


class OpenAIPlatform:
    """The part of a dialect of OpenAI's that does not depend on which API is spoken; see ``Vendor`` for the promises."""

    default_base_url = "https://api.openai.com"
    request_id_header = "x-request-id"
    trace_names = TraceNames("openai")

    models: Models = openai_models
    embeddings: Embeddings | None = openai_embeddings

    render_error = staticmethod(render_error)
    not_found = staticmethod(not_found)

    def fit_endpoint(self, endpoint: str, *, stream: bool) -> tuple[str, bool]:
        """As it was written: the body asks for a stream."""
        return endpoint, stream

    def stream_format(self, wire: WireRequest) -> StreamFormat:
        """Server-sent events; comments keep them alive."""
        return StreamFormat("text/event-stream; charset=utf-8", encode_comment("keep-alive"))

    def tells_in_stream(self, error: AgentUIError) -> bool:
        """Never: a status is understood."""
        return False

    def auth_headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token."""
        return {"authorization": f"Bearer {key}"}

    def version_headers(self, wire: WireRequest | None) -> dict[str, str]:
        """What the caller said beside its key; the path says the version."""
        return told_headers(wire)
