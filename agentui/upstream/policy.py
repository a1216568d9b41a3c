"""Where connections may go: the rules about addresses (SSRF).

Two checks, because a name says nothing about where it leads: ``check_url`` reads the URL as it is written, and
``PolicyResolver`` judges the addresses that a name resolves to, which are the ones that get connected to.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from agentui.errors import UpstreamProxyFailed, UpstreamUnreachable
from agentui.upstream.http.pool import ForbiddenAddress
from agentui.upstream.own import OwnAddresses

_UNFIT = re.compile(r"[\x00-\x1f\x7f\\]")
_AUTHORITY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)")
_NUMERIC = re.compile(r"(?:0[xX][0-9a-fA-F]*|[0-9]+)")
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}")

_NEVER = tuple(
    (ipaddress.ip_network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "an unspecified address"),
        ("100.100.100.200/32", "a cloud's metadata service"),
        ("168.63.129.16/32", "a cloud's metadata service"),
        ("169.254.0.0/16", "a link-local address, where clouds keep their metadata"),
        ("192.0.0.192/32", "a cloud's metadata service"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved or broadcast address"),
        ("::/128", "an unspecified address"),
        ("64:ff9b:1::/48", "a translator's address, which stands for an IPv4 one"),  # RFC 8215; where it stands in it is local
        ("fd00:42::42/128", "a cloud's metadata service"),
        ("fd00:ec2::/32", "a cloud's metadata service"),
        ("fd20:ce::/32", "a cloud's metadata service"),
        ("fe80::/10", "a link-local address"),
        ("ff00::/8", "a multicast address"),
    )
)
_ITSELF = "this server itself, and a pipeline that calls its own server may go round for ever (AGENTUI_ALLOW_SELF)"
_PRIVATE_TOO = tuple(ipaddress.ip_network(network) for network in ("100.64.0.0/10", "fec0::/10"))
"""Private, though not every Python version counts them so."""
_METADATA_NAMES = frozenset(
    {
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.azure.internal",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.tencentyun.com",
    }
)
_PRIVATE_ZONES = (".corp", ".home", ".home.arpa", ".internal", ".intranet", ".lan", ".local", ".localdomain", ".private")
"""Names that no public server has (RFC 6762, RFC 8375, and what networks use)."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_TRANSLATED = ipaddress.ip_network("::ffff:0:0:0/96")


