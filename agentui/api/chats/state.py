"""Session State: values that clients keep beside a chat, in namespaces of slots, and their past by floors."""

from functools import partial

from aiohttp import web

from agentui.api.chats.protocol import (
    MAX_BODY,
    data_answer,
    described,
    made_answer,
    now_ms,
    path_id,
    read,
    read_document,
    read_form,
    read_query,
    route,
    validate,
    write,
)
from agentui.chats.state.limits import rendered
from agentui.chats.state.namespaces import GAME_SLOTS, NewNamespace, list_namespaces, register_namespace
from agentui.chats.state.reading import Difference, compare, read_snapshot, resolve
from agentui.chats.state.records import GAME, SCHEMA_VERSION, Key, Namespace, ReplaySafety, Slot, StateValue, Write, WriteMode
from agentui.chats.state.writing import write_direct
from agentui.http.route import Route
from agentui.schemas.forms import Data
from agentui.schemas.state import (
    HeldData,
    NamespaceData,
    NamespaceForm,
    ResolvedState,
    SlotData,
    SlotForm,
    SnapshotState,
    StateDifference,
    StateDiffQuery,
    StateResolveQuery,
    ValueForm,
    WantedQuery,
)
from agentui.threads import apart
from agentui.variables.values import parse

_BODY = 2 * MAX_BODY
"""The largest body of a write: its value may be as large as a value can be, so that it is told by its own code."""
_MODES: list[WriteMode] = ["direct", "commit_bound"]


async def register(request: web.Request) -> web.Response:
    """Register a namespace in a session."""
    id, form = path_id(request), await read_form(request, NamespaceForm)
    new = NewNamespace(form.namespace, form.logical_owner_type, form.logical_owner_id, form.default_replay_safety)
    return await write(request, lambda made: made_answer(_custom(made)), register_namespace, id, new, now_ms())


async def namespaces(request: web.Request) -> web.Response:
    """List the namespaces of a session with their slots, the server's own first."""
    found = await read(request, list_namespaces, path_id(request))
    slots = [_slot(slot, "safe", is_custom=False) for slot in GAME_SLOTS]
    built_in: NamespaceData = {"namespace": GAME, "owner_kind": "built_in", "slots": slots}
    return data_answer([built_in, *(_custom(namespace) for namespace in found)])


async def write_value(request: web.Request) -> web.Response:
    """Write one slot of a branch at once."""
    document = await read_document(request, parse=parse, limit=_BODY)
    form = validate(ValueForm, document)
    text = await apart(request.content_length or 0, partial(rendered, form.value, "/value"))
    return await _write(request, form, text)


async def delete_value(request: web.Request) -> web.Response:
    """Take the value of a slot away; what was written before stays in the past."""
    return await _write(request, await read_form(request, SlotForm), None)


async def _write(request: web.Request, form: SlotForm, text: str | None) -> web.Response:
    id, change = path_id(request), Write(Key(form.namespace, form.slot), text)
    show = partial(resolved_data, id, form.branch_id)
    return await write(request, lambda done: data_answer(show(done)), write_direct, id, form.branch_id, change, now_ms())


async def resolve_state(request: web.Request) -> web.Response:
    """What the slots of a session hold on a branch, or held at a floor."""
    id, query = path_id(request), read_query(request, StateResolveQuery)
    found = await read(request, resolve, id, query.branch_id, query.wanted, query.source_floor_id)
    return data_answer([resolved_data(id, query.branch_id, value) for value in found])


async def floor_snapshot(request: web.Request) -> web.Response:
    """What the slots held when a floor was committed."""
    id, floor_id, query = path_id(request), path_id(request, "floor"), read_query(request, WantedQuery)
    floor, found = await read(request, read_snapshot, id, floor_id, query.wanted)
    return data_answer([snapshot_data(id, floor.branch_id, value) for value in found])


