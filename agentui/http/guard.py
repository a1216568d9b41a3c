"""What stands in front of every route: names, origins, who asks, and errors in the right shape.

One middleware, so that a request crosses one function. Checks come before routing decides anything, and every answer
leaves with an ``x-request-id``.
"""

import logging
import re
import traceback
from collections.abc import Awaitable, Callable
from functools import lru_cache
from ipaddress import ip_address
from typing import Protocol

from aiohttp import HttpVersion10, HttpVersion11, web

from agentui.accounts.authentication import Authenticator
from agentui.accounts.codes import Wrong
from agentui.errors import (
    AgentUIError,
    BadRequest,
    Forbidden,
    MethodNotAllowed,
    NotFound,
    RequestLoop,
    Unauthorized,
    WrongContentType,
    WrongHost,
)
from agentui.http.credentials import OWN_KEYS, presented_by, shows_client_key
from agentui.http.errors import error_response
from agentui.http.families import check_key
from agentui.http.keys import PRINCIPAL
from agentui.http.limits import Limits
from agentui.http.reading import is_form, is_json, split_prefix
from agentui.http.workers import WORKERS_OWN, is_from_worker
from agentui.http.writing import send_whole
from agentui.ids import new_id
from agentui.principal import ANONYMOUS, DEFAULT_PRINCIPAL
from agentui.redaction import Redactor, secret_headers
from agentui.settings import Settings
from agentui.upstream.headers import HOPS, hops_of
from agentui.vendors.base import Vendor, Vendors
from agentui.vendors.detect import detect_vendor
from agentui.vendors.passed import passed_route

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Entrance = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
"""What aiohttp hands every request to."""

OPEN_PATHS = frozenset({"/health", "/ready", "/version", "/", "/favicon.ico"})
"""Paths that need no token; so do the editor's own files below /ui/."""

PUBLIC_PATHS = frozenset({"/openapi.json", "/auth/ways", "/auth/sign-in", "/auth/sign-in/begin"})
"""Further ones where callers have accounts: what the API is (TavernHeadless' contract, 5.1), and the way in."""

PAGES = frozenset({"/", "/ui/", "/ui/index.html"})
"""Where the editor's page is, which other sites may link to."""

SERVER_NAME = "agentui"
"""The ``Server`` header of every answer, without a version."""

REQUEST_ID: web.RequestKey[str] = web.RequestKey("id", str)
RUN_REDACTOR: web.RequestKey[Redactor] = web.RequestKey("redactor", Redactor)
"""Knows the secrets of the request's run, where one began."""

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""They change nothing and cost nothing here (RFC 9110, 9.2.1)."""

IMPORTS = "/import/"
"""What the paths begin with to which people upload files."""
PICTURE = "/image"
"""Ends the paths that pictures are put to."""

_SIMPLE = frozenset({"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"})
"""What a page may send to anybody without asking first (Fetch, 2.2.2)."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@/?#\s,]+)(?::[0-9]*)?")

log = logging.getLogger("agentui.http")


class RequestObserver(Protocol):
    """Who is told of every request: when it begins and ends, and which errors were told."""

    def begin(self, request: web.Request, request_id: str) -> None:
        """A request begins."""

    def end(self, request: web.Request, status: int | None) -> None:
        """It is over; ``status`` is None where its caller left."""

    def count_error(self, code: str) -> None:
        """An answer told an error."""


