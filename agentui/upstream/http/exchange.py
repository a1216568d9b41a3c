"""One exchange: the request out, the answer's headers in, and what it means when that fails.

All moments are seconds of ``time.monotonic()``.
"""

import asyncio
import errno
import os
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from yarl import URL

from agentui.errors import (
    UpstreamError,
    UpstreamInvalid,
    UpstreamProxyFailed,
    UpstreamTimeout,
    UpstreamTruncated,
    UpstreamUnreachable,
)
from agentui.upstream.http.connection import Connection, Disconnected, Malformed
from agentui.upstream.http.pool import ForbiddenAddress, Pool, UnknownName
from agentui.upstream.http.proxy import ProxyFault, check_status
from agentui.upstream.http.request import BodyStream, UpstreamTarget, host_of
from agentui.upstream.http.stream import UpstreamStream

Health: TypeAlias = Literal["good", "bad", "unknown"]
Outcome: TypeAlias = int | Literal["connect", "final"]
"""What an exchange came to: the status of an answer, ``connect`` (no answer, and another try may help) or ``final``."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The three clocks of a call, in seconds.

    ``connect`` covers the name's look-up, the connection and TLS; ``first_byte`` runs from there to the answer's headers
    (long, because reasoning models think before they speak); ``idle`` is the silence allowed between reads after that.
    """

    connect: float = 5.0
    first_byte: float = 600.0
    idle: float = 120.0


