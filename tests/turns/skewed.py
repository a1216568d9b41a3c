"""``python -m agentui`` with a wall clock that somebody moves: ``python -m tests.turns.skewed FILE serve ...``.

``FILE`` holds the seconds that the clock is wrong by, and may change at any moment. The monotonic clock is the machine's own,
as it is when an administrator, NTP or a laptop that wakes up moves the wall clock.
"""

import sys
import time
from pathlib import Path


def skew(file: Path) -> None:
    """Move ``time.time`` and ``time.time_ns``, which is all that agentui and its packages ask for the time of day."""
    true_ns = time.time_ns

    def time_ns() -> int:
        return true_ns() + round(float(file.read_text() or 0) * 1e9)

    time.time_ns = time_ns
    time.time = lambda: time_ns() / 1e9


if __name__ == "__main__":
    skew(Path(sys.argv.pop(1)))
    from agentui.__main__ import main

    main()