class Guard:
    """What every request crosses on its way in, and its answer on its way out.

    ``redactor`` knows the server's own secrets, ``vendors`` the shapes of errors, ``limits`` who tried too many keys,
    ``accounts`` in whose name a request is made.
    """

    def __init__(
        self,
        settings: Settings,
        redactor: Redactor,
        vendors: Vendors,
        limits: Limits,
        observer: RequestObserver,
        accounts: Authenticator,
    ) -> None:
        self._settings = settings
        self._accounts = accounts
        self._redactor = redactor
        self._vendors = vendors
        self._limits = limits
        self._observer = observer
        self._token = () if settings.own_token is None else (settings.own_token,)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The middleware: check, answer, and turn whatever goes wrong into the answer that this route promises."""

        async def answer(request: web.Request) -> web.StreamResponse:
            check_content_type(request)
            if request[PRINCIPAL].restrictions is not None:
                check_key(request, request[PRINCIPAL], self._limits)
            return await handler(request)

        return await self._observed(request, answer)

    async def add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        """Put the headers on an answer that every answer carries. A signal: aiohttp sends it before any head leaves."""
        headers = response.headers
        headers.setdefault("x-request-id", request[REQUEST_ID])
        if (vendor := self._vendor_of(request)) is not None:
            headers.setdefault(vendor.request_id_header, headers["x-request-id"])
        headers.setdefault("x-content-type-options", "nosniff")
        headers["Server"] = SERVER_NAME  # aiohttp would name the versions of Python and its own
        origin = request.headers.get("Origin")
        if origin is not None and origin in self._settings.cors_origins:
            headers.setdefault("access-control-allow-origin", origin)
            headers.setdefault("vary", "Origin")
            headers.setdefault("access-control-expose-headers", "*")

    def meet_expectations(self, application: Entrance) -> Entrance:
        """The entrance to ``application``, but for requests with an ``Expect`` that is not ``100-continue``: aiohttp would
        answer them itself, before any middleware, and repeat the header in its own words."""

        async def enter(request: web.BaseRequest) -> web.StreamResponse:
            if isinstance(request, web.Request) and request.headers.get("Expect", "100-continue").lower() != "100-continue":
                response = await self._observed(request, _refuse_expectation)
                await self.add_headers(request, response)
                return response
            return await application(request)

        return enter

    async def _observed(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        request_id = request[REQUEST_ID] = new_id("req")
        self._observer.begin(request, request_id)
        status: int | None = None
        try:
            response = await self._answered(request, handler)
            status = response.status
            return response
        finally:
            self._limits.release(request)
            self._observer.end(request, status)

    async def _answered(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The answer, whatever happens; who left is told nothing."""
        try:
            check_framing(request)
            check_host(request, self._settings)
            check_origin(request, self._settings)
            if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
                return _preflight()
            if self._accounts.is_open and not shows_client_key(request):
                request[PRINCIPAL], request[OWN_KEYS] = DEFAULT_PRINCIPAL, ()
            else:
                await self._admit(request)
            check_hops(request, self._settings.max_hops)
            return await send_whole(request, await handler(request), self._settings.write_timeout)
        except web.HTTPException as error:
            response = self._error_response(request, _of_http(error, request))
        except AgentUIError as error:
            self._observer.count_error(error.code)
            response = self._error_response(request, error)
            if isinstance(error, _Misframed) or not request.content.is_eof():
                # Whoever is refused need not send the rest of a body that nobody reads.
                response.force_close()
        except ConnectionResetError:
            # The caller is gone; there is nobody to answer.
            raise
        except Exception:  # noqa: BLE001  it is logged: the log's own filter knows no secrets of single requests
            trace = self._redactor_of(request).redact(traceback.format_exc())
            request_id = request[REQUEST_ID]
            self._observer.count_error(AgentUIError.code)
            log.error("Request %s failed by a fault of agentui itself\n%s", request_id, trace)
            fault = AgentUIError(f"agentui failed; the log says more under {request_id}.", request_id=request_id)
            response = self._error_response(request, fault)
        return response

    async def _admit(self, request: web.Request) -> None:
        """Find out who asks. Raises as ``Authenticator.authenticate`` does, RateLimited after too many wrong credentials, and
        Forbidden for a write that the page of a signed-in browser did not make."""
        if self._is_public(request.path):
            request[PRINCIPAL], request[OWN_KEYS] = ANONYMOUS, self._token
            return
        presented = presented_by(request)
        if presented.is_empty and request.path.startswith(WORKERS_OWN) and is_from_worker(request):
            # It asks for itself. What it passes on for a caller has the caller's credentials, or is nobody's.
            request[PRINCIPAL], request[OWN_KEYS] = DEFAULT_PRINCIPAL, self._token
            return
        self._limits.check_attempts(request)
        try:
            admission = await self._accounts.authenticate(presented)
        except Wrong:
            self._limits.note_wrong_token(request)
            raise
        except Unauthorized:
            if presented.keys:
                self._limits.note_wrong_token(request)
            raise
        if admission.by_sign_in and request.method not in SAFE_METHODS:
            check_own_page(request)
        request[PRINCIPAL], request[OWN_KEYS] = admission.principal, (*admission.own, *self._token)

    def _is_public(self, path: str) -> bool:
        """Whether a path needs no credentials."""
        if path in OPEN_PATHS or path.startswith("/ui/"):
            return True
        return self._settings.auth_mode != "off" and path in PUBLIC_PATHS

    def _error_response(self, request: web.Request, error: AgentUIError) -> web.Response:
        return error_response(error, self._vendor_of(request), self._redactor_of(request))

    def _redactor_of(self, request: web.Request) -> Redactor:
        """What knows the secrets of this request: its run's own, or one made of its headers and its query."""
        if RUN_REDACTOR in request:
            return request[RUN_REDACTOR]
        redactor = self._redactor.child()
        redactor.register(*secret_headers(request.headers), *request.query.getall("key", ()))
        return redactor

    def _vendor_of(self, request: web.Request) -> Vendor | None:
        """The dialect whose error shape this path promises."""
        path = split_prefix(request.path).path
        if not path.startswith(("/v1/", "/v1beta/", "/v1alpha/")):
            return None
        name = detect_vendor(path, request.headers, request.query)
        return self._vendors[name] if name is not None else None


