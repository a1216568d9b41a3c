"""Variables: five tiers of named values, written, listed, and resolved from a place (seed 000)."""

from collections.abc import Mapping, Sequence

from aiohttp import web

from agentui.api.chats.protocol import (
    account_of,
    data_answer,
    described,
    list_answer,
    now_ms,
    path_id,
    read,
    read_document,
    read_query,
    remove,
    route,
    validate,
    write,
)
from agentui.chats.listing import Listed
from agentui.http.route import Route
from agentui.jsonio import Json
from agentui.schemas.forms import Data, Deleted, ListData
from agentui.schemas.variables import (
    BatchData,
    BatchForm,
    PageChanges,
    PagePromotions,
    PageStaged,
    ResolveData,
    ResolveQuery,
    VariableData,
    VariableForm,
    VariableQuery,
)
from agentui.variables import ledger, records
from agentui.variables.errors import InvalidContext, InvalidWrite
from agentui.variables.places import Place
from agentui.variables.records import Filter, Put, Variable, Written
from agentui.variables.resolve import Layers, load_place, resolve
from agentui.variables.scopes import GLOBAL, GLOBAL_ID, BadTarget, Target, normalise, scope_ref
from agentui.variables.values import check_key, parse, render


async def put_variable(request: web.Request) -> web.Response:
    """Write one variable: 201 when that makes it, 200 when it was there."""
    put = _put_of(validate(VariableForm, await read_document(request, parse=parse)), "")
    return await write(request, _written_answer, records.put, put, now_ms())


def _written_answer(done: Written) -> web.Response:
    return data_answer(done.variable.as_json(), status=201 if done.is_new else 200)


async def put_batch(request: web.Request) -> web.Response:
    """Write up to 100 variables, all or none."""
    form = validate(BatchForm, await read_document(request, parse=parse))
    writes = [_put_of(item, f"/items/{index}") for index, item in enumerate(form.items)]
    return await write(request, _batch_answer, records.put_all, writes, now_ms())


def _batch_answer(done: Sequence[Written]) -> web.Response:
    created = sum(item.is_new for item in done)
    meta = {"total": len(done), "created": created, "updated": len(done) - created}
    return data_answer({"results": [_result(index, item) for index, item in enumerate(done)], "meta": meta})


def _put_of(form: VariableForm, path: str) -> Put:
    """What a form wants written. Raises InvalidWrite, its path below ``path``, and ValueTooLarge."""
    try:
        target = normalise(form.scope, form.scope_id, form.session_id, form.branch_id)
    except BadTarget as error:
        raise InvalidWrite(f"{path}/{error.field}", error.message, error.reason) from error
    return Put(target, check_key(form.key, f"{path}/key"), render(form.value, f"{path}/value"))


def _result(index: int, written: Written) -> Json:
    return {"index": index, "action": "created" if written.is_new else "updated", "data": written.variable.as_json()}


async def list_variables(request: web.Request) -> web.Response:
    """List variables whose hosts exist."""
    query = read_query(request, VariableQuery)
    variables, total = await read(
        request,
        records.find,
        _filter_of(query),
        sort_by=query.sort_by,
        descending=query.sort_order == "desc",
        limit=query.limit,
        offset=query.offset,
    )
    return list_answer(Listed(variables, total), query.paging, [variable.as_json() for variable in variables])


def _filter_of(query: VariableQuery) -> Filter:
    """What a query asks for. Raises InvalidWrite and InvalidContext."""
    if query.scope == "branch":
        return Filter("branch", _branch_filter(query), query.key, query.session_id)
    for name in ("session_id", "branch_id"):
        if getattr(query, name) is not None:
            raise InvalidWrite(f"/{name}", f"{name} goes with scope=branch only.")
    # Whatever a caller sends as scope_id, global has one place.
    return Filter(query.scope, GLOBAL_ID if query.scope == "global" else query.scope_id, query.key)


