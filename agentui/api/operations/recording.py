"""How what a request changes comes into the operation log: its transaction writes the entry as well, and what is refused for
want of a right is told, too."""

from collections.abc import Mapping
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from aiohttp import web

from agentui.accounts.stored import seen_account
from agentui.api.keys import STORE
from agentui.api.operations.actions import ACTIONS, Action, state_of
from agentui.chats.conversations import BatchResult
from agentui.chats.state.records import Key
from agentui.errors import AgentUIError
from agentui.http.guard import REQUEST_ID
from agentui.http.keys import PRINCIPAL, SETTINGS
from agentui.http.limits import Buckets
from agentui.http.rights import Handler
from agentui.ids import SystemClock, new_id
from agentui.jsonio import Json
from agentui.operations.log import append
from agentui.operations.operation import Actor, Operation, difference
from agentui.store.base import Transaction

P = ParamSpec("P")
T = TypeVar("T")

FIELDS: web.RequestKey[tuple[str, ...]] = web.RequestKey("fields", tuple)
"""The names of the fields of the body that was read."""
REFUSALS: web.AppKey[Buckets] = web.AppKey("refusals", Buckets)
"""Who was refused how often: what is repeated is not told each time."""
REFUSALS_PER_MINUTE: Final = 10
"""Refusals of an account that are told a minute, and of sign-ins to one."""


def action_of(request: web.Request) -> Action | None:
    """What the request's route does, where the log tells of it."""
    resource = request.match_info.route.resource
    return None if resource is None else ACTIONS.get((request.method, resource.canonical))


def recorded(request: web.Request, transaction: Transaction[Concatenate[str, P], T]) -> Transaction[Concatenate[str, P], T]:
    """The transaction, which tells the log of the account what it did. One whose route is not told of stays as it is, and so
    does each where no log is kept."""
    action = action_of(request)
    if action is None or request.app[SETTINGS].operation_log == 0:
        return transaction
    named, actor, metadata = dict(request.match_info), actor_of(request), _metadata(request)

    def run(db: Any, account: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        before = state_of(db, account, action, named)
        done = transaction(db, account, *args, **kwargs)
        told = _told(db, account, action, actor, named, metadata, before, done)
        ids = append(db, account, told, SystemClock().now_ms())
        return done if action.noted is None or not ids else action.noted(db, account, done, ids[0])

    return run


def telling_refusals(handler: Handler, action: Action) -> Handler:
    """The handler; what it refuses for want of a right is told in the caller's log."""

    @wraps(handler)
    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except AgentUIError as error:
            if error.status == 403:
                await tell_refusal(request, request[PRINCIPAL].account, action, dict(request.match_info), error)
            raise

    return handle


async def tell_refusal(
    request: web.Request, account: str, action: Action, ids: Mapping[str, str], error: AgentUIError, actor: Actor | None = None
) -> None:
    """Tell an account's log that somebody was refused, unless it was told often a moment ago."""
    app = request.app
    if app[SETTINGS].operation_log == 0 or app[REFUSALS].take(account):
        return
    refused = Operation(
        actor or actor_of(request),
        action.name,
        action.target,
        ids.get(action.id),
        metadata=_metadata(request),
        status="denied",
        permission=action.permission,
        result="denied",
        reason=error.code,
    )
    await app[STORE].write(_append_known, account, refused, SystemClock().now_ms())


def _append_known(db: Any, account: str, refused: Operation, now: int) -> None:
    """Write an entry to the log of an account that there is: who signs in may name any."""
    if seen_account(db, account) is not None:
        append(db, account, [refused], now)


def actor_of(request: web.Request) -> Actor:
    """Who asks: an account, or a client in its name."""
    principal, id = request[PRINCIPAL], request[REQUEST_ID]
    if principal.client is not None:
        return Actor("client", principal.client, principal.account, principal.client, request_id=id)
    return Actor("account", principal.account, principal.account, request_id=id)


def _metadata(request: web.Request) -> dict[str, Json]:
    resource = request.match_info.route.resource
    path = "" if resource is None else resource.canonical.replace("{", ":").replace("}", "")
    return {"route": f"{request.method} {path}", "request_fields": list(request.get(FIELDS, ()))}


def _told(
    db: Any,
    account: str,
    action: Action,
    actor: Actor,
    ids: Mapping[str, str],
    metadata: Mapping[str, Json],
    before: Mapping[str, Json] | None,
    done: Any,
) -> list[Operation]:
    """The entries of what was done: one, or one for each of those that a batch changed."""
    allowed: dict[str, Any] = {"permission": action.permission, "result": "allowed" if action.permission else None}
    if isinstance(done, list) and all(isinstance(each, BatchResult) for each in done):
        group = new_id("opg")
        changed = [each.id for each in done if each.action in ("updated", "deleted")]
        return [
            Operation(
                actor,
                action.name,
                action.target,
                id,
                session_id=id if action.target == "session" else None,
                metadata=metadata,
                group=group,
                **allowed,
            )
            for id in changed
        ]
    first, *rest = done if isinstance(done, tuple) else (done,)
    after = state_of(db, account, action, ids) if before is not None else None
    target = ids.get(action.id) or _id(rest[0] if rest and action.id == "" else first)
    versions = [(state or {}).get("version_id") for state in (before, after)]
    if before is None and isinstance(version := getattr(first, "version_id", None), str):
        versions[1] = version
    if action.id != "id" and "id" in ids:
        metadata = {**metadata, "parent_id": ids["id"]}
    route = str(metadata["route"])
    return [
        Operation(
            actor,
            action.name,
            action.target,
            target,
            session_id=_session(route, action, ids, target, first),
            branch_id=ids.get("branch") or (target if action.target == "branch" else _text(first, "branch_id")),
            project_id=(before or {}).get("project_id") if action.name == "delete_session" else None,
            floor_id=ids["id"] if " /floors/:id" in route else None,
            before_ref=versions[0],
            after_ref=versions[1],
            diff=None if before is None or after is None else difference(before, after),
            metadata=metadata,
            **allowed,
        )
    ]


def _session(route: str, action: Action, ids: Mapping[str, str], target: str | None, done: Any) -> str | None:
    if " /sessions/:id" in route:
        return ids["id"]
    if action.name == "delete_branch":  # its result begins with the session
        return str(done)
    return target if action.target == "session" else _text(done, "session_id")


def _id(done: Any) -> str | None:
    """What was made; a value of the Session State is known by where it stands."""
    if isinstance(done, list) and done and isinstance(done[0], tuple):  # entries of a worldbook, by their ids
        return str(done[0][0])
    key = getattr(done, "key", None)
    if isinstance(key, Key):
        return f"{key.namespace}/{key.slot}"
    return next(filter(None, (_text(done, name) for name in ("id", "identifier", "name"))), None)


def _text(value: Any, name: str) -> str | None:
    found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return found if isinstance(found, str) else None
