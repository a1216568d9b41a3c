"""From an HTTP request to an ``Incoming``: the body parsed once, the dialect recognised, the pipeline chosen."""

import asyncio
import hmac
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from agentui.errors import BadRequest, BodyTooLarge, SlowBody, WrongContentType
from agentui.http.state import State
from agentui.jsonio import InvalidJson, Json, loads
from agentui.pipeline.incoming import Incoming
from agentui.vendors.detect import detect_vendor

SLOWEST_BYTES_PER_SECOND = 32 * 1024
MODEL_PREFIX = "pipeline/"
_MODEL_PATH = re.compile(rf"(/v1(?:beta|alpha)?/models/){MODEL_PREFIX}([^/:]+)/")


async def read_body(request: web.Request, limit: int, seconds: float) -> bytes:
    """The request's body, whole.

    Raises BodyTooLarge as soon as more than ``limit`` bytes are declared or read, SlowBody when it takes longer than
    ``seconds`` plus what its size takes at 32 KB/s, BadRequest when its framing or compression is broken.
    """
    declared = request.content_length
    if declared is not None and declared > limit:
        raise BodyTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
    content = request.content
    if content.is_eof() and not content.exception():
        # Small bodies are all there when the handler starts; they need no clock.
        return content.read_nowait(-1)
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds) as clock:
            started = asyncio.get_running_loop().time()
            while piece := await content.readany():
                size += len(piece)
                if size > limit:
                    raise BodyTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
                pieces.append(piece)
                clock.reschedule(started + seconds + size / SLOWEST_BYTES_PER_SECOND)
    except TimeoutError as error:
        raise SlowBody("The request's body took too long to arrive.") from error
    except (web.RequestPayloadError, HttpProcessingError):
        # Without the cause: it may quote what came.
        raise BadRequest("The request's body does not follow the rules of HTTP: check its framing and encoding.") from None
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_incoming(
    state: State, *, method: str, url: str, path: str, query: str, headers: Mapping[str, str], body: bytes
) -> tuple[Incoming, str | None]:
    """Understand a proxied request: the ``Incoming`` and the pipeline that it names (None: the active one).

    ``headers`` have lower-case names. The pipeline is named by the path prefix ``/p/<pipeline>``, else the header
    ``x-agentui-pipeline``, else a model ``pipeline/<id>`` or ``pipeline/<id>/<model>``.
    Raises WrongContentType and BadRequest.
    """
    path, pipeline = split_prefix(path)
    path, named = split_model_path(path)
    pipeline = pipeline or headers.get("x-agentui-pipeline") or named
    headers = without_own_token(state, headers)
    query = _without_own_key(state, query)
    query_params = dict(parse_qsl(query, keep_blank_values=True)) if query else {}
    document = _document(method, headers, body)
    vendor_name = detect_vendor(path, headers, query_params, document)
    wire = None
    model: str | None = None
    if vendor_name is not None and method == "POST":
        if not isinstance(document, dict):
            raise BadRequest("The request's body must be a JSON object.")
        vendor = state.services.vendors[vendor_name]
        wire = vendor.read_request(path, query_params, headers, document)
        model = wire.model
        if model.startswith(MODEL_PREFIX):
            chosen, _, rest = model.removeprefix(MODEL_PREFIX).partition("/")
            pipeline = pipeline or chosen
            model = rest or None
    incoming = Incoming(
        method=method,
        url=url,
        path=path,
        query=query,
        query_params=query_params,
        headers=headers,
        body=body,
        json=document,
        wire=wire,
        model=model,
        vendors=state.services.vendors,
        api_key=caller_key(headers, query_params),
    )
    return incoming, pipeline


def split_prefix(path: str) -> tuple[str, str | None]:
    """A path without its ``/p/<pipeline>`` prefix, and that pipeline."""
    if not path.startswith("/p/"):
        return path, None
    pipeline, slash, rest = path[3:].partition("/")
    return f"{slash}{rest}" or "/", pipeline


def split_model_path(path: str) -> tuple[str, str | None]:
    """Gemini's path without the ``pipeline/<id>/`` before its model, and that pipeline: what is forwarded names the
    model alone, whose own name may hold a slash."""
    match = _MODEL_PATH.match(path)
    return (f"{match[1]}{path[match.end() :]}", match[2]) if match else (path, None)


def caller_key(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """The caller's API key, wherever it stands: x-api-key, x-goog-api-key, ``?key=``, Bearer."""
    key = headers.get("x-api-key") or headers.get("x-goog-api-key") or query.get("key")
    if key:
        return key
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def without_own_token(state: State, headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers without this server's own access token, which must not travel to an upstream."""
    token = state.settings.token
    if token is None:
        return headers
    secret = token.get_secret_value()
    return {name: value for name, value in headers.items() if not (name in TOKEN_HEADERS and _holds(value, secret))}


def _holds(value: str, secret: str) -> bool:
    """Whether a header's value is the secret, or one of its values is, where the header was sent several times."""
    return any(same_secret(_SCHEME.sub("", part.strip()), secret) for part in (value, *value.split(",")))


def _without_own_key(state: State, query: str) -> str:
    """The query without ``key=`` where that is this server's own access token."""
    token = state.settings.token
    if token is None or "key=" not in query:
        return query
    pairs = parse_qsl(query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if name != "key" or not same_secret(value, token.get_secret_value())]
    return query if len(kept) == len(pairs) else urlencode(kept)


_SCHEME = re.compile(r"^Bearer\s+", re.IGNORECASE)
TOKEN_HEADERS = ("x-agentui-token", "authorization", "x-api-key", "x-goog-api-key")


def same_secret(given: str, expected: str) -> bool:
    """Compare without telling by the time it takes how much was right."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def is_json(content_type: str) -> bool:
    """True for a content type that says JSON."""
    essence = _essence(content_type)
    return essence == "application/json" or essence.endswith("+json")


def _essence(content_type: str) -> str:
    """A content type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def _document(method: str, headers: Mapping[str, str], body: bytes) -> Json:
    """The body as JSON; None for a request without one."""
    if method not in ("POST", "PUT", "PATCH"):
        return None
    content_type = headers.get("content-type", "")
    if not is_json(content_type):
        raise WrongContentType(
            f"The content type must be application/json, not {_essence(content_type)[:100] or 'missing'}: "
            "send the header 'Content-Type: application/json'."
        )
    try:
        return loads(body)
    except InvalidJson as error:
        raise BadRequest(f"The request's body is not valid JSON: {error}.") from error
