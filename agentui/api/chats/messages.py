"""Messages: what is said on a page."""

from aiohttp import web

from agentui.api.chats.protocol import (
    data_answer,
    deleted_answer,
    described,
    list_answer,
    made_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    remove,
    route,
    write,
)
from agentui.chats import messages
from agentui.chats.messages import MessageFilter, NewMessage, Shown
from agentui.chats.parts import read_blob
from agentui.chats.records import Message
from agentui.http.route import Route
from agentui.schemas.chats import (
    MessagePatch,
    MessageQuery,
    NewMessageForm,
    VisibilityBatch,
    VisibilityMeta,
    VisibilityResult,
    VisibilityResults,
)
from agentui.schemas.forms import Data, Deleted, DeleteResults, IdBatch, ListData


async def create_message(request: web.Request) -> web.Response:
    """Write a message on a page of a floor that is not committed."""
    form = await read_form(request, NewMessageForm)
    new = NewMessage(**form.model_dump())
    return await write(request, made_answer, messages.create_message, new, now_ms())


async def list_messages(request: web.Request) -> web.Response:
    """List messages."""
    query = read_query(request, MessageQuery)
    wanted = MessageFilter(query.page_id, query.floor_id, query.session_id, query.role, query.is_hidden)
    listed = await read(request, messages.list_messages, query.paging, wanted)
    return list_answer(listed, query.paging)


async def get_message(request: web.Request) -> web.Response:
    """Read a message."""
    return data_answer(await read(request, messages.find_message, path_id(request)))


async def get_blob(request: web.Request) -> web.Response:
    """Read the data of an image, sound, film or file among a message's parts, by its ``blob``."""
    id, hash = path_id(request), path_id(request, "hash")
    data = await read(request, read_blob, id, hash)
    # Never shown as what its sender says it is: that may be a page with scripts.
    headers = {"content-disposition": "attachment", "cache-control": "private, max-age=31536000, immutable"}
    return web.Response(body=data, content_type="application/octet-stream", headers=headers)


async def update_message(request: web.Request) -> web.Response:
    """Change a message of a floor that is not committed."""
    id, form = path_id(request), await read_form(request, MessagePatch)
    return await write(request, data_answer, messages.update_message, id, form.given, now_ms())


async def delete_message(request: web.Request) -> web.Response:
    """Remove a message of a floor that is not committed."""
    return await remove(request, messages.remove_message, now_ms())


async def hide_messages(request: web.Request) -> web.Response:
    """Hide messages, or show them again; one on a committed floor refuses all."""
    form = await read_form(request, VisibilityBatch)

    def show(results: list[Shown]) -> web.Response:
        updated = sum(result.is_known for result in results)
        meta = VisibilityMeta(len(results), updated, len(results) - updated, form.is_hidden)
        return data_answer(VisibilityResults([_visibility(result) for result in results], meta))

    return await write(request, show, messages.hide_messages, form.ids, form.is_hidden, now_ms())


def _visibility(result: Shown) -> VisibilityResult:
    told: VisibilityResult = {"index": result.index, "id": result.id, "action": "updated" if result.is_known else "not_found"}
    if result.message is not None:
        told["data"] = result.message
    return told


async def delete_messages(request: web.Request) -> web.Response:
    """Remove messages; one on a committed floor refuses all."""
    form = await read_form(request, IdBatch)
    return await write(request, deleted_answer, messages.remove_messages, form.ids, now_ms())


ROUTES: tuple[Route, ...] = (
    route("POST", "/messages", create_message, Data[Message], 404, 409, 413, body=NewMessageForm, status=201),
    route("GET", "/messages", list_messages, ListData[list[Message]], query=described(MessageQuery)),
    route("PATCH", "/messages/batch/visibility", hide_messages, Data[VisibilityResults], 409, body=VisibilityBatch),
    route("POST", "/messages/batch/delete", delete_messages, Data[DeleteResults], 409, body=IdBatch),
    route("GET", "/messages/{id}", get_message, Data[Message]),
    route("GET", "/messages/{id}/blobs/{hash}", get_blob, bytes, content_type="application/octet-stream"),
    route("PATCH", "/messages/{id}", update_message, Data[Message], 409, 413, body=MessagePatch),
    route("DELETE", "/messages/{id}", delete_message, Data[Deleted], 409),
)
