"""Token counts: ``countTokens``."""

from agentui.chat.request import ChatRequest, WireRequest
from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.gemini.parts import GEMINI
from agentui.vendors.gemini.protojson import Malformed, integer, member, spelling
from agentui.vendors.gemini.request import method_path, resource, with_method
from agentui.vendors.gemini.request import render_request as render_chat


def endpoint(model: str) -> str:
    """The method of the model. Raises BadRequest."""
    return method_path("v1beta", model, "countTokens")


def render_request(chat: ChatRequest) -> WireRequest:
    """The token count of a request: a caller's own keeps its form as far as that can say it, any other is wrapped whole."""
    wire = chat.wire_in(GEMINI)
    rendered = render_chat(chat)
    body = rendered.body
    if wire is not None and wire.operation == "count_tokens":
        if isinstance(member(wire.body, "generateContentRequest"), dict):
            whole = {**wire.body, spelling(wire.body, "generateContentRequest"): body}
            return with_method(rendered, chat.model, "count_tokens", False, whole)
        if body.keys() <= wire.body.keys():
            return with_method(rendered, chat.model, "count_tokens", False, body)
    # Only a whole request has a place for what the pipeline's blocks add, such as a system instruction.
    wrapped: dict[str, Json] = {"generateContentRequest": {**body, "model": resource(chat.model)}}
    return with_method(rendered, chat.model, "count_tokens", False, wrapped)


def parse_reply(body: Json) -> int:
    """``totalTokens``; proto JSON leaves a zero out. Raises UpstreamInvalid."""
    try:
        if isinstance(body, dict) and "error" not in body:
            return integer(body, "totalTokens") or 0
    except Malformed as error:
        raise UpstreamInvalid("The upstream's token count is not a number.") from error
    raise UpstreamInvalid("The upstream answered a token count with something else.")


def render_reply(tokens: int) -> Json:
    """``{"totalTokens": n}``."""
    return {"totalTokens": tokens}
