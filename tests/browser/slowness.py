"""Slow pages and slow answers: what ``--slow-pages`` and ``--slow-answers`` ask for, to show which tests do not wait."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from aiohttp import web
from aiohttp.typedefs import Handler

if TYPE_CHECKING:
    from playwright.async_api import Page

Slowed = Callable[["Page"], Awaitable[None]]
"""Slows a page down."""


def slow_pages(times: float) -> Slowed:
    """Lets pages compute as if the machine were so many times slower; 1 leaves them alone."""

    async def slow_down(page: "Page") -> None:
        if times != 1:
            session = await page.context.new_cdp_session(page)
            await session.send("Emulation.setCPUThrottlingRate", {"rate": times})

    return slow_down


def slow_answers(milliseconds: float) -> Callable[[web.Application], None]:
    """
    Lets what the scripts of a page ask a server arrive up to so many milliseconds late, and the answers leave as late again: each
    by chance, so that one may overtake another as on a busy machine. 0 leaves the server alone.

    Files of the page and clients that are none are as quick as ever: only a browser says that a script asks
    (``Sec-Fetch-Dest: empty``).
    """

    async def wait(request: web.Request) -> None:
        if request.headers.get("Sec-Fetch-Dest") == "empty" and not request.path.startswith("/ui/"):
            await asyncio.sleep(random.uniform(0, milliseconds / 1000))

    @web.middleware
    async def arrive_late(request: web.Request, handler: Handler) -> web.StreamResponse:
        await wait(request)
        return await handler(request)

    async def leave_late(request: web.Request, _response: web.StreamResponse) -> None:
        await wait(request)

    def slow_down(app: web.Application) -> None:
        if milliseconds:
            app.middlewares.insert(0, arrive_late)
            app.on_response_prepare.append(leave_late)

    return slow_down
