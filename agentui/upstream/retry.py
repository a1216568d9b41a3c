"""What is tried again, when, and how much of that is too much.

Pure: moments and chance are handed in.
"""

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from agentui.upstream.http.exchange import Outcome
from agentui.upstream.window import Window

MAX_RETRIES = 2
LONGEST_WAIT = 5.0
"""Seconds. A Retry-After beyond this goes to the caller at once."""
FIRST_PAUSE = 0.25
"""Seconds before the first retry, when the upstream names no time; doubles with each further one."""

SHARE = 0.2
EXTRA = 3
SPAN = 10.0


def retries_for(outcome: Outcome) -> int:
    """How often such a outcome is tried again at most (rows U1, U9, U10 and U12 of the reliability model).

    A refused connection and a 429 get one more try, a 408 or 5xx two; everything else is the caller's to hear.
    """
    match outcome:
        case "connect" | 429:
            return 1
        case int() if outcome == 408 or outcome >= 500:
            return MAX_RETRIES
        case _:
            return 0


def pause_before(retry: int, headers: Mapping[str, str], *, jitter: float, wall: float) -> float | None:
    """Seconds to wait before retry number ``retry`` (from 1), or None when the answer goes to the caller instead.

    ``headers`` are the outcome's (lower case); ``x-should-retry: false`` and a wait of more than ``LONGEST_WAIT`` say no.
    ``jitter`` is in [0, 1); ``wall`` is seconds since 1970, for a Retry-After that is a date.
    """
    if headers.get("x-should-retry", "").strip().lower() == "false":
        return None
    asked = retry_after(headers, wall=wall)
    if asked is not None and asked > LONGEST_WAIT:
        return None
    pause = FIRST_PAUSE * 2.0 ** (retry - 1) * (0.5 + jitter / 2)
    return pause if asked is None else max(pause, asked)


def retry_after(headers: Mapping[str, str], *, wall: float) -> float | None:
    """Seconds that ``retry-after-ms`` (OpenAI) or ``retry-after`` (RFC 9110, 10.2.3: seconds or a date) ask for."""
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return millis / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - wall)
    except (ValueError, OverflowError):
        return None  # neither a number nor a date says nothing


def _number(text: str | None) -> float | None:
    """A finite number of at least 0, or None."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


class RetryBudget:
    """Keeps one origin's retries below 20 % of its requests of the last 10 s, and 3 more, so that a dead one is not stormed."""

    def __init__(self) -> None:
        self._window = Window(SPAN)

    def asked(self, now: float) -> None:
        """A request came."""
        self._window.add(now)

    def take(self, now: float) -> bool:
        """Spend one retry; False when there is none left."""
        requests, retries = self._window.counts(now)
        if retries + 1 > requests * SHARE + EXTRA:
            return False
        self._window.mark(now)
        return True
