"""Logs: one line an event, every registered secret replaced, and the request named that it belongs to."""

import json
import logging
import re
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TypeAlias

from agentui.redaction import RedactingFilter, Redactor
from agentui.settings import Settings

MAX_LINE = 8 * 1024
"""Bytes of a line; longer texts in it are cut (spec: reliability part 7)."""
CUT = "…[cut]"

Event: TypeAlias = Mapping[str, object]
"""What a line says: a value by its name, in the order in which they are written."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_TELLS_APART = re.compile('[ ="]')
"""What ends a value in logfmt, unless it stands in quotes."""

REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
"""The id of the request that this task works on."""


def set_up_logging(redactor: Redactor, settings: Settings) -> None:
    """Send the logs of agentui and its libraries to stderr through one redacting filter."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(RedactingFilter(redactor))
    handler.setFormatter(LineFormatter(_as_json if settings.log_format == "json" else _as_text))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    # It tells every start which engine it met.
    logging.getLogger("alembic").setLevel(logging.WARNING)


class LineFormatter(logging.Formatter):
    """Writes an event as one line of at most ``MAX_LINE`` bytes: the longest texts lose their end; an exception, whose last
    lines say most, its beginning."""

    def __init__(self, write: Callable[[Event], str]) -> None:
        super().__init__()
        self._write = write

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record that the redacting filter has seen, which left its exception as text."""
        event = _event(record)
        limit = MAX_LINE
        line = self._line(event)
        while len(line.encode("utf-8", "replace")) > MAX_LINE and limit > len(CUT):
            event = {name: _cut(name, value, limit) for name, value in event.items()}
            line = self._line(event)
            limit //= 2
        return line

    def _line(self, event: Event) -> str:
        # What a terminal or a reader of lines would take for an order or an end.
        return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", self._write(event))


def _event(record: logging.LogRecord) -> Event:
    """What a record says, its request's id, and the fields that it brings along."""
    event: dict[str, object] = {
        "timestamp": datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "level": record.levelname.lower(),
        "event": record.getMessage(),
        "logger": record.name,
    }
    if record.stack_info:
        event["stack_info"] = record.stack_info
    request = REQUEST.get()
    if request is not None:
        event["request"] = request
    event.update(getattr(record, "fields", None) or {})
    if record.exc_text:
        event["exception"] = record.exc_text
    return event


def _as_json(event: Event) -> str:
    """The event as a JSON object, all of it ASCII: a text may hold halves of characters, which UTF-8 has not."""
    return json.dumps(event, default=repr)


def _as_text(event: Event) -> str:
    """The event in logfmt: ``name=value``, in quotes where a value holds what would end it."""
    return " ".join(f"{name}={_quoted(value)}" for name, value in event.items())


def _quoted(value: object) -> str:
    """A value of logfmt: nothing for None, ``true`` and ``false``, and any other as its text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if _TELLS_APART.search(text):
        text = text.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + text.replace("\n", "\\n") + '"'
    return text.replace("\n", "\\n")


def _cut(name: str, value: object, limit: int) -> object:
    """A value of at most ``limit`` characters, where it is a text."""
    if not isinstance(value, str) or len(value) <= limit:
        return value
    kept = limit - len(CUT)
    return CUT + value[-kept:] if name == "exception" else value[:kept] + CUT
