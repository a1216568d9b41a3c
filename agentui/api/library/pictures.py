"""The pictures of characters and users: shown, given and taken away."""

from hashlib import sha256

from aiohttp import web

from agentui.api.chats.protocol import data_answer, described, now_ms, path_id, read, read_query, route, write
from agentui.api.library.uploads import read_file, reading
from agentui.assets.files.limits import FileLimits
from agentui.assets.files.pictures import UNKNOWN, picture_type, read_picture
from agentui.http.route import Route
from agentui.library.assets import find_asset, find_image
from agentui.library.pictures import set_picture
from agentui.library.records import Asset, AssetKind
from agentui.schemas.forms import Data
from agentui.schemas.library import ImageQuery, RevisionQuery


def _pictures(kind: AssetKind, path: str) -> tuple[Route, ...]:
    """The routes of the pictures of one kind."""

    async def show(request: web.Request) -> web.Response:
        """Read the picture of a character or a user."""
        id, query = path_id(request), read_query(request, ImageQuery)
        data = await read(request, find_image, kind, id, query.version_id)
        media_type = picture_type(data)
        # What is no picture is never shown as what it might be: that may be a page with scripts.
        headers = {"content-disposition": "attachment"} if media_type == UNKNOWN else {}
        return web.Response(body=data, content_type=media_type, headers={"cache-control": "private, no-cache", **headers})

    async def give(request: web.Request) -> web.Response:
        """Give a character or a user a picture: the part file of a form."""
        id, query = path_id(request), read_query(request, RevisionQuery)
        await read(request, find_asset, kind, id)  # before the body is read
        data = await read_file(request)
        picture, hash = await reading(request, len(data), lambda limits: _checked(data, limits))
        return await write(request, data_answer, set_picture, kind, id, query.expected, now_ms(), picture, hash)

    async def take(request: web.Request) -> web.Response:
        """Take the picture of a character or a user away; older versions keep theirs."""
        id, query = path_id(request), read_query(request, RevisionQuery)
        return await write(request, data_answer, set_picture, kind, id, query.expected, now_ms(), None, None)

    place = f"{path}/{{id}}/image"
    return (
        route("GET", place, show, bytes, content_type="image/*", query=described(ImageQuery)),
        route("PUT", place, give, Data[Asset], 413, query=described(RevisionQuery)),
        route("DELETE", place, take, Data[Asset], query=described(RevisionQuery)),
    )


def _checked(data: bytes, limits: FileLimits) -> tuple[bytes, str]:
    picture = read_picture(data, limits)
    return picture, sha256(picture).hexdigest()


ROUTES: tuple[Route, ...] = (*_pictures("character", "/characters"), *_pictures("user", "/users"))
