"""Logs: one line an event, every registered secret replaced, and the request named that it belongs to.

Everybody logs with Python's own ``logging``, agentui and its libraries alike; ``extra`` holds further fields of the line.
structlog writes the lines.
"""

import logging
import re
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeAlias

from structlog.processors import JSONRenderer, LogfmtRenderer, TimeStamper, format_exc_info
from structlog.stdlib import ExtraAdder, ProcessorFormatter, add_log_level, add_logger_name
from structlog.typing import EventDict, Processor, WrappedLogger

from agentui.redaction import Redactor, mask_credentials
from agentui.settings import Settings

MAX_LINE = 8 * 1024
"""Bytes of a line; longer texts in it are cut (spec: reliability part 7)."""
CUT = "…[cut]"

REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
"""The id of the request that this task works on."""

_FIRST = ("timestamp", "level", "event", "logger", "stack_info", "request")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

Renderer: TypeAlias = Callable[[WrappedLogger, str, EventDict], str | bytes]


def set_up_logging(redactor: Redactor, settings: Settings) -> None:
    """Send the logs of agentui and its libraries to stderr, and nowhere else."""
    render: Renderer = JSONRenderer(default=repr) if settings.log_format == "json" else LogfmtRenderer(bool_as_flag=False)
    formatter = ProcessorFormatter(
        processors=[
            _message,
            ExtraAdder(),
            TimeStamper(fmt="iso", utc=True),
            add_log_level,
            add_logger_name,
            _request,
            format_exc_info,
            ProcessorFormatter.remove_processors_meta,
            _redacting(redactor),
            _in_order,
            _as_one_line(render),
        ],
        use_get_message=False,
        pass_foreign_args=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    # It tells every start which engine it met.
    logging.getLogger("alembic").setLevel(logging.WARNING)


def _message(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Put the arguments into the message. Those that do not fit are left out: logging would print them, secrets and all."""
    arguments = event.pop("positional_args")
    if arguments:
        try:
            event["event"] %= arguments
        except (TypeError, ValueError):
            pass
    return event


def _request(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Name the request."""
    request = REQUEST.get()
    if request is not None:
        event["request"] = request
    return event


def _redacting(redactor: Redactor) -> Processor:
    """Takes secrets out of all texts of a line: known ones by their value, and what looks like a credential.

    (``aiohttp.server`` logs malformed requests as they came, their Authorization included.)
    """

    def clean(value: object) -> object:
        match value:
            case str():
                return mask_credentials(redactor.redact(value))
            case dict():
                return {key: clean(item) for key, item in value.items()}
            case list() | tuple():
                return [clean(item) for item in value]
            case _:
                return value

    return lambda _, __, event: {name: clean(value) for name, value in event.items()}


def _in_order(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Begin with what every line has, and end with the exception."""
    exception = {"exception": event.pop("exception")} if "exception" in event else {}
    return {**{name: event.pop(name) for name in _FIRST if name in event}, **event, **exception}


def _as_one_line(render: Renderer) -> Processor:
    """Writes one line of at most ``MAX_LINE`` bytes: the longest texts lose their end; an exception, whose last lines say
    most, its beginning."""

    def write(logger: WrappedLogger, method: str, event: EventDict) -> str:
        # A terminal or a reader of lines would take these characters for an order or an end.
        return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", str(render(logger, method, event)))

    def fit(logger: WrappedLogger, method: str, event: EventDict) -> str:
        limit = MAX_LINE
        line = write(logger, method, event)
        while len(line.encode("utf-8", "replace")) > MAX_LINE and limit > len(CUT):
            event = {name: _cut(name, value, limit) for name, value in event.items()}
            line = write(logger, method, event)
            limit //= 2
        return line

    return fit


def _cut(name: str, value: object, limit: int) -> object:
    """A value of at most ``limit`` characters, where it is a text."""
    if not isinstance(value, str) or len(value) <= limit:
        return value
    kept = limit - len(CUT)
    return CUT + value[-kept:] if name == "exception" else value[:kept] + CUT
