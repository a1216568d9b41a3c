"""An error in the shape that the called route promises."""

from collections.abc import Mapping

from aiohttp import web

from agentui.errors import AgentUIError, ApiError, UpstreamRefused
from agentui.jsonio import Json, dumps
from agentui.redaction import Redactor
from agentui.vendors.base import ErrorReply, Vendor


def error_response(error: AgentUIError, vendor: Vendor | None, redactor: Redactor) -> web.Response:
    """The response for an error: the vendor's shape on its routes, ``{"error": {code, message, details}}`` elsewhere.

    Secrets that an upstream repeated in its message are replaced.
    """
    clean = redacted(error, redactor)
    reply = _editor_shape(clean) if vendor is None else vendor.render_error(clean)
    return web.Response(
        status=reply.status,
        body=dumps(reply.body),
        content_type="application/json",
        headers={
            **retry_hint(error),
            **{name: value for name, value in reply.headers.items() if name.lower() != "content-type"},
        },
    )


def retry_hint(error: AgentUIError) -> dict[str, str]:
    """What keeps the SDKs of OpenAI and Anthropic from sending again what cannot succeed."""
    return {"x-should-retry": "false"} if error.is_permanent else {}


def redacted(error: AgentUIError, redactor: Redactor) -> AgentUIError:
    """The same error with every registered secret replaced in what a caller can read."""
    error.message = redactor.redact(error.message)
    error.details = redactor.redact_json(error.details)
    if isinstance(error, ApiError):
        error.problems = redactor.redact_json(error.problems)
    if isinstance(error, UpstreamRefused):
        error.body = redactor.redact_json(error.body)
        error.headers = redactor.redact_json(error.headers)
        error.vendor_code, error.upstream_param = redactor.redact_json([error.vendor_code, error.upstream_param])
    return error


def _editor_shape(error: AgentUIError) -> ErrorReply:
    headers: Mapping[str, str] = {}
    if error.retry_after is not None:
        headers = {"retry-after": str(max(1, round(error.retry_after)))}
    details: Json = error.details
    if isinstance(error, ApiError) and error.problems:
        details = error.problems
    body = {"error": {"code": error.code, "message": error.message, "details": details}}
    return ErrorReply(error.status, headers, body)