class Exchange:
    """One request and its answer. After ``run`` either ``status`` is set or ``error`` (both for an answer that is none);
    ``outcome`` says whether to try again.

    ``deadline`` is a moment, or None where only ``timeouts`` limit the exchange. ``started``, ``connected`` and ``first_byte``
    are when it came that far. ``health`` is what the exchange says about the origin: a 4xx is a healthy one's answer, a
    deadline of ours says nothing. ``stale`` means that a kept connection had been closed by the upstream and the request was
    never looked at.
    """

    status: int | None = None
    headers: Mapping[str, str] = MappingProxyType({})
    error: UpstreamError | None = None
    outcome: Outcome = "final"
    health: Health = "good"
    stale = False
    connected: float | None = None
    first_byte: float | None = None
    _expired = False
    _connection: Connection | None = None
    _stream: UpstreamStream | None = None

    def __init__(
        self,
        pool: Pool,
        target: UpstreamTarget,
        *,
        method: str,
        body: bytes | BodyStream | None,
        timeouts: Timeouts,
        deadline: float | None,
    ) -> None:
        self._pool = pool
        self._target = target
        self._host = target.host
        self._method = method
        self._body = body
        self._timeouts = timeouts
        self._deadline = deadline
        self.started = time.monotonic()

    async def run(self, head: bytes, *, afresh: bool) -> None:
        """Make the attempt, ``afresh`` on a new connection. Raises CancelledError, and what ``BodyStream.read`` raises;
        the rest is in ``error``."""
        limit = self._left(self._timeouts.connect, self.started)
        if limit <= 0:
            self._too_late()
            return
        try:
            connection = None if afresh else self._pool.acquire(self._target.origin)
            if connection is None:
                connection = await self._connect(limit)
            if connection is not None:
                await self._send(connection, head)
                self._head_received(connection)
        except (Disconnected, Malformed, ForbiddenAddress, UnknownName, ProxyFault, OSError) as error:
            self._failed(error)

    def stream(self) -> UpstreamStream:
        """The answer, ready to be read. Raises UpstreamInvalid when it is compressed in a way that nobody asked for."""
        assert self._connection is not None
        self._stream = UpstreamStream(self._connection, self.headers, self._host, self._timeouts.idle, self._deadline)
        return self._stream

    def close(self) -> None:
        """Leave: the connection is dropped unless the answer has come to its end."""
        if self._stream is not None:
            self._stream.close()
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.release(connection)

    @property
    def is_broken(self) -> bool:
        """True when the upstream failed in the middle of its answer."""
        return self._stream is not None and self._stream.is_broken

    async def _connect(self, limit: float) -> Connection | None:
        """A new connection within ``limit`` seconds; None, with ``error`` set, when it takes longer."""
        clock = asyncio.timeout(limit)
        try:
            async with clock:
                return await self._pool.connect(self._target.origin)
        except TimeoutError:
            if not clock.expired():
                raise  # the system's own, which is shorter
        self.health = "bad"
        limit, proxy = self._timeouts.connect, self._target.origin.proxy
        if proxy is None or self._ends_before(self.started + limit):
            self.error = self._timeout("connect", self.started, limit, "did not accept a connection")
        else:
            text = f"The proxy {proxy.name} did not bring about a connection to {self._host} within {limit:g} seconds."
            self.error = UpstreamProxyFailed(text, host=self._host, proxy=proxy.name)
        return None

    async def _send(self, connection: Connection, head: bytes) -> None:
        """Send the request and wait for the answer's headers. Raises Disconnected or Malformed where there are none."""
        self.connected = time.monotonic()
        clock = self._begin_clock(connection)
        try:
            if isinstance(self._body, BodyStream):
                connection.send(head, None)
                connection.keep_no_longer()
                # An answer may come before the end of the body: an upstream that refuses wants no more of it.
                while not connection.status and (piece := await self._body.read()):
                    await connection.write(piece)
                    clock.cancel()
                    clock = self._begin_clock(connection)
            else:
                connection.send(head, self._body, is_bodiless=self._method == "HEAD")
            await connection.head_received()
        except BaseException:
            connection.abort()  # also where a caller leaves in the moment in which the headers arrive
            raise
        finally:
            clock.cancel()
        self.first_byte = time.monotonic()

    def _begin_clock(self, connection: Connection) -> asyncio.TimerHandle:
        """Give the upstream its time from now on: to take a piece of the body, and then to answer."""
        limit = max(0.0, self._left(self._timeouts.first_byte, time.monotonic()))
        return asyncio.get_running_loop().call_later(limit, self._expire, connection)

    def _expire(self, connection: Connection) -> None:
        """No headers in time: drop the connection, which wakes whoever waits for it. Whoever has been woken by headers that
        came in the last moment keeps them."""
        if not connection.status:
            self._expired = True
            connection.abort()

    def _head_received(self, connection: Connection) -> None:
        """Headers are there: keep them, and refuse what is no final answer."""
        self._connection = connection
        self.status = self.outcome = status = connection.status
        self.headers = headers = connection.headers
        headers.pop("set-cookie", None)
        if status == 407 and self._target.origin.forwarder is not None:
            self.close()
            self.status = None
            check_status(status, self._host)
        if status >= 500:
            self.health = "bad"
        elif status < 200 or 300 <= status < 400:
            self._no_answer(status, headers.get("location"))
            self.close()

    def _no_answer(self, status: int, location: str | None) -> None:
        """A redirect (never followed: keys would go along) or a protocol that we do not speak."""
        self.outcome = "final"
        goal = None if location is None else _origin_of(location, self._target.url)
        if goal is not None:
            text = f"{self._host} redirects to {goal}; if that is where the model lives, change base_url to it."
        else:
            text = f"{self._host} answered with status {status}, which is no answer to such a request."
        self.error = UpstreamInvalid(text, host=self._host, upstream_status=status)

    def _failed(self, error: Exception) -> None:
        """Say what went wrong in words that hold no path, query or key."""
        self.health = "bad"
        self.error, self.outcome = self._explain(error)
        # Without its frames: this exchange stands in them.
        self.error.__cause__ = error.with_traceback(None)

    def _explain(self, error: Exception) -> tuple[UpstreamError, Outcome]:
        """The error that a failure of the attempt is, and whether another attempt may help."""
        host = self._host
        if self._expired:
            since = self.connected or self.started
            return self._timeout("first_byte", since, self._timeouts.first_byte, "did not begin to answer"), "final"
        match error:
            case Disconnected(stale=stale):
                self.stale = stale
                text = f"{host} closed the connection before it answered."
                return UpstreamTruncated(text, host=host), "connect"
            case Malformed():
                text = f"{host} answered with something that is not well-formed HTTP."
                return UpstreamInvalid(text, host=host), "final"
            case ForbiddenAddress():
                self.health = "unknown"
                return UpstreamUnreachable(f"{host} leads to {error}; it is never called.", host=host), "final"
            case UnknownName():
                text = f"The name {host} could not be resolved; check base_url and the network."
                return UpstreamUnreachable(text, host=host), "final"
            case ProxyFault():
                return self._explain_proxy(error)
            case ssl.SSLError() | ssl.CertificateError():
                return UpstreamUnreachable(_certificate_text(host, error), host=host), "final"
            case OSError():
                return UpstreamUnreachable(_refusal_text(host, error), host=host), "connect"
            case _:
                raise error

    def _explain_proxy(self, fault: ProxyFault) -> tuple[UpstreamError, Outcome]:
        """The same where it was the proxy. One that says no is a healthy one, and says it again the next time."""
        proxy = self._target.origin.proxy
        assert proxy is not None
        name = f"the proxy {proxy.name}"
        match fault.__cause__:
            case None:
                text = f"{name} {fault}."
            case ForbiddenAddress() as cause:
                text = f"{name} leads to {cause}; it is never called."
            case UnknownName():
                text = f"{name} has a name that could not be resolved; check its address and the network."
            case ssl.SSLError() | ssl.CertificateError() as cause:
                text = _certificate_text(name, cause)
            case OSError() as cause:
                text = _refusal_text(name, cause)
            case cause:
                raise AssertionError from cause
        if not fault.is_passing:
            self.health = "unknown"
        error = UpstreamProxyFailed(text[0].upper() + text[1:], host=self._host, proxy=proxy.name)
        return error, "connect" if fault.is_passing else "final"

    def _timeout(self, phase: str, since: float, limit: float, what: str) -> UpstreamTimeout:
        """The call's own clock or its deadline, whichever was to ring first. (A clock may ring a little early.)"""
        if self._ends_before(since + limit):
            self.health = "unknown"
            text = f"The time for this call ran out: {self._host} {what}."
        else:
            text = f"{self._host} {what} within {limit:g} seconds."
        return UpstreamTimeout(text, host=self._host, phase=phase)

    def _ends_before(self, moment: float) -> bool:
        """True when the call's deadline comes before a moment."""
        return self._deadline is not None and self._deadline < moment

    def _left(self, limit: float, now: float) -> float:
        """Seconds until a limit that begins now, or the deadline if that is sooner."""
        deadline = self._deadline
        return limit if deadline is None else min(limit, deadline - now)

    def _too_late(self) -> None:
        """The deadline had passed before the attempt could begin."""
        self.health = "unknown"
        self.error = UpstreamTimeout(
            f"The time for this call ran out before {self._host} could be asked.", host=self._host, phase="connect"
        )


def _origin_of(location: str, base: URL) -> str | None:
    """The origin that a redirect leads to; None when it cannot be read."""
    try:
        goal = base.join(URL(location))
        return f"{goal.scheme}://{host_of(goal)}" if goal.raw_host else None
    except ValueError:
        return None


def _certificate_text(host: str, error: Exception) -> str:
    """What TLS disliked."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The certificate of {host} was not accepted: {error.verify_message}."
    if isinstance(error, ssl.CertificateError):
        return f"The certificate of {host} was not accepted."
    return f"No TLS connection (certificate exchange) with {host} came about; does it speak https at all?"


def _refusal_text(host: str, error: OSError) -> str:
    """Why there was no connection."""
    if isinstance(error, ConnectionRefusedError) or error.errno == errno.ECONNREFUSED:
        return f"{host} refused the connection; is the server running there?"
    if isinstance(error, ConnectionResetError):
        return f"{host} closed the connection while it was being made."
    reason = os.strerror(error.errno) if error.errno else "no reason given"
    return f"No connection to {host}: {reason}."
