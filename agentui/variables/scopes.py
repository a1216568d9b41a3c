"""Where a variable stands: one of five scopes, and the host inside it.

scope     scope_id                       host
global    global                         the account
chat      the session's id               a session
branch    branch:<session>:<branch>      a branch of a session
floor     the floor's id                 a floor
page      the page's id                  a page
"""

from dataclasses import dataclass
from typing import Final, Literal

Scope = Literal["global", "chat", "branch", "floor", "page"]

SCOPES: Final[tuple[Scope, ...]] = ("global", "chat", "branch", "floor", "page")
"""From the farthest to the nearest; a nearer one wins."""

GLOBAL_ID: Final = "global"

_BRANCH_PREFIX = "branch:"


class BadTarget(ValueError):
    """Scope and ids that do not name one place; ``field`` is the one at fault, ``reason`` a word for programs."""

    def __init__(self, field: str, message: str, reason: Literal["required", "custom"] = "custom") -> None:
        super().__init__(message)
        self.field = field
        self.message = message
        self.reason: Literal["required", "custom"] = reason


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """One tier of one host."""

    scope: Scope
    scope_id: str

    @property
    def branch(self) -> tuple[str, str] | None:
        """Session and branch of a branch's tier; None for the others."""
        return split_branch_id(self.scope_id) if self.scope == "branch" else None

    def as_json(self) -> dict[str, object]:
        """``scope``, ``scope_id`` and, for a branch, ``scope_ref``."""
        return {"scope": self.scope, "scope_id": self.scope_id} | scope_ref(self)


GLOBAL: Final = Target("global", GLOBAL_ID)


def branch_target(session_id: str, branch_id: str) -> Target:
    """The tier of a branch."""
    return Target("branch", f"{_BRANCH_PREFIX}{session_id}:{branch_id}")


def split_branch_id(scope_id: str) -> tuple[str, str] | None:
    """Session and branch out of ``branch:<session>:<branch>``; None when it is not written so.

    A session's id holds no colon; a branch's may.
    """
    if not scope_id.startswith(_BRANCH_PREFIX):
        return None
    session_id, colon, branch_id = scope_id[len(_BRANCH_PREFIX) :].partition(":")
    return (session_id, branch_id) if session_id and colon and branch_id else None


def scope_ref(target: Target, name: str = "scope_ref") -> dict[str, object]:
    """``{name: {session_id, branch_id}}`` for a branch's tier, nothing for the others."""
    branch = target.branch
    return {} if branch is None else {name: {"session_id": branch[0], "branch_id": branch[1]}}


def normalise(scope: Scope, scope_id: str | None, session_id: str | None, branch_id: str | None) -> Target:
    """The one target that a caller's fields mean (seed 000, "设置变量").

    A branch is named by its scope_id, by session_id and branch_id, or by both when they agree. Raises BadTarget.
    """
    if scope == "branch":
        return _normal_branch(scope_id, session_id, branch_id)
    for field, value in (("session_id", session_id), ("branch_id", branch_id)):
        if value is not None:
            raise BadTarget(field, f"{field} goes with scope branch only; the host of scope {scope} is its scope_id.")
    if not scope_id:
        raise BadTarget("scope_id", f"scope_id is required for scope {scope}.", "required")
    return GLOBAL if scope == "global" else Target(scope, scope_id)


def _normal_branch(scope_id: str | None, session_id: str | None, branch_id: str | None) -> Target:
    named = None
    if session_id and branch_id:
        named = branch_target(session_id, branch_id)
    elif session_id or branch_id:
        missing = "branch_id" if session_id else "session_id"
        raise BadTarget(missing, "session_id and branch_id name a branch together; one of them is missing.", "required")
    if scope_id is None:
        if named is None:
            raise BadTarget("scope_id", "Scope branch needs session_id and branch_id, or scope_id.", "required")
        return named
    if split_branch_id(scope_id) is None:
        raise BadTarget("scope_id", "A branch's scope_id is written branch:<session_id>:<branch_id>.")
    if named is not None and named.scope_id != scope_id:
        raise BadTarget("scope_id", "scope_id names another branch than session_id and branch_id do.")
    return Target("branch", scope_id)
