"""Ports that nobody else gets: the tests run in several processes beside each other, and a port that was free a moment ago is
soon another's."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port() -> Iterator[int]:
    """A port of 127.0.0.1 at which nobody listens, and which the system gives to nobody else meanwhile.

    A server that is told this port may listen there, again and again: it takes an address that is in use as long as nobody
    listens at it (SO_REUSEADDR), as asyncio's servers, nginx and Caddy do.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]