GUARD: web.AppKey[Guard] = web.AppKey("guard", Guard)


class _Misframed(BadRequest):
    """Where this request ends may be read in two ways, so nothing that follows on its connection is believed."""


def check_framing(request: web.Request) -> None:
    """Refuse what the parser lets through and a server before this one may read differently (request smuggling; RFC 9112,
    2.3 and 6.1). Raises BadRequest, after which the connection is closed."""
    version = request.version
    if version not in (HttpVersion11, HttpVersion10):
        raise _Misframed("This server speaks HTTP/1.1 and HTTP/1.0 here.")
    coding = request.headers.get("Transfer-Encoding")
    if coding is not None and (coding.strip().lower() != "chunked" or version == HttpVersion10):
        raise _Misframed("The only transfer encoding that this server takes is 'chunked', in HTTP/1.1.")
    if request.method == "CONNECT":
        raise _Misframed("This server is no proxy for connections (CONNECT).")


def check_hops(request: web.Request, most: int) -> None:
    """Refuse a request that has passed more than ``most`` servers of agentui. Raises RequestLoop."""
    if HOPS in request.headers and hops_of({HOPS: request.headers[HOPS]}) > most:
        raise RequestLoop(
            f"This request has passed more servers of agentui than AGENTUI_MAX_HOPS allows ({most}): a pipeline probably calls "
            "a server that calls it back. Change its base_url.",
            param="base_url",
        )


def check_host(request: web.Request, settings: Settings) -> None:
    """Refuse names that are not ours (DNS rebinding), in the Host header and in an absolute request target, which comes
    before it (RFC 9112, 3.2.2). Raises WrongHost."""
    host = request.headers.get("Host", "")
    allowed = settings.own_hosts
    if _is_ours(host, settings.host, allowed):
        target = request.raw_path
        if target.startswith("/") or target == "*":
            return
        host = target.partition("://")[2].partition("/")[0].partition("?")[0]
        if _is_ours(host, settings.host, allowed):
            return
    raise WrongHost(
        f"This server is not called {_name_of(host)[:100] or 'nothing'!r}. If it should be, add the name to "
        "AGENTUI_ALLOWED_HOSTS."
    )


@lru_cache(maxsize=64)  # the callers of a server know it by few names
def _is_ours(header: str, own: str, allowed: tuple[str, ...]) -> bool:
    """Whether a Host header names this server, which listens on ``own``."""
    name = _name_of(header)
    if name and name in {"localhost", own.lower(), *(host.lower() for host in allowed)}:
        return True
    return _is_address(name, loopback_only=own == "localhost" or _is_address(own, loopback_only=True))


