"""Session State for those who look for a fault in it: every mutation, what holds where, and what stands in a retry's way."""

from aiohttp import web

from agentui.api.chats.protocol import account_of, data_answer, described, list_answer, path_id, read, read_query, route
from agentui.api.chats.state import resolved_data, snapshot_data
from agentui.chats.state.namespaces import registered_at
from agentui.chats.state.observing import (
    compare_floor,
    find_mutation,
    kept_value,
    list_kept,
    list_live,
    list_mutations,
    list_page_mutations,
    live_value,
)
from agentui.chats.state.reading import Difference
from agentui.chats.state.records import SCHEMA_VERSION, Mutation, Wanted
from agentui.http.route import Route
from agentui.schemas.forms import Data, ListData
from agentui.schemas.state import ResolvedState, SnapshotState
from agentui.schemas.state_observation import (
    FloorDiffQuery,
    KeptHead,
    KeptQuery,
    LiveHead,
    LiveQuery,
    LiveValueQuery,
    MutationData,
    MutationQuery,
    ObservedDifference,
    PageMutation,
    PageMutations,
    ReplayQuery,
    ReplaySafetyData,
    StateBinding,
    WholeMutation,
)
from agentui.turns.replay import replay_safety


async def bindings(request: web.Request) -> web.Response:
    """List the namespaces of a session, the server's own first."""
    id, account = path_id(request), account_of(request)
    told: list[StateBinding] = [
        {
            "domain_id": f"{id}:{namespace}",
            "account_id": account,
            "manager_kind": "session_state",
            "host_type": "session",
            "host_id": id,
            "state_namespace": namespace,
            "require_caller_owner": True,
            "allow_auto_create_collection": False,
            "created_at": moment,
            "updated_at": moment,
        }
        for namespace, moment in await read(request, registered_at, id)
    ]
    return data_answer(told)


async def page_mutations(request: web.Request) -> web.Response:
    """List what the turn of a page wrote."""
    page, floor, made = await read(request, list_page_mutations, path_id(request))
    told: PageMutations = {
        "page_id": page.id,
        "floor_id": floor.id,
        "session_id": floor.session_id,
        "branch_id": floor.branch_id,
        "items": [_page_mutation(each, page.id, floor.id) for each in made],
    }
    return data_answer(told)


async def mutations(request: web.Request) -> web.Response:
    """List the writes to a session's state by the time they were made."""
    id, query = path_id(request), read_query(request, MutationQuery)
    listed = await read(request, list_mutations, id, query.wanted, query.paging)
    return list_answer(listed, query.paging, [_mutation(each) for each in listed.items])


async def mutation(request: web.Request) -> web.Response:
    """Read one write with its value."""
    found = await read(request, find_mutation, path_id(request), path_id(request, "mutation"))
    whole: WholeMutation = {**_mutation(found), "payload": {"present": found.is_present, "value": found.value}}
    return data_answer(whole)


async def live(request: web.Request) -> web.Response:
    """List what holds on the branches of a session, without the values."""
    id, query = path_id(request), read_query(request, LiveQuery)
    found = await read(request, list_live, id, query.branch_id, query.state_namespace)
    return data_answer([_live(branch_id, each) for branch_id, each in found])


async def live_slot(request: web.Request) -> web.Response:
    """What one slot holds on a branch, or held at a floor."""
    id, query = path_id(request), read_query(request, LiveValueQuery)
    value = await read(request, live_value, id, query.branch_id, _slot(request), query.source_floor_id)
    return data_answer(resolved_data(id, query.branch_id, value))


async def snapshots(request: web.Request) -> web.Response:
    """List what held when a floor was committed, without the values."""
    query = read_query(request, KeptQuery)
    floor, found = await read(request, list_kept, path_id(request), query.state_namespace)
    kept: list[KeptHead] = [
        {
            "state_namespace": each.namespace,
            "slot": each.slot,
            "visibility_mode": "fork_on_branch",
            "schema_version": SCHEMA_VERSION,
            "present": each.is_present,
            "session_id": floor.session_id,
            "branch_id": floor.branch_id,
            "floor_id": floor.id,
            "source_mutation_ids": [each.id],
            "committed_at": floor.updated_at,
            "payload_size_bytes": each.size,
        }
        for each in found
    ]
    return data_answer(kept)


async def snapshot_slot(request: web.Request) -> web.Response:
    """What one slot held when a floor was committed."""
    floor, value = await read(request, kept_value, path_id(request), _slot(request))
    return data_answer(snapshot_data(floor.session_id, floor.branch_id, value))


