"""What goes wrong with variables, with the codes and statuses that the memory's API promises (seed 000).

VariableError
├── InvalidWrite      400 validation_error           InvalidContext   400 invalid_variable_context
├── DuplicateTarget   400 duplicate_variable_target  ValueTooLarge    413 payload_too_large
├── TooMuchAtOnce     413 payload_too_large
├── HostNotFound      404 variable_host_not_found    VariableNotFound 404 variable_not_found
├── PageNotFound      404 not_found
├── TargetLocked      409 variable_target_locked     VariableChanged  409 variable_conflict
└── SnapshotMissing   409 branch_local_snapshot_missing

CannotStage           422 variable_not_writable (a node's fault)
"""

from collections.abc import Mapping, Sequence

from agentui.errors import ApiError, NodeFailed
from agentui.jsonio import Json
from agentui.store.paging import MAX_PART_BYTES


class VariableError(ApiError):
    """One of the errors below; the class says its code and its status."""

    def __init__(self, message: str, *, problems: Sequence[Mapping[str, Json]] = (), **details: Json) -> None:
        kind = type(self)
        super().__init__(message, status=kind.status, code=kind.code, problems=problems, **details)


class InvalidWrite(VariableError):
    """A field is not of the right form. ``path`` points to it (``/items/3/key``), ``reason`` is the broken rule in a word."""

    status = 400
    code = "validation_error"

    def __init__(self, path: str, message: str, reason: str = "custom") -> None:
        super().__init__(f"{path}: {message}", problems=[{"path": path, "message": message, "code": reason}])


class InvalidContext(VariableError):
    """Session, branch, floor and page contradict each other."""

    status = 400
    code = "invalid_variable_context"


class DuplicateTarget(VariableError):
    """Two items of one batch write the same variable; details name ``index`` and ``first_index``."""

    status = 400
    code = "duplicate_variable_target"


class ValueTooLarge(VariableError):
    """A value's JSON is longer than 1 MiB."""

    status = 413
    code = "payload_too_large"


class TooMuchAtOnce(VariableError):
    """An answer that comes in one piece would be larger than a part of a list may be; ``size`` is in characters."""

    status = 413
    code = "payload_too_large"

    @classmethod
    def check(cls, size: int) -> None:
        """Raises it for an answer with values of this size."""
        if size > MAX_PART_BYTES:
            raise cls(
                f"The values take {size} characters, and one answer holds at most {MAX_PART_BYTES}: read them tier by tier "
                "with GET /variables?scope=...&scope_id=..., which comes in parts.",
                size=size,
                limit=MAX_PART_BYTES,
            )


class HostNotFound(VariableError):
    """The session, branch, floor or page that should hold the variable does not exist for this account."""

    status = 404
    code = "variable_host_not_found"


class VariableNotFound(VariableError):
    """No such variable, or its host is gone."""

    status = 404
    code = "variable_not_found"


class PageNotFound(VariableError):
    """No such page to look into."""

    status = 404
    code = "not_found"


class TargetLocked(VariableError):
    """The floor is being generated or is committed: its variables, and its pages', no longer change."""

    status = 409
    code = "variable_target_locked"


class VariableChanged(VariableError):
    """A run computed a value from one that somebody else changed before the run could commit; nothing was written.

    Running the turn again reads the new value.
    """

    status = 409
    code = "variable_conflict"


class SnapshotMissing(VariableError):
    """The floor has no snapshot of its branch's variables, so nothing can be forked from it exactly."""

    status = 409
    code = "branch_local_snapshot_missing"


class CannotStage(NodeFailed):
    """A node writes a variable that cannot be written: no such tier here, or a path through something without fields."""

    code = "variable_not_writable"
