"""This server's own addresses, which its pipelines do not call: a request that comes round costs more each time."""

import socket
from collections.abc import Iterable
from ipaddress import ip_address

_WEB_PORTS = (80, 443)
"""Where a reverse proxy listens for those who call the server by a name."""


class OwnAddresses:
    """Where a server listens (addresses and ports), and the names that it is called by.

    An unspecified address (``0.0.0.0``) stands for all of this computer.
    """

    def __init__(self, listening: Iterable[tuple[str, int]] = (), names: Iterable[str] = ()) -> None:
        self._listening = [(ip_address(host.partition("%")[0]), port) for host, port in listening]
        self._names = frozenset(name.lower().rstrip(".") for name in names)
        self._ports = {port for _, port in self._listening}

    def has_name(self, host: str, port: int | None) -> bool:
        """True when a URL's host is a name of this server, at its port or where a reverse proxy in front of it listens."""
        return host.lower().rstrip(".") in self._names and (port in self._ports or port in _WEB_PORTS)

    def has_address(self, address: str, port: int | None) -> bool:
        """True when whoever connects to ``address`` and ``port`` reaches this server."""
        if port not in self._ports:
            return False
        asked = ip_address(address.partition("%")[0])
        own = [ip for ip, its in self._listening if its == port]
        return asked in own or (any(ip.is_unspecified for ip in own) and _is_here(str(asked)))


def _is_here(address: str) -> bool:
    """True for an address of this computer: those are the ones that a socket can be bound to."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True
