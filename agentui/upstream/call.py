"""What is asked of an upstream, what each attempt came to, and what a whole answer is.

All moments are seconds of ``time.monotonic()``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agentui.upstream.http.exchange import Timeouts
from agentui.upstream.http.request import BodyStream


@dataclass(slots=True)
class Attempt:
    """One try: number from 1, host as errors name it, and how far it came. Nobody changes one; it is not frozen because a
    frozen dataclass takes three times as long to make, and every request makes one.

    ``connected`` and ``first_byte`` (the answer's headers) are None where it did not come so far. ``error`` is the message
    of what went wrong; an answer with an error status has a ``status`` instead. ``wait`` is the pause in seconds before the
    next attempt, None for the last one. ``proxy`` is the host and port of the proxy on the way, where one is.
    """

    number: int
    host: str
    started: float
    connected: float | None = None
    first_byte: float | None = None
    status: int | None = None
    error: str | None = None
    wait: float | None = None
    proxy: str | None = None


@dataclass(slots=True)
class UpstreamCall:
    """One request to an upstream. A value, as ``Attempt`` is one.

    ``deadline`` is a moment, not a span; None means that only ``timeouts`` limit the call. ``node`` is the id that errors
    carry. ``proxy`` is the address of the proxy to go through, ``direct`` for none, "" for what ``ProxyRules`` say.
    ``hops`` are the servers of agentui that the request will have passed when it arrives. ``on_attempt`` hears of every
    attempt as it ends, before the pause that follows; it must not block. ``attempt_headers`` gives further headers for the
    attempt with a number, where attempts are told apart.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | BodyStream | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    deadline: float | None = None
    node: str | None = None
    proxy: str = ""
    hops: int = 0
    retries: bool = True
    on_attempt: Callable[[Attempt], None] | None = None
    attempt_headers: Callable[[int], Mapping[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class UpstreamReply:
    """A whole answer, error statuses included. Header names are lower case; the body is decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes
