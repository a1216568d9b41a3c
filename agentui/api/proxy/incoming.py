"""From an HTTP request to an ``Incoming``: the body parsed once, the dialect recognised, the pipeline chosen."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

from agentui.api.proxy.chat_names import MEMBER, SESSION, read_member, said_of_chat
from agentui.errors import BadRequest, WrongContentType
from agentui.http.credentials import query_without_own_keys, without_own_keys
from agentui.http.reading import essence_of, is_form, is_json, split_prefix
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.pipeline.incoming import Incoming
from agentui.threads import LONG
from agentui.turns.placing.placed import AUTO
from agentui.upstream.http.request import BodyStream
from agentui.vendors.base import Vendors
from agentui.vendors.detect import detect_vendor
from agentui.vendors.passed import PassedRoute, passed_route, read_passed

MODEL_PREFIX = "pipeline/"
_MODEL_PATH = re.compile(rf"(/v1(?:beta|alpha)?/models/){MODEL_PREFIX}([^/:]+)/")


def read_incoming(
    vendors: Vendors,
    own_keys: tuple[str, ...],
    *,
    method: str,
    url: str,
    path: str,
    query: str,
    headers: Mapping[str, str],
    body: bytes,
    upload: BodyStream | None = None,
) -> tuple[Incoming, str | None]:
    """Understand a proxied request: the ``Incoming`` and the pipeline that it names (None: the active one).

    ``headers`` have lower-case names. ``own_keys`` are credentials of this server, which are taken out: they must not travel
    to an upstream. The pipeline is named by the path prefix ``/p/<pipeline>``, else the header ``x-agentui-pipeline``, else a
    model ``pipeline/<id>`` or ``pipeline/<id>/<model>``. What the prefix ``/s/<session>`` and the body's member ``agentui`` say
    of the chat becomes headers, where no header says it.
    ``upload`` is a body that is passed on while it comes. Raises WrongContentType and BadRequest.
    """
    path, pipeline, session, follows = split_prefix(path)
    path, named = split_model_path(path)
    pipeline = pipeline or headers.get("x-agentui-pipeline") or named
    headers = said_of_chat(without_own_keys(own_keys, headers))
    query = query_without_own_keys(own_keys, query)
    query_params = dict(parse_qsl(query, keep_blank_values=True)) if query else {}
    route = passed_route(path, method)
    is_unread = route is not None and _is_unread(route, headers)
    document = None if is_unread else _document(method, headers, body)
    if isinstance(document, dict) and MEMBER in document:
        own, document = read_member(document)
        headers, body = {**own, **headers}, dumps(document)
    if session is not None or follows:
        headers = {SESSION: AUTO if session is None else session, **headers}
    vendor_name = detect_vendor(path, headers, query_params, document)
    wire = None
    model: str | None = None
    if route is not None and not is_unread and not isinstance(document, dict):
        raise BadRequest("The request's body must be a JSON object.")
    if vendor_name is not None and route is not None:
        wire = read_passed(vendor_name, path, headers, document)
        model = wire.model or None
    elif vendor_name is not None and method == "POST":
        if not isinstance(document, dict):
            raise BadRequest("The request's body must be a JSON object.")
        vendor = vendors[vendor_name]
        wire = vendor.read_request(path, query_params, headers, document)
        model = wire.model
    if model is not None and model.startswith(MODEL_PREFIX):
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
        upload=upload,
    )
    if len(body) > LONG:
        incoming.find_keys()  # here a thread has time for it
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


def _is_unread(route: PassedRoute, headers: Mapping[str, str]) -> bool:
    """Whether a body is passed on without being looked at."""
    return route.body == "none" or (route.body == "form" and is_form(headers.get("content-type", "")))


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
