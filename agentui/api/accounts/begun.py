"""What a browser keeps between the beginning of a sign-in and its end: a cookie for each way, because one may be begun beside
another. It is sealed, and goes to these routes only."""

from collections.abc import Collection, Mapping
from typing import Final

from aiohttp import web

from agentui.accounts.challenges import SECONDS
from agentui.accounts.codes import failure
from agentui.accounts.passkey_way import PasskeyWay
from agentui.accounts.sign_in import Begun
from agentui.accounts.single_sign_on import NAME, SingleSignOn
from agentui.api.chats.protocol import data_answer
from agentui.api.keys import SIGN_INS
from agentui.http.keys import SETTINGS
from agentui.jsonio import Json
from agentui.schemas.accounts import BegunSignIn
from agentui.settings import SIGN_IN_WAYS

COOKIES: Final[Mapping[str, str]] = {"passkey": "agentui_begun_passkey", NAME: "agentui_begun_sign_on"}
PATH: Final = "/auth"


def passkeys_of(request: web.Request) -> PasskeyWay:
    """What makes and checks passkeys. Raises 400 ``sign_in_way_unknown`` where they are off."""
    way = request.app[SIGN_INS].way("passkey")
    assert isinstance(way, PasskeyWay)
    return way


def sign_on_of(request: web.Request) -> SingleSignOn:
    """What asks the identity provider. Raises 400 ``sign_in_way_unknown`` where there is none."""
    way = request.app[SIGN_INS].way(NAME)
    assert isinstance(way, SingleSignOn)
    return way


def ways_of(request: web.Request) -> Collection[str]:
    """The ways that are on; all of them where nobody signs in, and none is more of use than another."""
    return request.app[SETTINGS].ways or SIGN_IN_WAYS


def check_home(request: web.Request) -> None:
    """Refuse to begin on a page that was opened at another address than the public one: passkeys count for that one, and an
    identity provider sends people back to it, where what their browser keeps for this one is not. Raises 409
    ``sign_in_elsewhere``."""
    public, origin = request.app[SETTINGS].public_url, request.headers.get("Origin")
    if origin is not None and origin != public:
        text = f"This way to sign in works at {public}: open the page there."
        raise failure("sign_in_elsewhere", text, public_url=public)


def begun_answer(request: web.Request, way: str, begun: Begun) -> web.Response:
    """The answer to a beginning, with the cookie that goes with it."""
    options: Json = begun.answer.get("options")
    url: Json = begun.answer.get("url")
    response = data_answer(BegunSignIn(way, options, url))
    is_secure = (request.app[SETTINGS].public_url or "").startswith("https://")
    response.set_cookie(
        COOKIES[way], begun.kept, max_age=SECONDS, path=PATH, httponly=True, samesite="Strict", secure=is_secure
    )
    return response


def kept_of(request: web.Request, way: str) -> str | None:
    """What the browser has kept since the beginning."""
    return request.cookies.get(COOKIES[way]) if way in COOKIES else None


def forget_begun(response: web.StreamResponse, way: str) -> None:
    """Let the browser forget what it has kept: it is done."""
    if way in COOKIES:
        response.del_cookie(COOKIES[way], path=PATH, httponly=True, samesite="Strict")
