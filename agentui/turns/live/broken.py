"""What ends a live turn before its answer does, and how its caller is told."""

from collections.abc import Coroutine, Mapping
from typing import Any

from agentui.chats.codes import failure
from agentui.errors import AgentUIError, Busy, UpstreamError, UpstreamRefused, UpstreamTimeout
from agentui.jsonio import Json
from agentui.pipeline.engine import to_its_end

BROKEN_OFF = frozenset({"cancelled", "generation_cancelled", "generation_timeout", "upstream_error"})
"""Errors after which the words that had arrived are kept."""
NOT_KEPT = frozenset({"commit_busy", "store_failed", "store_full", "store_read_only"})
"""Errors by which a whole answer was not kept; its words are, as soon as the memory takes them."""
LEFT: Mapping[str, Json] = {"code": "cancelled", "message": "The caller left."}
LEFT_STATUS = 499
"""What the log says of a caller who left (docs/errors.md)."""


async def kept(committing: Coroutine[Any, Any, None]) -> None:
    """Wait for the commit of a turn. Raises as it does, and 503 ``commit_busy`` where the memory was locked for long."""
    try:
        await to_its_end(committing)
    except Busy as error:
        told = failure("commit_busy", error.message)
        told.retry_after = error.retry_after
        raise told from error


def told_error(error: AgentUIError) -> AgentUIError:
    """An error as callers of a turn are told of it: what an upstream did is 502 ``upstream_error`` or 504
    ``generation_timeout``, whatever status it had."""
    if not isinstance(error, UpstreamError):
        return error
    code = "generation_timeout" if isinstance(error, UpstreamTimeout) else "upstream_error"
    details: dict[str, Json] = {**error.details, "reason": error.code}
    if isinstance(error, UpstreamRefused):
        details["upstream_status"] = error.status
    told = failure(code, error.message, **details)
    told.retry_after = error.retry_after
    return told
