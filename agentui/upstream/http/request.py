"""A request's head, as the bytes that go out, and where it goes."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from yarl import URL

from agentui import __version__
from agentui.errors import BadRequest
from agentui.upstream.http.proxy import Proxy

FRAMING = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that belong to one connection or one message on it, so that no caller and no node may set them."""

UNFIT = re.compile("[\\x00-\\x08\\x0a-\\x1f\\x7f\ud800-\udfff]")
"""Characters that no header's value may hold."""
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, 5.6.2
_BREAKS = re.compile(r"[\r\n\0]")
_DEFAULTS = {"accept": "*/*", "user-agent": f"agentui/{__version__}"}


class BodyAborted(Exception):
    """Whoever sends a body that is passed on while it comes has left before its end."""


@dataclass(frozen=True, slots=True)
class BodyStream:
    """A body that is passed on while it comes: its length in bytes, and what reads the next piece (b"" at the end).

    ``read`` raises AgentUIError for a body that is too slow or broken, and BodyAborted. What was read is gone, so a request
    with such a body is tried once.
    """

    length: int
    read: Callable[[], Awaitable[bytes]]


class Origin(NamedTuple):
    """What a connection leads to: TLS or none, the host as written (names in ASCII), the port, and the proxy on the way."""

    is_tls: bool
    host: str
    port: int
    proxy: Proxy | None = None

    @property
    def forwarder(self) -> Proxy | None:
        """The proxy that reads the requests itself, as HTTP ones do for an http origin; None where nobody does."""
        return None if self.proxy is None or self.is_tls or self.proxy.is_socks else self.proxy


@dataclass(frozen=True, slots=True)
class UpstreamTarget:
    """One URL that may be called, taken apart once. ``host`` is how errors name it; ``lines`` continue a request after its
    method."""

    url: URL
    origin: Origin
    host: str
    lines: str

    @classmethod
    def of(cls, url: URL, proxy: Proxy | None = None) -> "UpstreamTarget":
        """The target that an absolute http or https URL is, reached through ``proxy``."""
        host = host_of(url)
        origin = Origin(url.scheme == "https", url.raw_host or "", url.port or 0, proxy)
        if (forwarder := origin.forwarder) is not None:
            lines = f" http://{host}{url.raw_path_qs} HTTP/1.1\r\nHost: {host}\r\n{forwarder.authorization}"
        else:
            lines = f" {url.raw_path_qs} HTTP/1.1\r\nHost: {host}\r\n"
        return cls(url, origin, host, lines)


def host_of(url: URL) -> str:
    """The host as errors name it, with its port where that is not the scheme's own; never a path, query or user."""
    return url.host_port_subcomponent or url.raw_host or ""


def is_token(text: str) -> bool:
    """True for what RFC 9110 lets a method or a header's name be."""
    return _TOKEN.fullmatch(text) is not None


def check_header(name: str, value: str) -> None:
    """Raise BadRequest naming the header (never its value) when the pair cannot stand in a request."""
    if not is_token(name):
        raise BadRequest(f"{name!r:.80} cannot be a header's name: use letters, digits and '-'.", param="headers")
    if _BREAKS.search(value):
        raise BadRequest(f"The value of the header {name!r} contains a line break or a NUL; remove it.", param=name)
    if UNFIT.search(value):
        raise BadRequest(f"The value of the header {name!r} contains a character that no header may hold.", param=name)


def render_head(method: str, target: UpstreamTarget, headers: Mapping[str, str], length: int | None) -> bytes:
    """The request line and headers, with the empty line that ends them; ``length`` is the body's, None where there is none.

    Headers of the connection are left out, compression is not asked for, and of two spellings of a name the last one goes
    out. Raises BadRequest for a method or a header that is none.
    """
    head = _without_length(method, target.lines, tuple(headers.items()))
    return (f"{head}\r\n" if length is None else f"{head}content-length: {length}\r\n\r\n").encode()


def with_headers(head: bytes, headers: Mapping[str, str]) -> bytes:
    """A whole head with further headers. Raises BadRequest for one that is none."""
    for name, value in headers.items():
        check_header(name, value)
    return head[:-2] + "".join([f"{name}: {value}\r\n" for name, value in headers.items()]).encode() + b"\r\n"


@lru_cache(maxsize=64)  # a caller's requests differ in their bodies; what is kept is less than the run log keeps of them
def _without_length(method: str, target: str, headers: tuple[tuple[str, str], ...]) -> str:
    """The head without the length and the end."""
    if not is_token(method):
        raise BadRequest(f"{method!r:.40} cannot be a request's method.", param="method")
    outgoing = _DEFAULTS.copy()
    for name, value in headers:
        check_header(name, value)
        outgoing[name.lower()] = value
    for name in FRAMING & outgoing.keys():
        del outgoing[name]
    outgoing["accept-encoding"] = "identity"
    lines = "".join([f"{name}: {value}\r\n" for name, value in outgoing.items()])
    return f"{method}{target}{lines}"
