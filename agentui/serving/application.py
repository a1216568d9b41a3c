"""Wiring and nothing but wiring: ``create_app`` makes every part once and hands them to each other."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from aiohttp import web

from agentui.accounts.authentication import Authenticator
from agentui.accounts.challenges import Challenges
from agentui.accounts.key_hash import KeyHash
from agentui.accounts.passkey_way import PasskeyWay
from agentui.accounts.passwords import Passwords
from agentui.accounts.provider import Provider
from agentui.accounts.purging import Purges
from agentui.accounts.sign_in import PasswordWay, SignInService, Way
from agentui.accounts.single_sign_on import Admits, SingleSignOn
from agentui.accounts.tokens import HMAC, Jwks, TokenReader
from agentui.accounts.vendor_objects import TIDY_SECONDS, VendorObjects
from agentui.api.accounts import ROUTES as ACCOUNT_ROUTES
from agentui.api.accounts.attempts import ATTEMPTS, PasswordAttempts
from agentui.api.chats import ROUTES as CHAT_ROUTES
from agentui.api.chats.live import PIPELINE_ROUTES
from agentui.api.chats.stopping import stop_told
from agentui.api.editor import ROUTES as EDITOR_ROUTES
from agentui.api.editor import add_editor_streams
from agentui.api.keys import (
    ASSEMBLER,
    CATALOG,
    DEFINED,
    ENGINE,
    FILE_LIMITS,
    HISTORY,
    JOBS,
    LIVE,
    LLM_PROFILES,
    MCP,
    METER,
    OWN,
    PASSWORDS,
    PIPELINES,
    PRESETS,
    RECALL,
    RULES,
    SERVICES,
    SIGHTS,
    SIGN_INS,
    STOPPING,
    STORE,
    STORE_HEALTH,
    TURNS,
)
from agentui.api.library import ROUTES as LIBRARY_ROUTES
from agentui.api.memories import ROUTES as MEMORY_ROUTES
from agentui.api.operations.logs import ROUTES as OPERATION_ROUTES
from agentui.api.operations.recording import REFUSALS, REFUSALS_PER_MINUTE
from agentui.api.ops.health import health, ready, version
from agentui.api.ops.metrics import metrics
from agentui.api.ops.openapi import openapi
from agentui.api.ops.telemetry import TELEMETRY, Telemetry
from agentui.api.ops.workers import add_worker_routes
from agentui.api.profiles import ROUTES as PROFILE_ROUTES
from agentui.api.proxy.detached import DETACHED, DetachedRuns
from agentui.api.proxy.models import CACHE, ModelCache, add_model_routes
from agentui.api.proxy.routes import add_proxy_routes
from agentui.api.tools import ROUTES as TOOL_ROUTES
from agentui.api.usage import ROUTES as USAGE_ROUTES
from agentui.assets.files.limits import FileLimits
from agentui.definitions.http import HttpTools
from agentui.definitions.offered import DefinedTools
from agentui.errors import AgentUIError, Busy
from agentui.files import FileLock
from agentui.http.guard import GUARD, Guard
from agentui.http.keys import AUTHENTICATOR, REDACTOR, SETTINGS
from agentui.http.limits import LIMITS, Buckets, Limits
from agentui.http.pages import add_page_routes
from agentui.http.route import add_routes
from agentui.http.worker_group import WorkerGroup
from agentui.http.workers import CREDENTIALS, THOUGHTS, WORKERS, Workers
from agentui.ids import SystemClock, new_id
from agentui.jobs.runner import ALONE_POLL_SECONDS, POLL_SECONDS, JobRunner
from agentui.library.chat_transfers import ChatTransfers
from agentui.library.entry_tools import entry_tools
from agentui.library.tools import asset_tools
from agentui.mcp.servers import McpServers
from agentui.memories.indexing import ChatIndexing
from agentui.memories.recall import Recall
from agentui.memories.sights import Sights
from agentui.memories.writing.maintenance import Ages
from agentui.memories.writing.modes import WritingRules
from agentui.operations.tidying import OperationTidier
from agentui.owned.documents import OwnDocuments
from agentui.pipeline.caches.thought_cache import ThoughtCache
from agentui.pipeline.engine import Engine
from agentui.pipeline.history import RunHistory
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.node import load_catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.run import Services
from agentui.presets import PresetLibrary
from agentui.principal import DEFAULT_ACCOUNT
from agentui.profiles.sealing import KeySeal
from agentui.profiles.service import LlmProfiles
from agentui.redaction import Redactor
from agentui.secrets.store import SecretStore
from agentui.settings import Settings
from agentui.store.base import Store
from agentui.store.health import StoreHealth
from agentui.store.opening import make_store
from agentui.tools.builtin import NAMES, STANDING
from agentui.tools.catalog import Catalog
from agentui.tools.plugins import load_tools
from agentui.tools.sources import ToolSources
from agentui.tools.tool import HostedTool
from agentui.tools.vars.rule_folder import RuleFolder
from agentui.tools.vars.tools import NAMES as VARIABLE_TOOLS
from agentui.turns.live.choice import PipelineChoice
from agentui.turns.live.consolidating import Consolidation
from agentui.turns.live.driver import LiveTurns
from agentui.turns.live.memory_model import MemoryModel
from agentui.turns.live.pipeline_tools import PipelineTools
from agentui.turns.remembering import Remembering
from agentui.turns.reminding import ReadingRules, Reminder
from agentui.turns.service import TurnService
from agentui.turns.thin.assembler import Assembler
from agentui.upstream.call import UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from agentui.upstream.proxies import ProxyRules
from agentui.usage.meter import BUDGETS_CHANGED, UsageMeter
from agentui.usage.prices import Prices, read_prices
from agentui.usage.writer import LedgerWriter
from agentui.vendors.base import Vendors
from agentui.vendors.registry import make_vendors

log = logging.getLogger("agentui")

NOTHING: Mapping[str, str] = MappingProxyType({})

CREDENTIALS_CHANGED = '{"credentials": "changed"}'
"""What processes that share the database tell each other."""
PURGED = "purged "
"""Before the id of an account of which nothing is kept any more."""
JWKS_SECONDS = 10.0
"""How long the keys of tokens may take to be read, for which the requests with tokens wait; and each answer of an identity
provider, for which who signs in does."""
JWKS_TIMEOUTS = Timeouts(connect=5, first_byte=5, idle=5)


def create_app(
    settings: Settings,
    *,
    named_origins: Mapping[str, str] = NOTHING,
    secret_env: Mapping[str, str] = NOTHING,
    proxy_env: Mapping[str, str] = NOTHING,
    default_active: str = "default",
    group: WorkerGroup | None = None,
    tools: Iterable[HostedTool] = (),
) -> web.Application:
    """The whole server as an application; it loads files and opens connections when it starts.

    ``named_origins`` are addresses that a base_url may call by a word (``demo``), ``secret_env`` the environment's
    ``AGENTUI_SECRET_*``, ``proxy_env`` its ``HTTPS_PROXY`` and kin, ``default_active`` the pipeline that answers until
    somebody activates another. ``group`` are the workers of one server, where this is one of several: somebody else has
    locked the data folder for all of them. ``tools`` are those that models may be offered.
    """
    redactor = Redactor()
    if settings.own_token is not None:
        redactor.register(settings.own_token)
    owner = group.owner if group is not None else new_id("server")
    vendors, telemetry = make_vendors(), Telemetry(settings, owner)
    limits = Limits(
        settings.rate_limit, settings.token_attempts, settings.trusted_proxies, settings.max_in_flight, settings.max_bodies
    )
    secrets = SecretStore(settings.data, secret_env, settings.secret_key.get_secret_value() if settings.secret_key else None)
    url = settings.database_url.get_secret_value() if settings.database_url is not None else None
    store = make_store(url, settings.data, is_shared=group is not None, patience=settings.database_timeout)
    workers = Workers(group, token=settings.own_token, write_timeout=settings.write_timeout)
    accounts = Authenticator(
        store,
        KeyHash(secrets.derive),
        SystemClock(),
        mode=settings.auth_mode,
        is_multi=settings.account_mode == "multi",
        token=settings.own_token,
        keys=settings.api_keys,
        tell=partial(_tell_of_credentials, workers, store),
    )
    passwords = Passwords()
    sign_ins = SignInService(store, SystemClock(), (), settings.sign_in_age)
    guard = Guard(settings, redactor, vendors, limits, telemetry, accounts)
    app = web.Application(middlewares=[guard.check], client_max_size=settings.max_body)
    app.on_response_prepare.append(guard.add_headers)
    app.cleanup_ctx.append(_live)
    app[SETTINGS], app[REDACTOR], app[GUARD], app[LIMITS], app[TELEMETRY] = settings, redactor, guard, limits, telemetry
    app[STOPPING] = asyncio.Event()
    app[RULES] = RuleFolder(settings.rules, settings.data / "rules.lock")
    app[WORKERS], app[STORE], app[AUTHENTICATOR] = workers, store, accounts
    app[PASSWORDS], app[SIGN_INS], app[ATTEMPTS] = passwords, sign_ins, PasswordAttempts()
    app[REFUSALS] = Buckets(REFUSALS_PER_MINUTE)
    proxies = ProxyRules(settings.upstream_proxy.get_secret_value() if settings.upstream_proxy else "", proxy_env)
    redactor.register(*(proxy.password for proxy in proxies.named()))
    own = (*STANDING, *asset_tools(lambda: app[STORE]), *entry_tools(lambda: app[STORE]), *tools)
    added, complaints = load_tools(NAMES | {tool.name for tool in own})
    for complaint in complaints:
        log.warning("%s", complaint)
    sources = ToolSources(Catalog.of((*own, *added)), (*NAMES, *VARIABLE_TOOLS))
    _add_engine(app, owner, vendors, named_origins, secrets, proxies, sources)
    sign_ins.ways = _ways(app)
    if settings.oidc_client_secret is not None:
        redactor.register(settings.oidc_client_secret.get_secret_value())
    accounts.runs = lambda: [(run.principal, run.stop) for run in app[HISTORY].running]
    if settings.auth_mode == "jwt":
        accounts.tokens = _token_reader(app)
    _add_documents(app, default_active, is_shared=group is not None)
    _add_memory(app, owner)
    _add_routes(app, is_shared=group is not None)
    add_editor_streams(app)
    return app


def _add_engine(
    app: web.Application,
    owner: str,
    vendors: Vendors,
    named_origins: Mapping[str, str],
    secrets: SecretStore,
    proxies: ProxyRules,
    tools: ToolSources,
) -> None:
    """What runs pipelines, and what their nodes may reach."""
    settings, workers = app[SETTINGS], app[WORKERS]
    upstream = Upstream(
        named_origins=named_origins,
        # Providers of households and companies are at private addresses, and not all pipelines may call those for it.
        trusted=(settings.oidc_issuer,) if settings.oidc_issuer is not None else (),
        allow_private=settings.may_call_private,
        allow_self=settings.allow_self,
        own_names=settings.own_hosts,
        proxies=proxies,
        max_reply=settings.max_reply,
        max_in_flight=settings.max_per_origin,
        max_queued=settings.max_queued_per_origin,
        queue_timeout=settings.queue_timeout,
    )
    app[METER] = UsageMeter(
        app[STORE],
        LedgerWriter(app[STORE], SystemClock()),
        Prices(
            {name: vendors[name].billing.price_list for name in vendors},
            read_prices(settings.prices) if settings.prices is not None else (),
            partial(_host_of_preset, app),
            now=time.time,
        ),
        SystemClock(),
        owner,
        keeps=settings.keeps_usage,
        is_alone=settings.database_url is None,
        unknown_price=settings.unknown_price,
    )
    app[OWN] = OwnDocuments(
        app[STORE],
        secrets,
        SystemClock(),
        lambda kind: app[PIPELINES] if kind == "pipelines" else app[PRESETS],
        BUILTIN.keys(),
        is_allowed=settings.own_pipelines,
    )
    app[SERVICES] = Services(
        vendors=vendors,
        upstream=upstream,
        secrets=secrets,
        thought_cache=ThoughtCache(partial(workers.post_all, THOUGHTS) if workers.numbers else None),
        timeouts=Timeouts(settings.connect_timeout, settings.first_byte_timeout, settings.idle_timeout),
        max_event=settings.max_event,
        max_reply=settings.max_reply,
        max_stream=settings.max_stream,
        tools=tools,
        rules=app[RULES].groups,
        follows_all_references=settings.var_ref_nested,
        assets=lambda account: app[LIVE].bundles.of(account),
        plans=lambda id: app[PIPELINES].plan(id),
        preset=lambda id: app[PRESETS].good(id),
        meter=app[METER],
        own=app[OWN],
        # Where everything is one account's, nobody has to know whose it is.
        objects=VendorObjects(app[STORE], SystemClock(), settings.vendor_objects) if settings.account_mode == "multi" else None,
    )
    app[HISTORY] = RunHistory(settings.run_history, settings.run_history_bytes)
    app[ENGINE] = Engine(
        app[SERVICES], app[HISTORY], app[REDACTOR], timeout=settings.run_timeout, new_run_id=workers.new_run_id
    )
    app[DETACHED] = DetachedRuns(app[REDACTOR])
    app[CACHE] = ModelCache()


def _host_of_preset(app: web.Application, id: str) -> str | None:
    """Whom a preset calls; None for one that there is not, or whose address is made when it is used."""
    try:
        base = app[SERVICES].upstream.resolve(app[PRESETS].good(id).base_url)
        return urlsplit(base).netloc or None
    except (AgentUIError, ValueError):
        return None


def _add_documents(app: web.Application, default_active: str, *, is_shared: bool) -> None:
    """The node types, the pipelines and the presets."""
    settings = app[SETTINGS]
    catalog, complaints = load_catalog(BUILTIN)
    for complaint in complaints:
        log.warning("%s", complaint)
    # Several workers change the same files.
    lock = FileLock(settings.data / "documents.lock") if is_shared else None
    app[CATALOG] = catalog
    app[PIPELINES] = PipelineLibrary(settings.pipelines, settings.data, catalog, default_active=default_active, lock=lock)
    app[PRESETS] = PresetLibrary(settings.presets, settings.data, lock=lock)


def _ways(app: web.Application) -> list[Way]:
    """The ways by which people sign in to the page."""
    settings, clock, secrets = app[SETTINGS], SystemClock(), app[SERVICES].secrets
    challenges, public = Challenges(secrets.seal, secrets.unseal, clock), settings.public_url
    ways: list[Way] = []
    if "password" in settings.ways:
        ways.append(PasswordWay(app[STORE], app[PASSWORDS]))
    if "passkey" in settings.ways and public is not None:
        ways.append(PasskeyWay(app[STORE], challenges, public))
    if "oidc" in settings.ways and settings.oidc_issuer is not None and settings.oidc_client_id is not None:
        provider = Provider(
            partial(_ask_provider, app[SERVICES].upstream),
            challenges,
            clock,
            settings.oidc_issuer,
            settings.oidc_client_id,
            settings.oidc_client_secret.get_secret_value() if settings.oidc_client_secret is not None else None,
            f"{public}/ui/",
            settings.oidc_scopes or ("openid", "profile", "email"),
            settings.oidc_algorithms or ("RS256", "ES256"),
            settings.oidc_groups_claim,
        )
        domains = frozenset(domain.lower().lstrip("@") for domain in settings.oidc_email_domains)
        groups, admins = frozenset(settings.oidc_groups), frozenset(settings.oidc_admin_groups)
        ways.append(SingleSignOn(provider, challenges, Admits(settings.oidc_create_accounts, domains, groups, admins)))
    return ways


async def _ask_provider(
    upstream: Upstream, method: str, url: str, headers: Mapping[str, str], body: bytes | None
) -> tuple[int, bytes]:
    """Ask an identity provider. A code counts once, so what sends one is not tried again. Raises as ``Upstream.send`` does."""
    deadline = time.monotonic() + JWKS_SECONDS
    call = UpstreamCall(method, url, headers, body, JWKS_TIMEOUTS, deadline, retries=method == "GET")
    reply = await upstream.send(call)
    return reply.status, reply.body


def _token_reader(app: web.Application) -> TokenReader:
    """What reads the tokens of the mode jwt."""
    settings, place = app[SETTINGS], app[SETTINGS].auth_jwt_jwks
    secret = settings.auth_jwt_secret.get_secret_value() if settings.auth_jwt_secret is not None else None
    clock = SystemClock()
    return TokenReader(
        settings.auth_jwt_algorithms or HMAC,
        settings.auth_jwt_account_claim,
        clock,
        secret=secret,
        jwks=Jwks(partial(_read_jwks, app[SERVICES].upstream, place), clock) if place is not None else None,
        issuer=settings.auth_jwt_issuer,
        audience=settings.auth_jwt_audience,
    )


async def _read_jwks(upstream: Upstream, place: str) -> bytes:
    """The document with the public keys of tokens: a file's, or what is at an address. Raises OSError and as ``Upstream.send``
    does; Busy where the address answers with an error."""
    if not place.startswith(("http://", "https://")):
        return await asyncio.to_thread(Path(place).read_bytes)
    call = UpstreamCall("GET", place, {"accept": "application/json"}, None, JWKS_TIMEOUTS, time.monotonic() + JWKS_SECONDS)
    reply = await upstream.send(call)
    if reply.status != 200:
        raise Busy(f"The address of the keys answered with {reply.status}.")
    return reply.body


async def _tell_of_credentials(workers: Workers, store: Store) -> None:
    """Tell the other workers of this server, and the processes that share the database, that keys or accounts were changed."""
    await workers.post_all(CREDENTIALS)
    try:
        await store.tell_others(CREDENTIALS_CHANGED)
    except AgentUIError as error:
        # They do not believe for long what they have read.
        log.warning("Others could not be told that keys were changed: %s", error.code)


def _told(app: web.Application, message: str) -> None:
    """Another process tells something."""
    if message == CREDENTIALS_CHANGED:
        app[AUTHENTICATOR].forget()
    elif message == BUDGETS_CHANGED:
        app[METER].changed()
    elif message.startswith(PURGED):
        _forget_account(app, message.removeprefix(PURGED))
    else:
        stop_told(app, message)


def _forget_account(app: web.Application, account: str) -> None:
    """Keep nothing in memory of an account that was removed: its runs, its connections to MCP servers."""
    app[HISTORY].forget(account)
    app[MCP].forget_account(account)


async def _account_purged(app: web.Application, account: str) -> None:
    """Forget an account here and in the processes that share the database."""
    _forget_account(app, account)
    await app[STORE].tell_others(PURGED + account)


def _add_memory(app: web.Application, owner: str) -> None:
    """The memory. ``owner`` names this process to others that share it."""
    settings, store = app[SETTINGS], app[STORE]
    store.on_told = partial(_told, app)
    is_alone = settings.database_url is None
    jobs = JobRunner(store, owner, poll_seconds=ALONE_POLL_SECONDS if is_alone else POLL_SECONDS)
    app[FILE_LIMITS] = FileLimits(
        file=settings.import_file,
        text=settings.import_text,
        unpacked=settings.import_unpacked,
        members=settings.import_members,
        pixels=settings.import_pixels,
        messages=settings.import_messages,
    )
    app[STORE_HEALTH], app[JOBS] = StoreHealth(store), jobs
    ChatTransfers(store, jobs, app[FILE_LIMITS], app[REDACTOR])
    app[TURNS] = TurnService(
        store,
        jobs,
        owner,
        queue_seconds=settings.generation_queue,
        is_alone=is_alone,
        lease_seconds=settings.generation_lease,
        commit_seconds=settings.commit_timeout,
        answer_seconds=settings.idempotency_age,
        answer_bytes=settings.idempotency_bytes,
        logs_turns=settings.operation_log_turns and settings.operation_log > 0,
        memories=WritingRules(
            settings.memory,
            settings.memory_consolidation,
            behind=settings.memory_behind,
            wait_ms=round(settings.memory_wait * 1000),
            needs_approval=settings.memory_approval,
            compacts=settings.memory_compaction,
        ),
    )
    OperationTidier(store, jobs, settings.operation_log)
    Purges(store, jobs, SystemClock(), app[AUTHENTICATOR].changed, partial(_account_purged, app))
    if (objects := app[SERVICES].objects) is not None:
        jobs.handle("vendor_objects.tidy", objects.tidy, every_seconds=TIDY_SECONDS)
    app[MCP] = McpServers(
        store,
        app[SERVICES].upstream,
        app[SERVICES].secrets,
        app[REDACTOR],
        folder=settings.data,
        owner=DEFAULT_ACCOUNT,
        may_start_programs=settings.mcp_programs,
    )
    app[SIGHTS] = Sights(store)
    app[RECALL] = Recall(store, app[SIGHTS], ChatIndexing(store, jobs))
    app[LLM_PROFILES] = LlmProfiles(store, KeySeal(app[SERVICES].secrets))
    choice = PipelineChoice(
        app[PIPELINES], app[PRESETS], settings.chat_preset, app[SERVICES].vendors, app[LLM_PROFILES].seal.open, app[OWN]
    )
    app[DEFINED] = defined = DefinedTools(
        store,
        HttpTools(app[SERVICES].upstream, app[SERVICES].secrets, app[REDACTOR]),
        PipelineTools(app[ENGINE], choice, app[SERVICES].vendors).handler,
    )
    app[SERVICES].tools.add(defined.tools)
    app[SERVICES].tools.add(app[MCP].tools)
    reading = ReadingRules(settings.memory_form, settings.memory_place, settings.memory_depth, settings.memory_budget)
    model = MemoryModel(app[ENGINE], choice, app[SERVICES].vendors, settings.memory_pipeline)
    ages = Ages(settings.memory_summary_days, settings.memory_open_loop_days, settings.memory_purge_days)
    Remembering(store, jobs, app[SIGHTS], model, app[TURNS].memories, ages, SystemClock())
    app[LIVE] = LiveTurns(
        app[TURNS],
        app[ENGINE],
        app[SERVICES].vendors,
        choice,
        director=settings.director_pipeline,
        verifier=settings.verifier_pipeline,
        tools=app[SERVICES].tools,
        consolidation=Consolidation(store, app[SIGHTS], model),
        reminder=Reminder(store, app[SIGHTS], app[RECALL], reading, app[TURNS].memories),
    )
    app[ASSEMBLER] = Assembler(app[TURNS], app[LIVE].bundles, app[LIVE].estimators)


def _add_routes(app: web.Application, *, is_shared: bool) -> None:
    for resource in _resources():
        app.router.register_resource(resource)
    add_page_routes(app)
    if is_shared:
        add_worker_routes(app)


@cache
def _resources() -> tuple[web.AbstractResource, ...]:
    """
    The routes whose handlers find all that they need in the request's application. They are made once in a process: their
    hundreds of patterns take longer than the rest of an application, and every application can use the same.
    """
    router = web.UrlDispatcher()
    add_proxy_routes(router)
    add_model_routes(router)
    for routes in (
        EDITOR_ROUTES,
        CHAT_ROUTES,
        LIBRARY_ROUTES,
        TOOL_ROUTES,
        PROFILE_ROUTES,
        MEMORY_ROUTES,
        ACCOUNT_ROUTES,
        USAGE_ROUTES,
        OPERATION_ROUTES,
        PIPELINE_ROUTES,
    ):
        add_routes(router, routes)
    router.add_get("/health", health)
    router.add_get("/ready", ready)
    router.add_get("/version", version)
    router.add_get("/metrics", metrics)
    router.add_get("/openapi.json", openapi)
    return tuple(router.resources())


async def _live(app: web.Application) -> AsyncIterator[None]:
    """Take the data folder, load the files, watch them, and open the client; close all of it at the end."""
    libraries = app[PIPELINES], app[PRESETS]
    app[STORE].claim()
    for library in libraries:
        library.refresh()
    app[MCP].start()
    app[JOBS].start()
    app[METER].start()
    async with app[SERVICES].upstream, app[WORKERS]:
        watchers = [asyncio.create_task(library.watch()) for library in libraries]
        try:
            yield
        finally:
            for watcher in watchers:
                watcher.cancel()
                with suppress(asyncio.CancelledError):
                    await watcher
            await app[DETACHED].close()
            await app[MCP].close()
            await app[TELEMETRY].close()
            await app[STORE_HEALTH].stop()
            await app[JOBS].close()
            await app[TURNS].close()
            await app[METER].close()
            await app[AUTHENTICATOR].close()
            await app[STORE].close()
