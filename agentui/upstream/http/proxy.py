"""A proxy on the way to an origin: what it is, and the tunnel that it makes.

http://, https://      CONNECT for an https origin; for an http one the whole URL is asked for (RFC 9112, 3.2.2)
socks5://, socks5h://  python-socks for both; the first is told an address, the second the name
"""

import asyncio
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from socket import socket
from typing import Literal, Protocol, TypeAlias, cast
from urllib.parse import unquote

from aiohappyeyeballs import AddrInfoType
from python_socks import ProxyConnectionError, ProxyError, ProxyType
from python_socks.async_.asyncio import Proxy as SocksClient

MAX_TUNNEL_HEAD = 16 * 1024
"""Bytes of a proxy's answer to CONNECT."""
_LONGEST = 255
"""Characters of a name or a password that SOCKS5 can carry (RFC 1929)."""
_NO_LIMIT = 86_400.0
"""Seconds: the call's own clock rings long before."""

Scheme: TypeAlias = Literal["http", "https", "socks5", "socks5h"]
PORTS: dict[Scheme, int] = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
"""The schemes that a proxy's address may have, and the port of each where none is written."""
_ADDRESS = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]*)://)?(?:([^/?#\s]*)@)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?/?"
)
_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?: |\r?$)", re.MULTILINE)

_PASSING = {1: "failed", 3: "does not reach it", 4: "does not reach it", 5: "was refused there", 6: "does not reach it"}
"""SOCKS5's replies that another attempt may change (RFC 1928, 6)."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy: how it is spoken to, where it is, and who asks. Its credentials are not part of its repr."""

    scheme: Scheme
    host: str
    port: int
    username: str | None = field(default=None, repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def parse(cls, text: str) -> "Proxy":
        """The proxy that an address names; without a scheme it is an http one. Raises ValueError, which quotes nothing."""
        match = _ADDRESS.fullmatch(text.strip())
        if match is None:
            raise ValueError("a proxy's address looks like http://host:3128, https://, socks5:// or socks5h://")
        scheme = (match[1] or "http").lower()
        scheme = "socks5h" if scheme == "socks" else scheme  # which desktops write
        if scheme not in PORTS:
            raise ValueError("a proxy's address begins with http://, https://, socks5:// or socks5h://")
        port = int(match[4]) if match[4] else PORTS[scheme]
        if not 0 < port < 65536:
            raise ValueError("a proxy's port is a number from 1 to 65535")
        username, _, password = ("", "", "") if match[2] is None else match[2].partition(":")
        name, secret = unquote(username), unquote(password)
        if scheme.startswith("socks") and not all(part.isascii() and len(part) <= _LONGEST for part in (name, secret)):
            raise ValueError("SOCKS5 takes user names and passwords of at most 255 ASCII characters")
        return cls(cast(Scheme, scheme), match[3].strip("[]").lower(), port, None if match[2] is None else name, secret)

    @property
    def name(self) -> str:
        """How errors name it: host and port, never who asks."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_socks(self) -> bool:
        """True when it speaks SOCKS5."""
        return self.scheme.startswith("socks")

    @property
    def resolves_names(self) -> bool:
        """True when it is told the upstream's name, and not an address."""
        return self.scheme != "socks5"

    @property
    def authorization(self) -> str:
        """The header line that says who asks, with its end; "" where nobody is named."""
        if self.username is None:
            return ""
        return f"Proxy-Authorization: Basic {b64encode(f'{self.username}:{self.password}'.encode()).decode()}\r\n"


class ProxyFault(Exception):
    """The proxy did not do its part; the text goes on after its name, or a cause says what happened. ``is_passing`` when
    another attempt may help."""

    def __init__(self, text: str = "", *, is_passing: bool = False, status: int | None = None) -> None:
        super().__init__(text)
        self.is_passing = is_passing
        self.status = status


class Switchable(Protocol):
    """What a tunnel is made over: bytes go out, and the protocol that hears what comes in can be another later."""

    def write(self, data: bytes) -> None:
        """Send bytes."""

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """From now on another one hears."""


class TunnelRequest(asyncio.Protocol):
    """Asks an HTTP proxy for a tunnel: CONNECT goes out, the head of the answer comes in."""

    def __init__(self) -> None:
        self._received = b""
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        """Gather the head; what follows it was said before we said anything."""
        self._received += data
        if b"\r\n\r\n" in self._received or b"\n\n" in self._received or len(self._received) > MAX_TUNNEL_HEAD:
            self._end()

    def eof_received(self) -> None:
        """The proxy will say no more."""
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._end()

    async def ask(self, transport: Switchable, proxy: Proxy, host: str, port: int) -> None:
        """Ask for a tunnel to ``host``, and wait until it stands. Raises ProxyFault."""
        authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        transport.write(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{proxy.authorization}\r\n".encode())
        _check_answer(await self._answer, host)

    def _end(self) -> None:
        if not self._answer.done():
            self._answer.set_result(self._received)


def _check_answer(answer: bytes, host: str) -> None:
    """Raise ProxyFault unless the answer to CONNECT says that the tunnel stands."""
    head, end, rest = answer.partition(b"\r\n\r\n")
    if not end:
        head, end, rest = answer.partition(b"\n\n")
    if not answer:
        raise ProxyFault("closed the connection without an answer", is_passing=True)
    match = _STATUS.match(head)
    if match is None or not end:
        raise ProxyFault("answered with something that is not HTTP; is it an HTTP proxy?")
    check_status(int(match[1]), host)
    fields = dict(line.lower().split(b":", 1) for line in head.splitlines()[1:] if b":" in line)
    if rest or fields.get(b"content-length", b"0").strip() != b"0" or b"html" in fields.get(b"content-type", b""):
        raise ProxyFault(f"answered with a page of its own and not with a connection to {host}; is it a proxy?")


def check_status(status: int, host: str) -> None:
    """Raise ProxyFault for a status with which a proxy refuses to connect to ``host``."""
    if 200 <= status < 300:
        return
    if status == 407:
        raise ProxyFault("wants a user name and a password, or other ones than these (407)", status=status)
    raise ProxyFault(f"did not connect to {host}: it answered {status}", is_passing=status >= 500, status=status)


async def connect_socks(proxy: Proxy, addresses: Sequence[AddrInfoType], goals: Sequence[str], port: int, name: str) -> socket:
    """A socket through a SOCKS5 proxy, at the first of its addresses (``addresses``) that takes connections, to the first of
    ``goals`` that it reaches; ``name`` is what errors call them. Raises ProxyFault, and OSError when it cannot be reached."""
    failure: Exception = OSError("no address")
    for goal in goals:
        for address in addresses:
            client = SocksClient(ProxyType.SOCKS5, address[4][0], proxy.port, proxy.username, proxy.password, rdns=True)
            try:
                return await client.connect(goal, port, timeout=_NO_LIMIT)
            except ProxyConnectionError as error:
                failure = error
            except ProxyError as error:
                failure = _of_socks(error, name)
                break  # it is there; another of its addresses would say the same
    raise failure


def _of_socks(error: ProxyError, name: str) -> ProxyFault:
    """What a SOCKS5 proxy's refusal means."""
    code = error.error_code
    if code in _PASSING:
        return ProxyFault(f"did not connect to {name}: it {_PASSING[code]}", is_passing=True)
    if code == 2:
        return ProxyFault(f"does not allow connections to {name}")
    if code is not None:
        return ProxyFault(f"did not connect to {name} (SOCKS5 reply {code})")
    return ProxyFault("did not accept us: its user name or password is another one, or it does not speak SOCKS5")