class AddressPolicy:
    """What may be connected to.

    ``allow_private`` opens loopback and private networks, where local models live. ``trusted`` are URLs whose host and
    port are reachable even without it, because the operator named them. Metadata services, link-local, multicast and
    unspecified addresses are never reachable.
    """

    def __init__(self, *, allow_private: bool = True, trusted: Iterable[str] = ()) -> None:
        self.own = OwnAddresses()
        """Where this server itself listens; nothing, until somebody says so."""
        self._allow_private = allow_private
        self._trusted = frozenset((url.raw_host, url.port) for url in map(URL, trusted))

    def check_url(self, text: str) -> URL:
        """Parse a URL that may be called. Raises UpstreamUnreachable saying what is wrong with it, without quoting it."""
        match = _AUTHORITY.match(text)
        if match is None or match[1].lower() not in ("http", "https"):
            raise UpstreamUnreachable("An upstream's address begins with http:// or https://; this one does not.")
        if _UNFIT.search(text) or re.search(r"\s", match[2]):
            raise UpstreamUnreachable("The upstream's address contains a control character, a backslash or a space.")
        if "@" in match[2]:
            raise UpstreamUnreachable("The upstream's address contains credentials; put them into a header instead.")
        try:
            url = URL(text)
        except ValueError as error:
            raise UpstreamUnreachable("The upstream's address is not a URL: check its host and port.") from error
        host = url.raw_host
        if not host:
            raise UpstreamUnreachable("The upstream's address names no host.")
        self._check_host(host, url.port)
        if self.own.has_name(host, url.port):
            raise UpstreamUnreachable(f"{host} is {_ITSELF}; it is never called.", host=host)
        return url

    def check_proxy(self, host: str, port: int) -> None:
        """Judge a proxy's own address, as ``check_url`` does a URL's. Raises UpstreamProxyFailed."""
        try:
            self._check_host(host, port)
        except UpstreamUnreachable as error:
            raise UpstreamProxyFailed(f"The proxy cannot be used. {error.message}", proxy=host) from error

    def check_far_name(self, host: str, port: int | None) -> None:
        """Judge a name that a proxy will resolve: nobody here learns where it leads, so all there is to judge is its spelling.
        Raises UpstreamUnreachable."""
        name = host.lower().rstrip(".")
        if name in _METADATA_NAMES:
            raise UpstreamUnreachable(f"{host} is the name of a cloud's metadata service; it is never called.", host=host)
        is_private = ":" not in name and ("." not in name or name.endswith(_PRIVATE_ZONES))
        if is_private and not self._allow_private and (host, port) not in self._trusted:
            raise UpstreamUnreachable(
                f"{host} is a name of a private network, and this server may not call those (AGENTUI_ALLOW_PRIVATE).", host=host
            )

    def forbids(self, address: str, host: str, port: int | None) -> str | None:
        """Why ``address`` (to which the URL's ``host`` and ``port`` led) must not be connected to, or None."""
        ip = ipaddress.ip_address(address.partition("%")[0])
        inner = _embedded(ip)
        for candidate in (ip,) if inner is None else (ip, inner):
            for network, reason in _NEVER:
                if candidate in network:
                    return reason
        target = inner or ip
        if self.own.has_address(str(target), port):
            return _ITSELF
        if self._allow_private or (host, port) in self._trusted:
            return None
        if not target.is_global or any(target in network for network in _PRIVATE_TOO):
            return "a private address, and this server may not call those (AGENTUI_ALLOW_PRIVATE)"
        return None

    def _check_host(self, host: str, port: int | None) -> None:
        """Judge the host of a URL: a literal address here and now, a name by its spelling only."""
        if ":" in host:
            self._check_ipv6(host, port)
            return
        last = host.rstrip(".").rpartition(".")[2]
        if _NUMERIC.fullmatch(last):  # browsers read such a host as a number, and so does the C library
            self._check_ipv4(host, port)
        elif not _HOST.fullmatch(host):
            raise UpstreamUnreachable("The host of the upstream's address contains characters that no host name has.")

    def _check_ipv4(self, host: str, port: int | None) -> None:
        """A literal IPv4 address in the one spelling that everybody reads alike."""
        try:
            address = str(IPv4Address(host))
        except ValueError as error:
            raise UpstreamUnreachable(
                "The upstream's address spells an IPv4 address in an unusual way; write four decimal numbers."
            ) from error
        self._refuse(address, host, port)

    def _check_ipv6(self, host: str, port: int | None) -> None:
        """A literal IPv6 address, without zone and without an IPv4 address inside."""
        try:
            address = IPv6Address(host)
        except ValueError as error:
            raise UpstreamUnreachable("The upstream's address contains a broken IPv6 address.") from error
        if address.scope_id is not None or "%" in host:
            raise UpstreamUnreachable("The upstream's address names a network interface, which is not allowed.")
        if _embedded(address) is not None:
            raise UpstreamUnreachable("The upstream's address hides an IPv4 address in an IPv6 one; write it as IPv4.")
        self._refuse(str(address), host, port)

    def _refuse(self, address: str, host: str, port: int | None) -> None:
        """Raise UpstreamUnreachable when the policy forbids a literal address."""
        reason = self.forbids(address, host, port)
        if reason is not None:
            raise UpstreamUnreachable(f"{address} is {reason}; it is never called.", host=address)


class PolicyResolver(AbstractResolver):
    """Looks names up and lets only allowed addresses through. Raises ForbiddenAddress when none is left."""

    def __init__(self, policy: AddressPolicy, inner: AbstractResolver | None = None) -> None:
        self._policy = policy
        self._inner = inner or ThreadedResolver()

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        """The allowed addresses of ``host``. Raises OSError when the name has none at all."""
        try:
            found = await self._inner.resolve(host, port, family)
        except UnicodeError as error:  # an empty or overlong label, refused by the IDNA codec
            raise OSError("not a host name") from error
        reasons = [self._policy.forbids(entry["host"], host, port) for entry in found]
        allowed = [entry for entry, reason in zip(found, reasons, strict=True) if reason is None]
        if found and not allowed:
            raise ForbiddenAddress(next(reason for reason in reasons if reason is not None))
        return allowed

    async def close(self) -> None:
        """Close what looks names up."""
        await self._inner.close()


def _embedded(ip: IPv4Address | IPv6Address) -> IPv4Address | None:
    """The IPv4 address inside an IPv6 one: mapped, compatible, 6to4, Teredo, NAT64, translated (RFC 2765) or ISATAP."""
    if isinstance(ip, IPv4Address):
        return None
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip.sixtofour is not None:
        return ip.sixtofour
    if ip.teredo is not None:
        return ip.teredo[1]
    number = int(ip)
    is_isatap = number >> 32 & 0xFDFFFFFF == 0x5EFE  # RFC 5214, 6.1: with the universal bit or without
    if ip in _NAT64 or ip in _TRANSLATED or is_isatap or 1 < number < 2**32:
        return IPv4Address(number & 0xFFFFFFFF)
    return None
