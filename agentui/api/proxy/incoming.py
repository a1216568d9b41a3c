"""From an HTTP request to an ``Incoming``: the body parsed once, the dialect recognised, the pipeline chosen."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from agentui.errors import BadRequest, WrongContentType
from agentui.http.reading import TOKEN_HEADERS, essence_of, is_json, same_secret, split_prefix
from agentui.jsonio import InvalidJson, Json, loads
from agentui.pipeline.incoming import Incoming
from agentui.vendors.base import Vendors
from agentui.vendors.detect import detect_vendor

MODEL_PREFIX = "pipeline/"
_MODEL_PATH = re.compile(rf"(/v1(?:beta|alpha)?/models/){MODEL_PREFIX}([^/:]+)/")
_SCHEME = re.compile(r"^Bearer\s+", re.IGNORECASE)


def read_incoming(
    vendors: Vendors,
    token: str | None,
    *,
    method: str,
    url: str,
    path: str,
    query: str,
    headers: Mapping[str, str],
    body: bytes,
) -> tuple[Incoming, str | None]:
    """Understand a proxied request: the ``Incoming`` and the pipeline that it names (None: the active one).

    ``headers`` have lower-case names. ``token`` is this server's own, which is taken out: it must not travel to an
    upstream. The pipeline is named by the path prefix ``/p/<pipeline>``, else the header ``x-agentui-pipeline``, else a model
    ``pipeline/<id>`` or ``pipeline/<id>/<model>``.
    Raises WrongContentType and BadRequest.
    """
    path, pipeline = split_prefix(path)
    path, named = split_model_path(path)
    pipeline = pipeline or headers.get("x-agentui-pipeline") or named
    if token is not None:
        headers, query = _without_own_token(token, headers), _without_own_key(token, query)
    query_params = dict(parse_qsl(query, keep_blank_values=True)) if query else {}
    document = _document(method, headers, body)
    vendor_name = detect_vendor(path, headers, query_params, document)
    wire = None
    model: str | None = None
    if vendor_name is not None and method == "POST":
        if not isinstance(document, dict):
            raise BadRequest("The request's body must be a JSON object.")
        vendor = vendors[vendor_name]
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
        vendors=vendors,
        api_key=caller_key(headers, query_params),
    )
    return incoming, pipeline


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


def _without_own_token(token: str, headers: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in headers.items() if not (name in TOKEN_HEADERS and holds_secret(value, token))}


def holds_secret(value: str, secret: str) -> bool:
    """Whether a header's value is the secret, or one of its values is, where the header was sent several times."""
    return any(same_secret(_SCHEME.sub("", part.strip()), secret) for part in (value, *value.split(",")))


def _without_own_key(token: str, query: str) -> str:
    """The query without ``key=`` where that is this server's own access token."""
    if "key=" not in query and "%" not in query:
        return query
    pairs = parse_qsl(query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if name != "key" or not same_secret(value, token)]
    return query if len(kept) == len(pairs) else urlencode(kept, errors="replace")


def _document(method: str, headers: Mapping[str, str], body: bytes) -> Json:
    """The body as JSON; None for a request without one."""
    if method not in ("POST", "PUT", "PATCH"):
        return None
    content_type = headers.get("content-type", "")
    if not is_json(content_type):
        raise WrongContentType(
            f"The content type must be application/json, not {essence_of(content_type)[:100] or 'missing'}: "
            "send the header 'Content-Type: application/json'."
        )
    try:
        return loads(body)
    except InvalidJson as error:
        raise BadRequest(f"The request's body is not valid JSON: {error}.") from error