async def safety(request: web.Request) -> web.Response:
    """Whether a floor's answer may be made anew, with the confirmations that the query names."""
    id, query = path_id(request), read_query(request, ReplayQuery)
    confirmed = frozenset(query.confirmed_mutation_ids.split(","))
    blockers = await read(request, replay_safety, id, confirmed)
    return data_answer({"allowed": not blockers, "blockers": blockers})


async def diff(request: web.Request) -> web.Response:
    """Compare what held at a floor with a branch as it is, or with another floor."""
    id, query = path_id(request), read_query(request, FloorDiffQuery)
    sides = query.against_floor_id, query.branch_id
    found = await read(request, compare_floor, id, *sides, Wanted(query.state_namespace))
    return data_answer([_difference(each, with_values=query.include_values) for each in found])


def _slot(request: web.Request) -> Wanted:
    return Wanted(path_id(request, "namespace"), path_id(request, "slot"))


def _mutation(found: Mutation) -> MutationData:
    return {
        "id": found.id,
        "state_namespace": found.namespace,
        "target_slot": found.slot,
        "session_id": found.session_id,
        "branch_id": found.branch_id,
        "source_floor_id": found.floor_id,
        "visibility_mode": "fork_on_branch",
        "write_mode": found.write_mode,
        "status": found.status,
        "replay_safety": found.replay_safety,
        "run_id": found.run_id,
        "payload_size_bytes": found.size,
        "payload_present": found.is_present,
        "payload_preview": found.preview,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }


def _page_mutation(found: Mutation, page_id: str, floor_id: str) -> PageMutation:
    return {
        **_mutation(found),
        "page_id": page_id,
        "floor_id": floor_id,
        "source_kind": "turn",
        "actor_client_id": None,
        "source_page_id": page_id,
        "source_branch_id": found.branch_id,
        "commit_mode": found.write_mode,
        "request_id": None,
        "live_head_key": f"{found.branch_id}:{found.namespace}.{found.slot}",
        "discard_reason": None,
        "blocked_reason": None,
        "decision_status": "accepted" if found.status == "applied" else "discarded",
        "decision_reason": None,
        "decision_code": None,
        "linked_variable_stage_id": None,
        "applied_at": found.created_at if found.status == "applied" else None,
    }


def _live(branch_id: str, found: Mutation) -> LiveHead:
    return {
        "state_namespace": found.namespace,
        "slot": found.slot,
        "branch_id": branch_id,
        "visibility_mode": "fork_on_branch",
        "schema_version": SCHEMA_VERSION,
        "present": found.is_present,
        "source_floor_id": found.floor_id,
        "last_mutation_id": found.id,
        "updated_at": found.updated_at,
        "payload_size_bytes": found.size,
    }


def _difference(found: Difference, *, with_values: bool) -> ObservedDifference:
    told: ObservedDifference = {
        "state_namespace": found.key.namespace,
        "slot": found.key.slot,
        "change_type": found.change_type,
        "left_floor_id": found.left.floor_id,
        "right_floor_id": found.right.floor_id,
        "left_present": found.left.is_present,
        "right_present": found.right.is_present,
    }
    if with_values:
        told |= {"left_value": found.left.value, "right_value": found.right.value}
    return told


_SESSION, _FLOOR = "/sessions/{id}/session-state", "/floors/{id}/session-state"
ROUTES: tuple[Route, ...] = (
    route("GET", f"{_SESSION}/bindings", bindings, Data[list[StateBinding]]),
    route("GET", "/pages/{id}/session-state/mutations", page_mutations, Data[PageMutations]),
    route("GET", f"{_SESSION}/mutations", mutations, ListData[list[MutationData]], query=described(MutationQuery)),
    route("GET", f"{_SESSION}/mutations/{{mutation}}", mutation, Data[WholeMutation]),
    route("GET", f"{_SESSION}/live", live, Data[list[LiveHead]], query=described(LiveQuery)),
    route("GET", f"{_SESSION}/live/{{namespace}}/{{slot}}", live_slot, Data[ResolvedState], query=described(LiveValueQuery)),
    route("GET", f"{_FLOOR}/snapshots", snapshots, Data[list[KeptHead]], query=described(KeptQuery)),
    route("GET", f"{_FLOOR}/snapshots/{{namespace}}/{{slot}}", snapshot_slot, Data[SnapshotState]),
    route("GET", f"{_FLOOR}/replay-safety", safety, Data[ReplaySafetyData], query=described(ReplayQuery)),
    route("GET", f"{_FLOOR}/diff", diff, Data[list[ObservedDifference]], 413, query=described(FloorDiffQuery)),
)
