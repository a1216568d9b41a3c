"""Which proxy a call goes through: the node's own, the server's, or the environment's.

Pure: the environment is handed in.
"""

import ipaddress
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from types import MappingProxyType

from yarl import URL

from agentui.errors import UpstreamProxyFailed
from agentui.upstream.http.proxy import Proxy

DIRECT = "direct"
"""Written where a proxy's address may stand: no proxy."""
_NOTHING: Mapping[str, str] = MappingProxyType({})


class ProxyRules:
    """Chooses the proxy for an address.

    ``setting`` is the server's own (``AGENTUI_UPSTREAM_PROXY``: an address, ``direct``, or "" for what the environment says);
    ``environment`` holds ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY`` in either case of letters, where the
    lower one wins and an empty text is none.
    """

    def __init__(self, setting: str = "", environment: Mapping[str, str] = _NOTHING) -> None:
        self._setting = setting.strip()
        self._environment = environment
        self._exceptions = NoProxy(self._variable("NO_PROXY")[1])

    def choose(self, url: URL, own: str = "") -> Proxy | None:
        """The proxy to ``url``, None for a direct connection. ``own`` is what the node says: "" nothing.

        This computer is always called directly. Raises UpstreamProxyFailed for an address that is none, naming where it stands.
        """
        host, port = url.raw_host or "", url.port or 0
        if is_loopback(host) or own == DIRECT:
            return None
        if own:
            return _parsed(own, "The node's proxy", host)
        if self._exceptions.covers(host, port) or self._setting == DIRECT:
            return None
        if self._setting:
            return _parsed(self._setting, "AGENTUI_UPSTREAM_PROXY", host)
        for name in (f"{url.scheme.upper()}_PROXY", "ALL_PROXY"):
            source, text = self._variable(name)
            if text:
                return _parsed(text, source, host)
        return None

    def named(self) -> list[Proxy]:
        """The proxies that the operator named, those that can be read."""
        found = []
        for text in (self._setting, *(self._variable(f"{kind}_PROXY")[1] for kind in ("HTTPS", "HTTP", "ALL"))):
            try:
                found += [Proxy.parse(text)] if text and text != DIRECT else []
            except ValueError:
                continue  # the call that would go through it says so
        return found

    def _variable(self, name: str) -> tuple[str, str]:
        """A variable of the environment: how its name is written there, and its text."""
        for spelling in (name.lower(), name):
            text = self._environment.get(spelling, "").strip()
            if text:
                return spelling, text
        return name, ""


def check_setting(text: str) -> None:
    """Raise ValueError, which does not quote it, unless this is a proxy's address or ``direct``."""
    if text.strip() not in ("", DIRECT):
        Proxy.parse(text)


class NoProxy:
    """``NO_PROXY``: what is called directly. Entries are separated by commas or spaces.

    ``*`` covers everything, ``example.com`` (or ``.example.com``, ``*.example.com``) the name and all below it, an address
    itself, ``10.0.0.0/8`` every address in it; ``:8080`` behind a name or an address means that port only.
    """

    def __init__(self, text: str) -> None:
        self._entries = [_Entry(part) for part in text.replace(",", " ").split()]

    def covers(self, host: str, port: int) -> bool:
        """True when ``host`` (an IPv6 address without brackets) at ``port`` is called directly."""
        return any(entry.covers(host.lower().rstrip("."), port) for entry in self._entries)


class _Entry:
    """One of its entries, taken apart."""

    def __init__(self, text: str) -> None:
        self._network = _network(text)
        self._port: int | None = None
        if self._network is None and text != "*":
            head, colon, port = text.rpartition(":")
            if colon and port.isascii() and port.isdigit():
                text, self._port = head, int(port)
            self._network = _network(text)
        self._name = text.removeprefix("*").strip(".").lower()
        self._is_all = text == "*"

    def covers(self, host: str, port: int) -> bool:
        """Whether this entry covers a host in lower case and without a last dot."""
        if self._port not in (None, port):
            return False
        if self._is_all:
            return True
        if self._network is not None:
            try:
                return ipaddress.ip_address(host) in self._network
            except ValueError:
                return False  # a name; nobody has asked where it leads
        return bool(self._name) and (host == self._name or host.endswith(f".{self._name}"))


def _network(text: str) -> IPv4Network | IPv6Network | None:
    """The addresses that a text names, None for a name."""
    try:
        return ipaddress.ip_network(text.removeprefix("[").removesuffix("]"), strict=False)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """True for this computer, by its spelling: a loopback address, ``localhost`` and what lies below it (RFC 6761, 6.3)."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    inner = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (inner or address).is_loopback


def _parsed(text: str, source: str, host: str) -> Proxy:
    """The proxy behind an address. Raises UpstreamProxyFailed naming ``source`` and never quoting the text."""
    try:
        return Proxy.parse(text)
    except ValueError as error:
        raise UpstreamProxyFailed(f"{source} cannot be used to reach {host}: {error}.", host=host) from None
