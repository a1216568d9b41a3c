"""The pages in ``static/``, served from a fixed map of the files found at start."""

import hashlib
from pathlib import Path

from aiohttp import web

TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
"""Content types by suffix; our own, because some systems' tables call JavaScript plain text."""

STATIC = Path(__file__).resolve().parent.parent.parent / "static"
CSP = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"


def add_page_routes(app: web.Application) -> None:
    """Serve ``static/index.html`` at ``/`` and ``/ui/``, and every other file of that folder below ``/ui/``."""
    files = {path.relative_to(STATIC).as_posix(): path for path in sorted(STATIC.rglob("*")) if path.is_file()}
    for name, path in files.items():
        handler = _Page(path).send
        app.router.add_get(f"/ui/{name}", handler)
        if name == "index.html":
            app.router.add_get("/", handler)
            app.router.add_get("/ui/", handler)


class _Page:
    """One file of the editor."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._type = TYPES.get(path.suffix, "application/octet-stream")

    async def send(self, request: web.Request) -> web.Response:
        """Send a file of the editor; unchanged ones are not sent again."""
        body = self._path.read_bytes()
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        headers = {"etag": etag, "cache-control": "no-cache", "content-security-policy": CSP, "referrer-policy": "no-referrer"}
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, content_type=self._type, headers=headers)
