"""What a run tells a trace of it while it calls upstreams; the rest of a trace is made of the run's events."""

from collections.abc import Mapping
from typing import Protocol

from agentui.chat.request import WireRequest
from agentui.upstream.call import Attempt

TRACE_HEADERS = frozenset({"traceparent", "tracestate"})
"""The headers that name a span to the next server (W3C Trace Context)."""


class RunTrace(Protocol):
    """A run's trace."""

    def begin_attempt(self, node: str, wire: WireRequest | None, number: int) -> Mapping[str, str]:
        """An attempt at asking ``wire`` begins: the headers that name it to the upstream."""

    def end_attempt(self, node: str, attempt: Attempt) -> None:
        """It has an answer's headers, or none."""
