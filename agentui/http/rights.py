"""What only some may do: change what belongs to the server, or see what all its accounts do."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Literal, TypeAlias

from aiohttp import web

from agentui.accounts.codes import failure
from agentui.accounts.restrictions import check_editing
from agentui.documents.document import is_own_id
from agentui.http.keys import PRINCIPAL

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Right: TypeAlias = Literal["admin", "edit"]
"""``admin`` is the role; ``edit`` is the right to change pipelines and presets (``Principal.may_edit``), which admins have."""

_REFUSALS: dict[Right, str] = {
    "admin": "Only an admin may do this.",
    "edit": "Only who may edit pipelines and presets may do this: they decide where prompts and keys go. An admin may.",
}


def check_right(request: web.Request, right: Right) -> None:
    """Raise 403 ``account_forbidden`` where the caller has not this right."""
    principal = request[PRINCIPAL]
    if not (principal.role == "admin" if right == "admin" else principal.may_edit):
        raise failure("account_forbidden", _REFUSALS[right])


def with_right(handler: Handler, right: Right) -> Handler:
    """The handler, for those who have this right; what is an account's own that account changes without it."""

    @wraps(handler)
    async def handle(request: web.Request) -> web.StreamResponse:
        named = request.match_info.get("id") or request.match_info.get("secret") or ""
        if right != "edit" or not is_own_id(named):
            check_right(request, right)
        else:
            check_editing(request[PRINCIPAL])
        return await handler(request)

    return handle