async def diff(request: web.Request) -> web.Response:
    """Compare what held at a floor with a branch as it is, or with another floor."""
    id, query = path_id(request), read_query(request, StateDiffQuery)
    sides = query.floor_id, query.against_floor_id, query.branch_id
    return data_answer([_difference(each) for each in await read(request, compare, id, *sides, query.wanted)])


def _custom(namespace: Namespace) -> NamespaceData:
    safety = namespace.replay_safety
    return {
        "namespace": namespace.name,
        "owner_kind": "custom",
        "logical_owner_type": namespace.owner_type,
        "logical_owner_id": namespace.owner_id,
        "default_slot_template": {
            "default_visibility_mode": "fork_on_branch",
            "default_write_mode": "direct",
            "default_replay_safety": safety,
            "client_writable": True,
            "allowed_write_modes": _MODES,
            "supports_snapshot": True,
            "supports_diff": True,
            "replay_policy_source": "system_default" if safety == "safe" else "namespace",
        },
        "slots": [_slot(slot, safety, is_custom=True) for slot in namespace.slots],
    }


def _slot(slot: Slot, safety: ReplaySafety, *, is_custom: bool) -> SlotData:
    return {
        "slot": slot.name,
        "exposure_lifecycle": "public_stable",
        "visibility_mode": "fork_on_branch",
        "default_write_mode": "direct" if is_custom else "commit_bound",
        "default_replay_safety": safety,
        "schema_version": SCHEMA_VERSION,
        "size_budget_bytes": slot.size_budget,
        "capabilities": {
            "client_readable": True,
            "client_writable": is_custom,
            "allowed_write_modes": _MODES if is_custom else [],
            "supports_snapshot": True,
            "supports_diff": True,
        },
    }


def _held(session_id: str, branch_id: str, value: StateValue) -> HeldData:
    return {
        "namespace": value.key.namespace,
        "slot": value.key.slot,
        "visibility_mode": "fork_on_branch",
        "schema_version": SCHEMA_VERSION,
        "present": value.is_present,
        "value": value.value,
        "session_id": session_id,
        "branch_id": branch_id,
        "floor_id": value.floor_id,
        "source_mutation_ids": list(value.mutation_ids),
    }


def resolved_data(session_id: str, branch_id: str, value: StateValue) -> ResolvedState:
    """What a slot holds on a branch, as it is told."""
    return {**_held(session_id, branch_id, value), "source": value.source, "updated_at": value.at}


def snapshot_data(session_id: str, branch_id: str, value: StateValue) -> SnapshotState:
    """What a slot held at a floor, as it is told."""
    return {**_held(session_id, branch_id, value), "committed_at": value.at}


def _difference(found: Difference) -> StateDifference:
    return {
        "namespace": found.key.namespace,
        "slot": found.key.slot,
        "change_type": found.change_type,
        "left_floor_id": found.left.floor_id,
        "right_floor_id": found.right.floor_id,
        "left_present": found.left.is_present,
        "right_present": found.right.is_present,
        "left_value": found.left.value,
        "right_value": found.right.value,
    }


_STATE = "/sessions/{id}/state"
ROUTES: tuple[Route, ...] = (
    route("POST", f"{_STATE}/namespaces", register, Data[NamespaceData], 409, 413, body=NamespaceForm, status=201),
    route("GET", f"{_STATE}/namespaces", namespaces, Data[list[NamespaceData]]),
    route("POST", f"{_STATE}/values/write", write_value, Data[ResolvedState], 409, 413, body=ValueForm),
    route("DELETE", f"{_STATE}/values", delete_value, Data[ResolvedState], 409, 413, body=SlotForm),
    route("GET", f"{_STATE}/resolve", resolve_state, Data[list[ResolvedState]], 413, query=described(StateResolveQuery)),
    route(
        "GET",
        f"{_STATE}/floors/{{floor}}/snapshot",
        floor_snapshot,
        Data[list[SnapshotState]],
        413,
        query=described(WantedQuery),
    ),
    route("GET", f"{_STATE}/diff", diff, Data[list[StateDifference]], 413, query=described(StateDiffQuery)),
)
