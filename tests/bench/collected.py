"""``python -m tests.bench.collected serve ...``: the server, which prints at its end how many milliseconds the longest search
for circles took while it served."""

import gc
from time import perf_counter

from agentui.__main__ import main


class Pauses:
    """Hears of every search. ``longest`` is in seconds."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._began = 0.0

    def __call__(self, phase: str, _: dict[str, int]) -> None:
        """A search begins, or is over."""
        now = perf_counter()
        if phase == "start":
            self._began = now
        elif gc.get_freeze_count():  # what a start makes is set aside before the first request
            self.longest = max(self.longest, now - self._began)


if __name__ == "__main__":
    pauses = Pauses()
    gc.callbacks.append(pauses)
    try:
        main()
    finally:
        print(pauses.longest * 1000, flush=True)
