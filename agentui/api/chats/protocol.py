"""How the memory's API is spoken: reading bodies and queries, and answering in ``{"data": ...}``.

What does not fit is 400 ``validation_error`` with ``details`` of ``[{path, message, code}]``; a body that is too large is 413
``payload_too_large``.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from aiohttp import web
from pydantic import ValidationError

from agentui.accounts.codes import failure
from agentui.api.keys import STORE, TURNS
from agentui.api.operations.actions import ACTIONS
from agentui.api.operations.recording import FIELDS, recorded, telling_refusals
from agentui.api.proxy.repeats import claim_for
from agentui.chats.conversations import BatchResult
from agentui.chats.listing import Listed, Paging
from agentui.errors import ApiError, BadRequest, BodyTooLarge
from agentui.http.keys import PRINCIPAL
from agentui.http.rights import check_right
from agentui.http.route import Route, answer, read_json
from agentui.ids import SystemClock
from agentui.jsonio import MAX_VALUES, Json, loads, work_of
from agentui.schemas.forms import Data, Deleted, DeleteMeta, DeleteResults, Form, Id, ListData, ListMeta
from agentui.store.base import Transaction
from agentui.store.paging import Place
from agentui.store.reserve import freeing
from agentui.threads import apart
from agentui.turns.repeats import HEADER, REPLAYED, Saved, pack

MAX_BODY = 1024 * 1024
"""The largest body, in bytes."""

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound="Form")


def deleted_answer(results: list[BatchResult]) -> web.Response:
    """The answer to a removal of many, its results counted."""
    actions = [result.action for result in results]
    meta = DeleteMeta(len(actions), actions.count("deleted"), actions.count("not_found"), actions.count("conflict"))
    return data_answer(DeleteResults(results, meta))


def list_answer(listed: Listed[Any], paging: Paging, data: Json = None) -> web.Response:
    """A part of a list with its meta; ``data`` stands for the items where they are wrapped."""
    meta = ListMeta(
        total=listed.total,
        limit=paging.limit,
        offset=paging.offset,
        has_more=paging.offset + len(listed.items) < listed.total,
        sort_by=paging.sort_by,
        sort_order=paging.sort_order,
    )
    return answer(ListData(listed.items if data is None else data, meta))


def data_answer(value: Json, *, status: int = 200) -> web.Response:
    """A value in ``{"data": ...}``."""
    return answer(Data(value), status=status)


def made_answer(value: Json) -> web.Response:
    """A value that was made just now."""
    return data_answer(value, status=201)


async def read(request: web.Request, transaction: Transaction[Concatenate[str, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a transaction that only reads finds in the caller's account. Raises what it raises."""
    return await request.app[STORE].read(transaction, account_of(request), *args, **kwargs)


