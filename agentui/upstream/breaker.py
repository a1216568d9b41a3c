"""The circuit breaker of one origin: whether to ask it at all.

    closed ──(50 % of at least 20 attempts in 10 s failed)──> open for 5 s ──> one probe
      ^                                                          ^               │
      └───────────────── the probe succeeded ────────────────────┼───────────────┤
                                                                 └── it failed ──┘

Pure: every moment is handed in.
"""

from agentui.upstream.window import Window

SPAN = 10.0
"""Seconds over which attempts are counted."""
ENOUGH = 20
"""Fewer attempts than this never open the circuit."""
SHARE = 0.5
"""The share of failures that opens it."""
REST = 5.0
"""Seconds that an open circuit stays open before one attempt may probe."""


class Breaker:
    """One origin's circuit. Ask ``admit`` before an attempt and tell ``succeeded``, ``failed`` or ``left`` after it."""

    def __init__(self) -> None:
        self._window = Window(SPAN)
        self._open_until: float | None = None
        self._probing = False

    def admit(self, now: float) -> float | None:
        """None lets the attempt go ahead (it is the probe if the circuit was open); otherwise seconds to stay away."""
        if self._open_until is None:
            return None
        if now < self._open_until:
            return self._open_until - now
        if self._probing:
            return 1.0
        self._probing = True
        return None

    def is_open(self) -> bool:
        """True from the opening until a probe has succeeded."""
        return self._open_until is not None

    def away(self, now: float) -> float | None:
        """Seconds to stay away still, 0 where a probe may go; None while the circuit is closed. Asks for nothing."""
        return None if self._open_until is None else max(0.0, self._open_until - now)

    def open(self, until: float) -> None:
        """Stay away until this moment at least, for a reason that is not in these counts; one probe may go after it."""
        self._open_until = until if self._open_until is None else max(until, self._open_until)
        self._probing = False
        self._window.clear()

    def succeeded(self, now: float) -> None:
        """The origin answered as a healthy one does."""
        if self._open_until is not None:
            if not self._probing:
                return  # an attempt from before the opening; only the probe closes the circuit
            self._open_until = None
            self._probing = False
            self._window.clear()
        self._window.add(now)

    def failed(self, now: float) -> None:
        """The origin was unreachable, broke off, was too slow or answered 5xx."""
        if self._open_until is not None:
            if self._probing:
                self._open_until = now + REST
                self._probing = False
            return
        self._window.add(now, marked=True)
        total, marked = self._window.counts(now)
        if total >= ENOUGH and marked >= total * SHARE:
            self._open_until = now + REST
            self._window.clear()

    def left(self) -> None:
        """The attempt was given up by us and says nothing; if it was the probe, the next one is."""
        self._probing = False
