"""Sessions as the routes of profiles name them."""

from aiohttp import web

from agentui.api.chats.protocol import read
from agentui.profiles.records import Place
from agentui.profiles.stored import check_place


async def checked_session(request: web.Request, session: str) -> str:
    """The session's id. Raises 404 ``session_scope_not_found``."""
    await read(request, check_place, Place.of(session))
    return session
