"""Branches: the lines of a session."""

from contextlib import suppress

from aiohttp import web

from agentui.api.chats.protocol import (
    account_of,
    data_answer,
    described,
    list_answer,
    made_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    route,
    write,
)
from agentui.api.keys import TURNS
from agentui.chats.branches import merging, reading, writing
from agentui.chats.branches.merging import Merged, MergePreview
from agentui.chats.branches.reading import BranchDiff, BranchSummary
from agentui.chats.branches.writing import BranchReset, Forked
from agentui.errors import AgentUIError
from agentui.http.route import Route
from agentui.schemas.chats import (
    BranchListQuery,
    DeletedBranch,
    DiffQuery,
    Merge,
    MergeQuestion,
    NewBranch,
    Reset,
    SessionOfBranch,
)
from agentui.schemas.forms import Data, ListData


async def list_branches(request: web.Request) -> web.Response:
    """List the branches of a session."""
    id, query = path_id(request), read_query(request, BranchListQuery)
    listed = await read(request, reading.list_branches, id, query.paging)
    return list_answer(listed, query.paging)


async def diff_branches(request: web.Request) -> web.Response:
    """Compare two branches by the floors they lead through."""
    id, query = path_id(request), read_query(request, DiffQuery)
    return data_answer(await read(request, reading.diff_branches, id, query.base_branch_id, query.target_branch_id))


async def branch_from_floor(request: web.Request) -> web.Response:
    """Fork a branch behind a committed floor."""
    id, form = path_id(request), await read_form(request, NewBranch, optional=True)
    return await write(request, made_answer, writing.branch_from_floor, id, form.branch_id, now_ms())


async def reset_branch(request: web.Request) -> web.Response:
    """Set the floors behind one floor of a branch aside; they can still be read by id."""
    id, branch_id, form = path_id(request), path_id(request, "branch"), await read_form(request, Reset)
    return await write(
        request,
        data_answer,
        writing.reset_branch,
        id,
        branch_id,
        form.target_floor_id,
        form.expected_head_floor_id,
        now_ms(),
    )


async def preview_merge(request: web.Request) -> web.Response:
    """Say what merging a branch into another would do."""
    id, branch_id, form = path_id(request), path_id(request, "branch"), await read_form(request, MergeQuestion)
    return data_answer(await read(request, merging.preview_merge, id, branch_id, form.target_branch_id))


async def merge_branch(request: web.Request) -> web.Response:
    """Move the floors of a branch to the end of another that has not moved on since the fork."""
    id, branch_id, form = path_id(request), path_id(request, "branch"), await read_form(request, Merge)
    return await write(
        request,
        data_answer,
        merging.merge_branch,
        id,
        branch_id,
        form.target_branch_id,
        form.expected_target_head_floor_id,
        now_ms(),
    )


async def delete_branch(request: web.Request) -> web.Response:
    """Remove a branch with its floors, pages, messages and their variables; main stays."""
    branch_id, query = path_id(request), read_query(request, SessionOfBranch)
    removed_of: set[str] = set()

    def show(removed: tuple[str, list[str]]) -> web.Response:
        session_id, floor_ids = removed
        removed_of.add(session_id)
        return data_answer(DeletedBranch(branch_id, branch_id, session_id, floor_ids, len(floor_ids)))

    answer = await write(request, show, writing.remove_branch, branch_id, query.session_id, now_ms())
    # Until then nobody can have a branch of that name. A job does it where this is cut short or fails: the branch is removed.
    with suppress(AgentUIError):
        for session_id in removed_of:
            await request.app[TURNS].remove_rest([account_of(request), session_id, branch_id])
    return answer


ROUTES: tuple[Route, ...] = (
    route("GET", "/sessions/{id}/branches", list_branches, ListData[list[BranchSummary]], query=described(BranchListQuery)),
    route("GET", "/sessions/{id}/branches/diff", diff_branches, Data[BranchDiff], query=described(DiffQuery)),
    route("POST", "/sessions/{id}/branches/{branch}/reset", reset_branch, Data[BranchReset], 409, body=Reset),
    route(
        "POST",
        "/sessions/{id}/branches/{branch}/merge/preview",
        preview_merge,
        Data[MergePreview],
        body=MergeQuestion,
        writes=False,
    ),
    route("POST", "/sessions/{id}/branches/{branch}/merge", merge_branch, Data[Merged], 409, body=Merge),
    route(
        "POST",
        "/floors/{id}/branch",
        branch_from_floor,
        Data[Forked],
        409,
        body=NewBranch,
        body_optional=True,
        status=201,
    ),
    route("DELETE", "/branches/{id}", delete_branch, Data[DeletedBranch], 409, query=described(SessionOfBranch)),
)
