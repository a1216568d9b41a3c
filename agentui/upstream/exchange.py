"""One attempt at a call: the request out, the answer's headers in, and what it means when that fails."""

import errno
import io
import os
import ssl
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from aiohttp import (
    ClientConnectionError,
    ClientConnectorCertificateError,
    ClientConnectorDNSError,
    ClientConnectorError,
    ClientError,
    ClientSession,
    ClientTimeout,
    ServerTimeoutError,
)
from yarl import URL

from agentui.errors import UpstreamError, UpstreamInvalid, UpstreamTimeout, UpstreamTruncated, UpstreamUnreachable
from agentui.upstream.call import Attempt, UpstreamCall
from agentui.upstream.origins import host_of
from agentui.upstream.policy import ForbiddenAddress
from agentui.upstream.retry import Setback
from agentui.upstream.stream import UpstreamStream
from agentui.upstream.wire import Answer, Disconnected, Watch, watching

_IN_PIECES = 64 * 1024
"""Bodies beyond this many bytes are written piece by piece, so that an early refusal is heard before the end."""

Health = Literal["good", "bad", "unknown"]


class Exchange:
    """One attempt. After ``run`` either ``answer`` is set or ``error``; ``setback`` says whether to try again.

    ``health`` is what the attempt says about the origin: a 4xx is a healthy one's answer, a deadline of ours says nothing.
    ``stale`` means that a kept connection had been closed by the upstream and the request was never looked at.
    """

    def __init__(self, call: UpstreamCall, host: str) -> None:
        self._call = call
        self._host = host
        self._started = time.monotonic()
        self._watch = Watch(_within(call.timeouts.first_byte, call.deadline, self._started))
        self._stream: UpstreamStream | None = None
        self.answer: Answer | None = None
        self.headers: Mapping[str, str] = {}
        self.error: UpstreamError | None = None
        self.setback: Setback = "final"
        self.health: Health = "good"
        self.stale = False

    async def run(self, session: ClientSession, url: URL, headers: Mapping[str, str]) -> None:
        """Make the attempt. Raises nothing but CancelledError: what goes wrong is in ``error``."""
        limit = _within(self._call.timeouts.connect, self._call.deadline, self._started)
        if limit <= 0:
            self._too_late()
            return
        body = self._call.body
        data = io.BytesIO(body) if body is not None and len(body) > _IN_PIECES else body
        token = watching.set(self._watch)
        try:
            answer = await session.request(
                self._call.method,
                url,
                headers=headers,
                data=data,
                allow_redirects=False,
                timeout=_client_timeout(limit),
            )
        except (Disconnected, ForbiddenAddress, ClientError, OSError) as error:
            self._failed(error)
            return
        finally:
            watching.reset(token)
        assert isinstance(answer, Answer)
        self._answered(answer)

    def stream(self) -> UpstreamStream:
        """The answer, ready to be read. Raises UpstreamInvalid when it is compressed in a way that nobody asked for."""
        assert self.answer is not None
        call = self._call
        self._stream = UpstreamStream(self.answer, self.headers, self._host, call.timeouts.idle, call.deadline)
        return self._stream

    def close(self) -> None:
        """Leave: the connection is dropped unless the answer has come to its end."""
        if self._stream is not None:
            self._stream.close()
        if self.answer is not None:
            self.answer.abort()

    @property
    def is_broken(self) -> bool:
        """True when the upstream failed in the middle of its answer."""
        return self._stream is not None and self._stream.is_broken

    def report(self, number: int, wait: float | None) -> Attempt:
        """The attempt as ``on_attempt`` hears of it."""
        return Attempt(
            number=number,
            host=self._host,
            started=self._started,
            connected=self._watch.connected,
            first_byte=self._watch.first_byte,
            status=None if self.answer is None else self.answer.status,
            error=None if self.error is None else self.error.message,
            wait=wait,
        )

    def _answered(self, answer: Answer) -> None:
        """Headers are there: keep them, and refuse what is no final answer."""
        self.answer = answer
        headers: dict[str, str] = {}
        for name, value in answer.headers.items():
            headers.setdefault(name.lower(), value)
        headers.pop("set-cookie", None)
        self.headers = headers
        self.setback = answer.status
        if answer.status >= 500:
            self.health = "bad"
        if answer.status < 200 or 300 <= answer.status < 400:
            self._no_answer(answer.status, headers.get("location"), answer.url)
            answer.abort()

    def _no_answer(self, status: int, location: str | None, url: URL) -> None:
        """A redirect (never followed: keys would go along) or a protocol that we do not speak."""
        self.setback = "final"
        goal = None if location is None else _origin_of(location, url)
        if goal is not None:
            text = f"{self._host} redirects to {goal}; if that is where the model lives, change base_url to it."
        else:
            text = f"{self._host} answered with status {status}, which is no answer to such a request."
        self.error = UpstreamInvalid(text, host=self._host, upstream_status=status)

    def _failed(self, error: BaseException) -> None:
        """Say what went wrong in words that hold no path, query or key."""
        self.health = "bad"
        self.error, self.setback = self._explain(error)
        if isinstance(error, (ClientConnectorError, Disconnected)):
            self.error.__cause__ = error  # aiohttp's other errors quote the URL or the bytes that came, keys included

    def _explain(self, error: BaseException) -> tuple[UpstreamError, Setback]:
        """The error that a failure of the attempt is, and whether another attempt may help."""
        host = self._host
        if self._watch.expired:
            return self._slow_headers(), "final"
        match error:
            case Disconnected(stale=stale):
                self.stale = stale
                text = f"{host} closed the connection before it answered."
                return UpstreamTruncated(text, host=host), "connect"
            case ForbiddenAddress():
                self.health = "unknown"
                return UpstreamUnreachable(f"{host} leads to {error}; it is never called.", host=host), "final"
            case ServerTimeoutError():
                return self._slow_connection(), "final"
            case ClientConnectorDNSError():
                text = f"The name {host} could not be resolved; check base_url and the network."
                return UpstreamUnreachable(text, host=host), "final"
            case ClientConnectorCertificateError():
                return UpstreamUnreachable(_certificate_text(host, error.certificate_error), host=host), "final"
            case ClientConnectorError() if isinstance(error.os_error, ssl.SSLError):
                return UpstreamUnreachable(_certificate_text(host, error.os_error), host=host), "final"
            case ClientConnectorError():
                return UpstreamUnreachable(_refusal_text(host, error.os_error), host=host), "connect"
            case ClientConnectionError() if self._watch.connected is None:
                # The kept connection was closing already when the request was to be written.
                self.stale = True
                return UpstreamTruncated(f"{host} closed the connection before it answered.", host=host), "connect"
            case _:
                text = f"{host} answered with something that is not well-formed HTTP."
                return UpstreamInvalid(text, host=host), "final"

    def _slow_headers(self) -> UpstreamTimeout:
        """No headers in time."""
        return self._timeout("first_byte", self._call.timeouts.first_byte, "did not begin to answer")

    def _slow_connection(self) -> UpstreamTimeout:
        """No connection in time."""
        return self._timeout("connect", self._call.timeouts.connect, "did not accept a connection")

    def _timeout(self, phase: str, limit: float, what: str) -> UpstreamTimeout:
        """The call's own clock or its deadline, whichever it was."""
        deadline = self._call.deadline
        if deadline is not None and time.monotonic() >= deadline:
            self.health = "unknown"
            text = f"The time for this call ran out: {self._host} {what}."
        else:
            text = f"{self._host} {what} within {limit:g} seconds."
        return UpstreamTimeout(text, host=self._host, phase=phase)

    def _too_late(self) -> None:
        """The deadline had passed before the attempt could begin."""
        self.health = "unknown"
        self.error = UpstreamTimeout(
            f"The time for this call ran out before {self._host} could be asked.", host=self._host, phase="connect"
        )


@lru_cache(maxsize=64)
def _client_timeout(connect: float) -> ClientTimeout:
    """aiohttp's clocks: only the one for connecting; the others are ours. (Cached: it is nearly always the same.)"""
    return ClientTimeout(total=None, connect=connect)


def _within(limit: float, deadline: float | None, now: float) -> float:
    """The smaller of a limit and the time left."""
    return limit if deadline is None else min(limit, deadline - now)


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
