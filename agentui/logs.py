"""Logs: one line an event, every registered secret replaced, and the request named that it belongs to."""

import logging
import re
import sys
from contextvars import ContextVar

import structlog

from agentui.redaction import RedactingFilter, Redactor
from agentui.settings import Settings

MAX_LINE = 8 * 1024
"""Bytes of a line; longer texts in it are cut (spec: reliability part 7)."""
CUT = "…[cut]"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_FIRST = ("timestamp", "level", "event")

REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
"""The id of the request that this task works on."""


def set_up_logging(redactor: Redactor, settings: Settings) -> None:
    """Send the logs of agentui and its libraries to stderr through one redacting filter."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(RedactingFilter(redactor))
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                _add_request,
                _add_exception,
            ],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _Line(_renderer(settings))],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    # It tells every start which engine it met.
    logging.getLogger("alembic").setLevel(logging.WARNING)


def _renderer(settings: Settings) -> structlog.typing.Processor:
    """What writes an event as text."""
    if settings.log_format == "json":
        return structlog.processors.JSONRenderer()
    return structlog.processors.LogfmtRenderer(bool_as_flag=False)


class _Line:
    """Writes an event as one line of at most ``MAX_LINE`` bytes: the longest texts lose their end; an exception, whose last
    lines say most, its beginning."""

    def __init__(self, render: structlog.typing.Processor) -> None:
        self._render = render

    def __call__(self, logger: object, method: str, event: structlog.typing.EventDict) -> str:
        limit = MAX_LINE
        line = self._written(logger, method, event)
        while len(line.encode("utf-8", "replace")) > MAX_LINE and limit > len(CUT):
            event = {name: _cut(name, value, limit) for name, value in event.items()}
            line = self._written(logger, method, event)
            limit //= 2
        return line

    def _written(self, logger: object, method: str, event: structlog.typing.EventDict) -> str:
        first = {name: event[name] for name in _FIRST if name in event}
        line = str(self._render(logger, method, {**first, **event}))
        # What a terminal or a reader of lines would take for an order or an end.
        return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def _cut(name: str, value: object, limit: int) -> object:
    """A value of at most ``limit`` characters, where it is a text."""
    if not isinstance(value, str) or len(value) <= limit:
        return value
    kept = limit - len(CUT)
    return CUT + value[-kept:] if name == "exception" else value[:kept] + CUT


def _add_request(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """The request's id, and the fields that a line brings along."""
    request = REQUEST.get()
    fields = getattr(event["_record"], "fields", None)
    if request is not None:
        event["request"] = request
    if fields is not None:
        event.update(fields)
    return event


def _add_exception(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """The traceback as the redacting filter left it: as text, where structlog looks for the exception itself."""
    event.pop("exc_info", None)
    text = event["_record"].exc_text
    return {**event, "exception": text} if text else event
