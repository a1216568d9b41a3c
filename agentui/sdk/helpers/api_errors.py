"""Errors of the API, as a page may show them."""

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

ErrorKind = Literal["authentication", "authorization", "not_found", "conflict", "validation", "server", "network", "unknown"]


class ApiErrorUiState(TypedDict):
    """What went wrong, in words, and whether the same may be tried again. ``code`` and ``status`` where a server answered."""

    kind: ErrorKind
    message: str
    retryable: bool
    code: NotRequired[str]
    status: NotRequired[int]


_BY_CODE: Mapping[str, tuple[ErrorKind, bool]] = {
    "generation_conflict": ("conflict", True),
    "generation_target_stale": ("conflict", True),
    "generation_queue_timeout": ("server", True),
    "generation_timeout": ("server", True),
    "generation_cancelled": ("network", True),
    "commit_busy": ("server", True),
    "commit_conflict": ("conflict", True),
    "resource_busy": ("server", True),
    "turn_commit_failed": ("server", True),
    "upstream_error": ("server", True),
    "preset_conflict": ("conflict", True),
    "worldbook_conflict": ("conflict", True),
    "regex_profile_conflict": ("conflict", True),
    "profile_conflict": ("conflict", False),
    "profile_in_use": ("conflict", False),
    "profile_inactive": ("conflict", False),
    "binding_not_found": ("not_found", False),
    "session_scope_not_found": ("not_found", False),
    "instance_slot_disabled_required": ("conflict", False),
    "tool_catalog_conflict": ("conflict", True),
    "tool_replay_blocked": ("conflict", True),
    "tool_replay_confirmation_required": ("conflict", True),
    "session_state_replay_blocked": ("conflict", True),
    "session_state_replay_confirmation_required": ("conflict", True),
    "replay_confirmation_required": ("conflict", True),
    "mcp_call_uncertain_timeout": ("server", True),
}
"""Codes that say more than their status does, and may come in a stream, whose status is 200."""
_BY_STATUS: Mapping[int, tuple[ErrorKind, bool]] = {
    400: ("validation", False),
    401: ("authentication", False),
    403: ("authorization", False),
    404: ("not_found", False),
    409: ("conflict", True),
    413: ("validation", False),
    422: ("validation", False),
    429: ("server", True),
}


def map_api_error_to_ui_state(error: object) -> ApiErrorUiState:
    """What to show of an error: by its code where that is known, else by its status.

    A server's error is one with a whole number ``status`` (``TavernApiError``); an ``OSError``, which errors of the connection
    are, is the network's. All else is ``unknown``.
    """
    if not isinstance(error, BaseException):
        return {"kind": "unknown", "message": "Unknown error", "retryable": False}
    status, code = getattr(error, "status", None), getattr(error, "code", None)
    if isinstance(status, int) and not isinstance(status, bool):
        return _of_server(str(getattr(error, "message", error)), status, code if isinstance(code, str) else None)
    if isinstance(error, OSError):
        return {"kind": "network", "message": str(error), "retryable": True}
    return {"kind": "unknown", "message": str(error), "retryable": False}


def _of_server(message: str, status: int, code: str | None) -> ApiErrorUiState:
    otherwise: tuple[ErrorKind, bool] = ("server", True) if status >= 500 else ("unknown", False)
    kind, retryable = _BY_CODE.get(code or "") or _BY_STATUS.get(status, otherwise)
    state: ApiErrorUiState = {"kind": kind, "message": message, "retryable": retryable, "status": status}
    if code is not None:
        state["code"] = code
    return state
