"""Logs: one line an event, every registered secret replaced."""

import logging
import sys

import structlog

from agentui.redaction import RedactingFilter, Redactor
from agentui.settings import Settings


def set_up_logging(redactor: Redactor, settings: Settings) -> None:
    """Send the logs of agentui and its libraries to stderr through one redacting filter."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(RedactingFilter(redactor))
    renderer: structlog.typing.Processor = structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.stdlib.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                _add_exception,
            ],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    # It tells every start which engine it met.
    logging.getLogger("alembic").setLevel(logging.WARNING)


def _add_exception(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """The traceback as the redacting filter left it: as text, where structlog looks for the exception itself."""
    event.pop("exc_info", None)
    text = event["_record"].exc_text
    return {**event, "exception": text} if text else event