async def write(
    request: web.Request,
    show: Callable[[T], web.Response],
    transaction: Transaction[Concatenate[str, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> web.Response:
    """Run a transaction that writes to the caller's account and answer with what ``show`` makes of its result.

    Where the request has an Idempotency-Key the answer is kept in the same transaction, and the same request again gets it
    again and writes nothing. The same transaction tells the operation log, where that tells of the route. What removes is done
    on a full disk, too. Raises what the transaction raises, which keeps nothing, and as ``TurnService.once`` does.
    """
    is_removal = request.method == "DELETE" or show is deleted_answer
    with freeing() if is_removal else nullcontext():
        return await _written(request, show, transaction, *args, **kwargs)


async def _written(
    request: web.Request,
    show: Callable[[T], web.Response],
    transaction: Transaction[Concatenate[str, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> web.Response:
    key = request.headers.get(HEADER)
    if key is None:
        return show(await commit(request, transaction, *args, **kwargs))
    asked = claim_for(request, key, request.get(BODY, b""))
    shown: list[web.Response] = []

    def keep(result: T) -> Saved:
        shown[:] = [show(result)]  # a transaction may be run again
        return _saved(shown[0])

    told = recorded(request, transaction)
    saved, is_old = await request.app[TURNS].once(asked, keep, told, account_of(request), *args, **kwargs)
    if not is_old:
        return shown[0]
    return web.Response(status=saved.status, body=saved.body(), headers={**saved.headers, REPLAYED: "true"})


async def commit(
    request: web.Request, transaction: Transaction[Concatenate[str, P], T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Run a transaction that writes to the caller's account, for a route that keeps no answer: what the transaction returns.
    It tells the operation log, where that tells of the route."""
    return await request.app[STORE].write(recorded(request, transaction), account_of(request), *args, **kwargs)


async def remove(
    request: web.Request, transaction: Transaction[Concatenate[str, str, P], T], *args: P.args, **kwargs: P.kwargs
) -> web.Response:
    """Remove what the path names, and answer with its id. Raises as ``write`` does."""
    id = path_id(request)
    return await write(request, lambda _: data_answer(Deleted(id)), transaction, id, *args, **kwargs)


def _saved(response: web.Response) -> Saved:
    body = response.body
    assert isinstance(body, bytes)
    headers = {name.lower(): value for name, value in response.headers.items() if name.lower() != "content-length"}
    return Saved(response.status, headers, pack(body))


BODY: web.RequestKey[bytes] = web.RequestKey("body", bytes)
"""The body as it came, once it was read."""


def account_of(request: web.Request) -> str:
    """Whose memory is asked for."""
    return request[PRINCIPAL].account


EVERYBODY = "*"


def account_asked(request: web.Request, asked: str | None) -> str | None:
    """Whose things are asked for: the caller's own unless ``asked`` names another account, or all of them (``*``: None), which
    admins may. Raises 403 ``account_forbidden``."""
    account = asked or account_of(request)
    if account != account_of(request):
        check_right(request, "admin")
    return None if account == EVERYBODY else account


def now_ms() -> int:
    """Milliseconds since 1970."""
    return SystemClock().now_ms()


def path_id(request: web.Request, name: str = "id") -> str:
    """An id out of the path. Raises 400 for one that no id can be."""
    return validate(_PathId, {"id": request.match_info[name]}).id


def place_of(cursor: str | None) -> Place | None:
    """Where a list goes on that gives cursors; None from its begin on. Raises 400 ``invalid_cursor``."""
    if cursor is None:
        return None
    try:
        return Place.of(cursor)
    except ValueError:
        raise failure("invalid_cursor", "The cursor is none that this list has given out: begin without one.") from None


class _PathId(Form):
    id: Id


async def read_form(
    request: web.Request, form: type[F], *, optional: bool = False, limit: int = MAX_BODY, values: int = MAX_VALUES
) -> F:
    """The body, of at most ``limit`` bytes and so many values, as a form; where it is ``optional``, none is an empty one.
    Raises 400 and 413."""
    document = await read_document(request, optional=optional, limit=limit, values=values)
    request[FIELDS] = tuple(name for name in form.model_fields if name in document)
    return await apart(work_of(request.get(BODY, b"")), partial(validate, form, document))


async def read_document(
    request: web.Request,
    *,
    optional: bool = False,
    parse: Callable[[bytes], Json] = loads,
    limit: int = MAX_BODY,
    values: int = MAX_VALUES,
) -> Json:
    """The body's JSON, which must be an object; ``parse`` reads it. Raises 400 and 413."""
    if optional and not request.can_read_body:
        return {}

    def noted(raw: bytes) -> Json:
        request[BODY] = raw
        return parse(raw)

    try:
        document = await read_json(request, limit, noted, values)
    except BodyTooLarge as error:
        raise ApiError(error.message, status=413, code="payload_too_large", limit=limit) from error
    except BadRequest as error:
        raise invalid(error.message, [{"path": "", "message": error.message, "code": "json"}]) from error
    if not isinstance(document, dict):
        raise invalid("The body must be an object.", [{"path": "", "message": "must be object", "code": "type"}])
    return document


def read_query(request: web.Request, form: type[F]) -> F:
    """The query as a form. Raises 400."""
    return validate(form, dict(request.query))


def validate(form: type[F], document: Json) -> F:
    """A form out of JSON. Raises 400 ``validation_error`` that names every fault."""
    try:
        return form.model_validate(document)
    except ValidationError as error:
        problems = [
            {
                "path": "".join(f"/{part}" for part in fault["loc"]),
                "message": fault["msg"].removeprefix("Value error, "),
                "code": _KEYWORDS.get(fault["type"], "custom" if fault["type"] == "value_error" else "type"),
            }
            for fault in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        raise invalid(f"{problems[0]['path'] or 'The body'}: {problems[0]['message']}.", problems) from error


def invalid(message: str, problems: Sequence[Mapping[str, Json]]) -> ApiError:
    """The error of a body or a query that does not fit."""
    return ApiError(message, status=400, code="validation_error", problems=problems)


_KEYWORDS: Mapping[str, str] = {
    "missing": "required",
    "string_too_short": "minLength",
    "string_too_long": "maxLength",
    "greater_than_equal": "minimum",
    "less_than_equal": "maximum",
    "literal_error": "enum",
    "too_short": "minItems",
    "too_long": "maxItems",
}
"""JSON Schema's words for what can be wrong; whatever is not among them is of the wrong type."""


def described(form: type[Form]) -> dict[str, str]:
    """The parameters of a query with their descriptions, for OpenAPI."""
    return {name: field.description or "" for name, field in form.model_fields.items()}


def route(method: str, path: str, handler: Any, answer: Any, *errors: int, writes: bool | None = None, **fields: Any) -> Route:
    """A route of the memory: it may always answer 400, and below an id 404. One that ``writes`` (unless it is said, all but GET
    do) takes an Idempotency-Key."""
    found = {404} if "{" in path else set()
    if method != "GET" if writes is None else writes:
        found |= {409, 410, 422}
        fields["headers"] = {"Idempotency-Key": "A key of your own: the same request with it is done once, and answered alike."}
    action = ACTIONS.get((method, path))
    if action is not None:
        fields["around"] = partial(telling_refusals, action=action)
    return Route(method, path, handler, answer=answer, errors=tuple(sorted({400, *found, *errors})), tag="memory", **fields)
