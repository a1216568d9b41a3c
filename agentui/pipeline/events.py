"""What the canvas hears of a run, and what the history keeps of it.

    run.started  node.started  node.attempt  node.request  node.chunk  node.finished  node.skipped  node.failed
    run.warning  run.finished

An event holds references, not copies; it becomes JSON (and loses every secret) only when somebody reads it.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.redaction import Redactor

EventType = Literal[
    "run.started",
    "run.warning",
    "run.finished",
    "node.started",
    "node.attempt",
    "node.request",
    "node.chunk",
    "node.finished",
    "node.skipped",
    "node.failed",
]

INLINE_LIMIT = 8 * 1024
SUMMARY = 500
"""Characters of what is too large to be shown in place."""


class RunEvent(NamedTuple):
    """One thing that happened. ``at`` is seconds since the run began; ``data`` must not change afterwards;
    a function without arguments is called when somebody reads the event. ``pinned`` marks the end of a node that did not run,
    because its OUT was given."""

    type: EventType
    at: float
    node: str | None = None
    data: Json | Callable[[], Json] = None
    pinned: bool = False

    def as_json(self, run_id: str, sequence: int, redactor: Redactor, *, whole: bool = False) -> dict[str, Json]:
        """The event for a reader, secrets replaced. Data over 8 KiB is summarised with a link unless ``whole``."""
        shown: dict[str, Json] = {"run": run_id, "seq": sequence, "type": self.type, "at_ms": round(self.at * 1000, 3)}
        if self.node is not None:
            shown["node"] = self.node
        if self.pinned:
            shown["pinned"] = True
        data = self.data() if callable(self.data) else self.data
        if data is not None:
            raw = redactor.redact(dumps(data).decode())
            size = len(raw.encode("utf-8", "replace"))
            if whole or size <= INLINE_LIMIT:
                shown["data"] = parsed(raw)
            else:
                shown["data"] = {"summary": raw[:SUMMARY], "bytes": size, "link": f"/api/runs/{run_id}/events/{sequence}"}
        return shown


new_event: Callable[[tuple[EventType, float, str | None, Json | Callable[[], Json], bool]], RunEvent]
new_event = partial(tuple.__new__, RunEvent)
"""An event of its five members. A dozen are made for every request, and this is a third of what a call of the class costs."""


def parsed(raw: str) -> Json:
    """Redacted JSON as a value; as text where a secret of digits stood in a number and its mask broke the JSON."""
    try:
        return loads(raw)
    except InvalidJson:
        return {"text": raw}
