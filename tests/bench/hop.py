"""The floor: a plain aiohttp proxy, which passes the bytes of a request on with aiohttp's client, and those of the answer back.

``python -m tests.bench.hop PORT`` prints its own port. No pipeline, no dialects, no checks, no log, and nothing is parsed.
"""

import asyncio
import sys

import aiohttp
from aiohttp import web

SESSION: web.AppKey[aiohttp.ClientSession] = web.AppKey("session", aiohttp.ClientSession)
HEADERS = {"content-type": "application/json", "accept-encoding": "identity"}


async def main(upstream: str) -> None:
    """Serve until killed."""

    async def forward(request: web.Request) -> web.StreamResponse:
        session = request.app[SESSION]
        async with session.post(upstream + request.path, data=await request.read(), headers=HEADERS) as answer:
            if answer.content_type == "text/event-stream":
                response = web.StreamResponse(headers={"content-type": "text/event-stream"})
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
                return response
            return web.Response(body=await answer.read(), content_type="application/json")

    app = web.Application(client_max_size=64 * 1024 * 1024)
    app[SESSION] = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
    )
    app.router.add_post("/{path:.*}", forward)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        import uvloop
    except ImportError:
        sys.exit(asyncio.run(main(sys.argv[1])))
    uvloop.run(main(sys.argv[1]))
