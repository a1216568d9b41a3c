"""Model lists in the caller's dialect: the pipelines, and what the active pipeline's provider offers."""

import asyncio
import hashlib
import time
from dataclasses import dataclass, field

from aiohttp import web

from agentui.api.keys import PIPELINES, SERVICES
from agentui.api.proxy.incoming import caller_key, holds_secret
from agentui.chat.request import VendorName
from agentui.errors import AgentUIError, NotFound
from agentui.http.keys import SETTINGS
from agentui.http.reading import split_prefix
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.pipeline.nodes.provider_call import ProviderCall
from agentui.pipeline.nodes.target import KEY_HEADERS, join_url
from agentui.upstream.call import UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from agentui.vendors.base import ModelInfo, Vendor
from agentui.vendors.detect import detect_vendor

CACHE_SECONDS = 300.0
FAILURE_SECONDS = 30.0
MAX_CACHED = 100
LIST_TIMEOUTS = Timeouts(connect=2.0, first_byte=3.0, idle=3.0)


@dataclass
class ModelCache:
    """Provider lists by address and key; a list is asked for at most every five minutes."""

    lists: dict[tuple[str, str, str], tuple[float, list[ModelInfo]]] = field(default_factory=dict)


CACHE: web.AppKey[ModelCache] = web.AppKey("models", ModelCache)


def add_model_routes(app: web.Application) -> None:
    """Register the model lists."""
    app[CACHE] = ModelCache()
    for prefix in ("", "/p/{pipeline}"):
        for version in ("v1", "v1beta", "v1alpha"):
            app.router.add_get(f"{prefix}/{version}/models", list_models)
            app.router.add_get(f"{prefix}/{version}/models/{{model:.+}}", get_model)


async def list_models(request: web.Request) -> web.Response:
    """List the pipelines as models, and the models of the active pipeline's provider (best effort)."""
    vendor = _caller_vendor(request)
    return _json(vendor.models.render_list(await _models(request, vendor)))


async def get_model(request: web.Request) -> web.Response:
    """Describe one model of the list."""
    vendor = _caller_vendor(request)
    wanted = request.match_info["model"].removeprefix("models/")
    for model in await _models(request, vendor):
        if model.id.removeprefix("models/") == wanted:
            return _json(vendor.models.render_entry(model))
    raise NotFound(f"There is no model {wanted[:100]!r} here.", param="model")


def _json(body: Json) -> web.Response:
    return web.Response(body=dumps(body), content_type="application/json")


def _lower_headers(request: web.Request) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


def _caller_vendor(request: web.Request) -> Vendor:
    path, _ = split_prefix(request.path)
    name = detect_vendor(path, _lower_headers(request), dict(request.query))
    if name is None:
        # Decoded, the name of the pipeline may hold slashes.
        raise NotFound(f"There is nothing at {request.method} {request.path[:200]}.")
    return request.app[SERVICES].vendors[name]


async def _models(request: web.Request, vendor: Vendor) -> list[ModelInfo]:
    own = [
        ModelInfo(f"pipeline/{entry.id}", entry.name or entry.id)
        for entry in request.app[PIPELINES].entries()
        if entry.good is not None
    ]
    return own + await _provider_models(request, vendor.name)


async def _provider_models(request: web.Request, caller: VendorName) -> list[ModelInfo]:
    """What the pipeline's provider lists; nothing when it has no list, is slow or refuses."""
    pipelines = request.app[PIPELINES]
    try:
        plan = pipelines.plan(request.match_info.get("pipeline") or pipelines.active)
    except AgentUIError:
        return []
    node = plan.nodes[plan.answer].node
    if not isinstance(node, ProviderCall) or "[[" in node.params.base_url or "{{" in node.params.base_url:
        return []
    name = caller if node.params.provider == "caller" else node.params.provider
    return await _cached_list(request, request.app[SERVICES].vendors[name], node)


async def _cached_list(request: web.Request, vendor: Vendor, node: ProviderCall) -> list[ModelInfo]:
    key = "" if _has_own_key(node) else _key(request)
    try:
        base = request.app[SERVICES].upstream.resolve(node.params.base_url or vendor.default_base_url)
        url = join_url(base, vendor.models.endpoint())
    except AgentUIError:
        return []
    cache = request.app[CACHE].lists
    place = (vendor.name, url, hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest())
    cached = cache.get(place)
    now = time.monotonic()
    if cached is not None and now < cached[0]:
        return cached[1]
    models = await _fetch(request.app[SERVICES].upstream, vendor, url, key)
    if len(cache) >= MAX_CACHED:
        cache.clear()
    lasts = CACHE_SECONDS if models else FAILURE_SECONDS
    cache[place] = (now + lasts, models)
    return models


def _has_own_key(node: ProviderCall) -> bool:
    """True when the node sends a key that is not the caller's: the caller's would be refused there, or told to strangers."""
    return any(name.lower() in KEY_HEADERS and "incoming." not in value for name, value in node.params.headers.items())


def _key(request: web.Request) -> str:
    """The caller's key, unless it is this server's own token."""
    key = caller_key(_lower_headers(request), dict(request.query))
    token = request.app[SETTINGS].own_token
    return "" if token is not None and holds_secret(key, token) else key


async def _fetch(upstream: Upstream, vendor: Vendor, url: str, key: str) -> list[ModelInfo]:
    headers = {**vendor.version_headers(None), **(vendor.auth_headers(key) if key else {})}
    call = UpstreamCall("GET", url, headers, None, LIST_TIMEOUTS, time.monotonic() + 5, retries=False)
    try:
        async with asyncio.timeout(5):
            reply = await upstream.send(call)
        return vendor.models.parse_list(loads(reply.body)) if reply.status == 200 else []
    except (AgentUIError, InvalidJson, TimeoutError):
        # A provider's list is a courtesy: without it the pipelines are still listed.
        return []
