"""Look-ups of names, remembered for a moment."""

import asyncio
import ipaddress
import socket
import time

from aiohappyeyeballs import AddrInfoType
from aiohttp.abc import ResolveResult

from agentui.upstream.policy import PolicyResolver

TTL = 30.0
"""Seconds that a look-up is remembered; failures are not."""
_KEPT = 1024
"""Look-ups remembered at most."""


class UnknownName(Exception):
    """A name that has no address."""


class Names:
    """The addresses behind names; many that ask for the same name at once share one look-up."""

    def __init__(self, resolver: PolicyResolver) -> None:
        self._resolver = resolver
        self._known: dict[tuple[str, int], tuple[float, list[AddrInfoType]]] = {}
        self._under_way: dict[tuple[str, int], asyncio.Task[list[AddrInfoType]]] = {}

    async def addresses(self, host: str, port: int) -> list[AddrInfoType]:
        """Where ``host`` may be reached. Raises UnknownName, and ForbiddenAddress when policy allows none of its addresses.

        A literal address stands for itself: ``check_url`` has judged it.
        """
        literal = _literal(host, port)
        if literal is not None:
            return [literal]
        until, found = self._known.get((host, port), (0.0, []))
        if time.monotonic() < until:
            return found
        task = self._under_way.get((host, port))
        if task is None:
            task = self._under_way[host, port] = asyncio.create_task(self._look_up(host, port))
            task.add_done_callback(_heard_of)
        await asyncio.wait([task])  # which leaves the look-up to the others when this caller is cancelled
        if task.cancelled():
            raise UnknownName(host)
        return task.result()

    async def close(self) -> None:
        """Stop every look-up."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._resolver.close()

    async def _look_up(self, host: str, port: int) -> list[AddrInfoType]:
        """Ask, and remember the answer."""
        try:
            found = [_address(entry) for entry in await self._resolver.resolve(host, port, socket.AF_UNSPEC)]
        except OSError as error:
            raise UnknownName(host) from error
        finally:
            del self._under_way[host, port]
        if not found:
            raise UnknownName(host)
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[host, port] = (time.monotonic() + TTL, found)
        return found


def _literal(host: str, port: int) -> AddrInfoType | None:
    """The address that ``host`` spells, None for a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (str(address), port)


def _address(entry: ResolveResult) -> AddrInfoType:
    """What a resolver found, as a socket wants it."""
    return entry["family"], socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (entry["host"], entry["port"])


def _heard_of(task: "asyncio.Task[list[AddrInfoType]]") -> None:
    """Look at a look-up's failure, which everybody who waited for it may have left behind."""
    if not task.cancelled():
        task.exception()
