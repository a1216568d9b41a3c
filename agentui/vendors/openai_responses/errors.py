"""Errors inside a stream. As an HTTP answer an error has OpenAI's one shape, which both dialects share."""

from collections.abc import Mapping

from agentui.errors import AgentUIError, ErrorKind, UpstreamRefused
from agentui.jsonio import Json
from agentui.vendors.fields import told_text
from agentui.vendors.openai import errors as openai_errors
from agentui.vendors.openai_responses.sealed import VENDOR
from agentui.vendors.overflow import is_overflow

_MEANINGS: dict[str, tuple[int, ErrorKind]] = {
    "rate_limit_exceeded": (429, "rate_limit"),
    "insufficient_quota": (429, "quota"),
    "server_error": (502, "server"),
    "server_is_overloaded": (503, "overloaded"),
    "slow_down": (503, "overloaded"),
    "vector_store_timeout": (504, "timeout"),
    "invalid_api_key": (401, "authentication"),
    "model_not_found": (404, "not_found"),
}
"""What the API's codes mean; any other is about the request. A failure that came with status 200 reads 502."""  # fmt: skip


def parse_error(status: int, headers: Mapping[str, str], body: bytes, *, now: float) -> UpstreamRefused:
    """An HTTP error, understood as OpenAI's own and marked as this dialect's; ``now`` is seconds since 1970."""
    error = openai_errors.parse_error(status, headers, body, now=now)
    error.vendor = VENDOR
    return error


def stream_failure(error: Json) -> UpstreamRefused:
    """The ``error`` of a failed response or of an error event: ``{"code", "message"}``, perhaps with type and param.

    Its ``body`` is what an HTTP error of the same meaning would have held.
    """
    fields = error if isinstance(error, dict) else {}
    code, message, param, type = (told_text(fields, key) for key in ("code", "message", "param", "type"))
    status, kind = _meaning(code, type)
    if is_overflow(400, message or "", code):
        status, kind = 400, "context_overflow"
    if type in (None, "error"):
        type = "invalid_request_error" if kind == "invalid_request" else "server_error"
    text = message or "The upstream failed within its answer and did not say why."
    body = {"error": {"message": text, "type": type, "param": param, "code": code}}
    return UpstreamRefused(text, status=status, kind=kind, vendor=VENDOR, vendor_code=code, param=param, body=body)


def _meaning(code: str | None, type: str | None) -> tuple[int, ErrorKind]:
    """Status and kind by the code, else by the type; an error that names neither is the server's."""
    if code is not None and code in _MEANINGS:
        return _MEANINGS[code]
    if code is None and type != "invalid_request_error":
        return 502, "server"
    return (502, "server") if type == "server_error" else (400, "invalid_request")


def error_event(error: AgentUIError) -> dict[str, Json]:
    """The ``error`` event, its fields at the top as documented and again under ``error`` as the API's servers send them.

    openai-py raises for the second form and only reports the first; the Vercel AI SDK reads either.
    """
    fields = _wire_error(error)
    return {
        "type": "error",
        "code": fields["code"],
        "message": fields["message"],
        "param": fields["param"],
        "error": fields,
    }


def response_error(error: AgentUIError) -> dict[str, Json]:
    """``error`` of a failed response; of the codes that clients know these fit: on ``context_length_exceeded`` Codex shortens
    its history."""
    told = _wire_error(error)["code"]
    code = told if told in ("rate_limit_exceeded", openai_errors.OVERFLOW_CODE) else "server_error"
    return {"code": code, "message": error.message}


def _wire_error(error: AgentUIError) -> dict[str, Json]:
    """Message, type, param and code (always a string) as an HTTP error would have them."""
    body = openai_errors.render_error(error).body
    known = body.get("error") if isinstance(body, dict) else None
    fields: dict[str, Json] = known if isinstance(known, dict) else {}
    type = told_text(fields, "type") or "server_error"
    return {
        "type": type,
        "code": told_text(fields, "code") or type,
        "message": told_text(fields, "message") or error.message,
        "param": told_text(fields, "param"),
    }
