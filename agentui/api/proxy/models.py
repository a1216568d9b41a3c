"""Model lists in the caller's dialect: the pipelines, and what the active pipeline's provider offers."""

import asyncio
import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from aiohttp import web

from agentui.accounts.restrictions import check_pipeline
from agentui.api.keys import OWN, PIPELINES, SERVICES
from agentui.api.proxy.incoming import caller_key
from agentui.api.proxy.routes import plan_named
from agentui.chat.request import VendorName
from agentui.errors import AgentUIError, NotFound
from agentui.http.credentials import OWN_KEYS, is_own_key
from agentui.http.keys import PRINCIPAL
from agentui.http.reading import PREFIXES, split_prefix
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.pipeline.nodes.model.provider_call import ProviderCall
from agentui.pipeline.nodes.model.raw_forward import RawForward
from agentui.pipeline.nodes.model.target import KEY_HEADERS, join_url
from agentui.principal import NO_RESTRICTIONS
from agentui.upstream.call import UpstreamCall
from agentui.upstream.headers import hops_of
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


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the upstream of an answering node lists its models. ``provider`` None is the caller's. ``has_own_key`` is whether
    the node sends a key that is not the caller's: the caller's would be refused there, or told to strangers."""

    provider: VendorName | None
    base_url: str
    proxy: str
    has_own_key: bool

    @classmethod
    def of(cls, node: object) -> "_Source | None":
        """None for a node that has no such upstream."""
        match node:
            case ProviderCall(params=params):
                provider = None if params.provider == "caller" else params.provider
                return cls(provider, params.base_url, params.proxy, _holds_key(params.headers.items()))
            case RawForward(params=params):
                written = params.extra_headers
                # In a JSON text with macros a header cannot be told from its neighbours before it is rendered.
                pairs = written.items() if isinstance(written, dict) else [(name, written) for name in _named_in(written)]
                return cls(None, params.base_url, params.proxy, _holds_key(pairs))
        return None


def _holds_key(headers: Iterable[tuple[str, str]]) -> bool:
    return any(name.lower() in KEY_HEADERS and "incoming." not in value for name, value in headers)


def _named_in(text: str) -> list[str]:
    return [name for name in KEY_HEADERS if name in text.lower()]


CACHE: web.AppKey[ModelCache] = web.AppKey("models", ModelCache)


def add_model_routes(router: web.UrlDispatcher) -> None:
    """Register the model lists."""
    for prefix in PREFIXES:
        for version in ("v1", "v1beta", "v1alpha"):
            router.add_get(f"{prefix}/{version}/models", list_models)
            router.add_get(f"{prefix}/{version}/models/{{model:.+}}", get_model)


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
    path = split_prefix(request.path).path
    name = detect_vendor(path, _lower_headers(request), dict(request.query))
    if name is None:
        # Decoded, the name of the pipeline may hold slashes.
        raise NotFound(f"There is nothing at {request.method} {request.path[:200]}.")
    return request.app[SERVICES].vendors[name]


async def _models(request: web.Request, vendor: Vendor) -> list[ModelInfo]:
    may = request[PRINCIPAL].restrictions or NO_RESTRICTIONS
    own = [
        ModelInfo(f"pipeline/{entry.id}", entry.name or entry.id)
        for entry in request.app[PIPELINES].entries()
        if entry.good is not None and may.allows_pipeline(entry.id)
    ]
    documents = request.app[OWN]
    for entry in await documents.entries(request[PRINCIPAL].account, "pipelines"):
        if entry.good is not None and may.allows_pipeline(entry.id):
            own.append(ModelInfo(f"pipeline/{entry.id}", entry.name or entry.id))
    return own + [model for model in await _provider_models(request, vendor.name) if may.allows_model(model.id)]


async def _provider_models(request: web.Request, caller: VendorName) -> list[ModelInfo]:
    """What the pipeline's provider lists; nothing when it has no list, is slow or refuses."""
    id = split_prefix(request.path).pipeline or request.app[PIPELINES].active
    try:
        check_pipeline(request[PRINCIPAL], id)
        plan = await plan_named(request, id)
    except AgentUIError:
        return []
    sources = (_Source.of(plan.nodes[position].node) for position in sorted(plan.answers))
    source = next((source for source in sources if source is not None), None)
    if source is None or any(mark in source.base_url + source.proxy for mark in ("[[", "{{")):
        return []
    return await _cached_list(request, request.app[SERVICES].vendors[source.provider or caller], source)


async def _cached_list(request: web.Request, vendor: Vendor, source: _Source) -> list[ModelInfo]:
    key = "" if source.has_own_key else _key(request)
    try:
        base = request.app[SERVICES].upstream.resolve(source.base_url or vendor.default_base_url)
        url = join_url(base, vendor.models.endpoint())
    except AgentUIError:
        return []
    cache = request.app[CACHE].lists
    way = f"{source.proxy}\n{key}"
    place = (vendor.name, url, hashlib.sha256(way.encode("utf-8", "surrogateescape")).hexdigest())
    cached = cache.get(place)
    now = time.monotonic()
    if cached is not None and now < cached[0]:
        return cached[1]
    models = await _fetch(request, vendor, url, key, source.proxy.strip())
    if len(cache) >= MAX_CACHED:
        cache.clear()
    lasts = CACHE_SECONDS if models else FAILURE_SECONDS
    cache[place] = (now + lasts, models)
    return models


def _key(request: web.Request) -> str:
    """The caller's key, unless it is one of this server's own."""
    key = caller_key(_lower_headers(request), dict(request.query))
    return "" if is_own_key(request[OWN_KEYS], key) else key


async def _fetch(request: web.Request, vendor: Vendor, url: str, key: str, proxy: str) -> list[ModelInfo]:
    headers = {**vendor.version_headers(None), **(vendor.auth_headers(key) if key else {})}
    call = UpstreamCall("GET", url, headers, None, LIST_TIMEOUTS, time.monotonic() + 5, proxy=proxy, retries=False)
    call.hops = hops_of(_lower_headers(request)) + 1
    try:
        async with asyncio.timeout(5):
            reply = await request.app[SERVICES].upstream.send(call)
        return vendor.models.parse_list(loads(reply.body)) if reply.status == 200 else []
    except (AgentUIError, InvalidJson, TimeoutError):
        # A provider's list is a courtesy: without it the pipelines are still listed.
        return []