def _name_of(header: str) -> str:
    """The name in a Host header, in lower case and without its port; "" for what is no Host header."""
    host = _HOST.fullmatch(header)
    return host[1].strip("[]").lower() if host is not None else ""


def _is_address(name: str, *, loopback_only: bool) -> bool:
    """True for an IP address: rebinding needs a name, so beyond loopback any address may be ours."""
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or not loopback_only


def check_origin(request: web.Request, settings: Settings) -> None:
    """Refuse requests that a page of another origin makes; other sites may link to the editor's page. Raises Forbidden."""
    origin = request.headers.get("Origin")
    allowed = settings.cors_origins
    if origin is not None:
        # Either scheme: behind a proxy that ends TLS the page is https and the request that arrives here is not.
        host = request.headers.get("Host", "")
        if origin not in allowed and origin not in (f"http://{host}", f"https://{host}"):
            raise Forbidden(
                "A page of another origin may not call this server. Add its origin to AGENTUI_CORS_ORIGINS if it should."
            )
        return
    # Another port of this computer is the same site and another origin.
    if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and not _opens_the_page(request):
        raise Forbidden("A page of another site may not call this server.")


def check_own_page(request: web.Request) -> None:
    """Refuse a write that comes in by a cookie and was not made by a page of this very origin: a browser sends cookies along
    with what other ports of this computer ask for, too (``SameSite`` knows sites, not origins). Raises Forbidden."""
    host = request.headers.get("Host", "")
    origin = request.headers.get("Origin")
    is_own = (
        origin in (f"http://{host}", f"https://{host}")
        if origin is not None
        else (request.headers.get("Sec-Fetch-Site") == "same-origin")
    )
    if not is_own:
        raise Forbidden("What somebody who is signed in changes, only the page of this server may ask for.")


def _opens_the_page(request: web.Request) -> bool:
    """True when somebody follows a link to the editor's page, in a window of its own."""
    return (
        request.method == "GET"
        and request.headers.get("Sec-Fetch-Mode") == "navigate"
        and request.headers.get("Sec-Fetch-Dest", "document") == "document"
        and request.path in PAGES
    )


def check_content_type(request: web.Request) -> None:
    """Refuse bodies that a page of another site may send without asking first: forms and plain text. JSON passes, and so does
    what has no body; the routes that need one ask for it themselves. What leads nowhere is told so first. A route that takes
    files takes forms; there ``check_origin`` alone keeps other sites' pages out.

    Raises WrongContentType."""
    if request.method in SAFE_METHODS or request.match_info.http_exception is not None:
        return
    content_type = request.headers.get("Content-Type", "")
    if is_form(content_type):
        route = passed_route(split_prefix(request.path).path, request.method)
        is_picture = request.method == "PUT" and request.path.endswith(PICTURE)
        if (route is not None and route.body == "form") or request.path.startswith(IMPORTS) or is_picture:
            return
    if (request.can_read_body or content_type.partition(";")[0].strip().lower() in _SIMPLE) and not is_json(content_type):
        raise WrongContentType("The content type must be application/json: send the header 'Content-Type: application/json'.")


async def _refuse_expectation(request: web.Request) -> web.StreamResponse:
    refused = BadRequest("The only expectation that this server meets is '100-continue'.")
    refused.status = 417
    raise refused


def _preflight() -> web.Response:
    """The answer to a browser's question; ``Guard.add_headers`` adds the origin where it is allowed."""
    return web.Response(
        status=204,
        headers={
            "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
            "access-control-allow-headers": "*, authorization",
            "access-control-max-age": "600",
        },
    )


def _of_http(error: web.HTTPException, request: web.Request) -> AgentUIError:
    """aiohttp's own refusals as ours."""
    if error.status == 404:
        return NotFound(f"There is nothing at {request.method} {request.path[:200]}.")
    if error.status == 405:
        allowed = ", ".join(sorted(getattr(error, "allowed_methods", ())))
        return MethodNotAllowed(f"{request.path[:200]} does not take {request.method}; it takes {allowed}.")
    refused = AgentUIError(f"The request was refused: {error.reason}.")
    refused.status = error.status
    return refused