def _branch_filter(query: VariableQuery) -> str | None:
    """The scope_id of the branch that a query names; a session alone names all of its branches."""
    if query.branch_id is not None and query.session_id is None:
        raise InvalidWrite("/session_id", "branch_id needs session_id beside it.", "required")
    if query.scope_id is None and query.branch_id is None:
        return None
    session_id = query.session_id if query.branch_id is not None else None
    try:
        target = normalise("branch", query.scope_id, session_id, query.branch_id)
    except BadTarget as error:
        raise InvalidContext(error.message, param=error.field) from error
    if query.session_id is not None and target.branch is not None and target.branch[0] != query.session_id:
        raise InvalidContext("scope_id names a branch of another session than session_id does.", param="scope_id")
    return target.scope_id


async def get_variable(request: web.Request) -> web.Response:
    """Read a variable; one whose host is gone is not found."""
    variable = await read(request, records.get, path_id(request))
    return data_answer(variable.as_json())


async def delete_variable(request: web.Request) -> web.Response:
    """Delete a variable, also one whose host is gone."""
    return await remove(request, records.remove)


async def resolve_variables(request: web.Request) -> web.Response:
    """What is visible from a place, the nearest tier winning; durable values only."""
    query = read_query(request, ResolveQuery)
    account = account_of(request)
    place, layers = await read(request, load_place, query.session_id, query.branch_id, query.floor_id, query.page_id)
    data = {"context": _context(account, place), "resolved": _resolved(layers)}
    if query.include_layers:
        data["layers"] = {target.scope: _layer(target, layers) for target in (GLOBAL, *place.targets)}
    return data_answer(data)


def _context(account: str, place: Place) -> dict[str, Json]:
    known = {
        "session_id": place.session_id,
        "branch_id": place.branch_id,
        "floor_id": place.floor_id,
        "page_id": place.page_id,
    }
    present = {name: id for name, id in known.items() if id is not None}
    return {"account_id": account, **present, "global_scope_id": GLOBAL_ID}


def _resolved(layers: Layers) -> Sequence[Mapping[str, Json]]:
    return [
        {
            "key": key,
            "value": winner.value.value,
            "source_scope": winner.scope,
            "source_scope_id": winner.value.scope_id,
            **scope_ref(winner.value.target, "source_scope_ref"),
            "updated_at": winner.value.updated_at,
        }
        for key, winner in resolve(layers).items()
    ]


def _layer(target: Target, layers: Layers) -> dict[str, Json]:
    items: list[Variable] = sorted(layers[target.scope].values(), key=lambda variable: variable.key)
    return {**target.as_json(), "items": [variable.as_json() for variable in items]}


async def staged_variables(request: web.Request) -> web.Response:
    """What the run of a page wrote to it and to its floor; changes nothing."""
    return data_answer(await read(request, ledger.read_staged, path_id(request)))


async def promoted_variables(request: web.Request) -> web.Response:
    """What went from a page to its floor; changes nothing."""
    return data_answer(await read(request, ledger.read_promotions, path_id(request)))


async def changed_variables(request: web.Request) -> web.Response:
    """What the turn of a page changed in the tiers that outlive it; changes nothing."""
    return data_answer(await read(request, ledger.read_changes, path_id(request)))


ROUTES: tuple[Route, ...] = (
    route("PUT", "/variables", put_variable, Data[VariableData], 404, 409, 413, body=VariableForm),
    route("PUT", "/variables/batch", put_batch, Data[BatchData], 404, 409, 413, body=BatchForm),
    route("GET", "/variables", list_variables, ListData[list[VariableData]], query=described(VariableQuery)),
    # Before the route of one variable, which would take "resolve" for an id.
    route("GET", "/variables/resolve", resolve_variables, Data[ResolveData], 404, 413, query=described(ResolveQuery)),
    route("GET", "/variables/{id}", get_variable, Data[VariableData]),
    route("DELETE", "/variables/{id}", delete_variable, Data[Deleted], 409),
    route("GET", "/pages/{id}/variables/staged", staged_variables, Data[PageStaged], 413),
    route("GET", "/pages/{id}/variables/promotions", promoted_variables, Data[PagePromotions], 413),
    route("GET", "/pages/{id}/variables/changes", changed_variables, Data[PageChanges], 413),
)
"""What the server registers."""
