"""The pages in ``static/``, served from a fixed map of the files found at start."""

import hashlib
import secrets
from pathlib import Path

from aiohttp import web

from agentui.shipped import shipped

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

STATIC = shipped("static")
NOT_SERVED = "vendor/build/"
"""What the bundles are built from; maintainers need it, pages do not."""
CSP = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
INDEX = "index.html"
ICON = "icon.svg"
NONCE_PLACE = b"__CSP_NONCE__"
"""Stands in ``index.html`` for the nonce, which scripts read from ``<meta name="csp-nonce">``."""


def add_page_routes(app: web.Application) -> None:
    """Serve ``static/index.html`` at ``/`` and ``/ui/``, every other file of that folder below ``/ui/``, and the icon."""
    files = {path.relative_to(STATIC).as_posix(): path for path in sorted(STATIC.rglob("*")) if path.is_file()}
    for name, path in files.items():
        if name.startswith(NOT_SERVED):
            continue
        if name == INDEX:
            index = _Index(path).send
            for route in ("/", "/ui/", f"/ui/{INDEX}"):
                app.router.add_get(route, index)
        else:
            app.router.add_get(f"/ui/{name}", _Page(path).send)
    # Browsers ask for it beside any answer that is no page and names no icon.
    app.router.add_get("/favicon.ico", _Page(files[ICON]).send)


def index_policy(nonce: str) -> str:
    """The Content-Security-Policy of the editor's page, for the nonce of one load.

    Scripts come from this origin only, and never from strings. Style sheets come from this origin or carry the nonce:
    CodeMirror writes its themes into ``<style>`` elements and takes the nonce through ``EditorView.cspNonce``. Images may be
    made by the page itself (``data:``, ``blob:``); connections go to this origin only; workers are not used.
    """
    return (
        f"{CSP}; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:;"
        " connect-src 'self'; worker-src 'none'"
    )


class _Index:
    """The editor's page; each load gets a nonce of its own, so no copy of it is kept."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def send(self, request: web.Request) -> web.Response:
        """Send the editor's page with a fresh nonce in the page and in its Content-Security-Policy."""
        nonce = secrets.token_urlsafe(18)
        headers = {
            "cache-control": "no-store",
            "content-security-policy": index_policy(nonce),
            "referrer-policy": "no-referrer",
        }
        body = self._path.read_bytes().replace(NONCE_PLACE, nonce.encode())
        return web.Response(body=body, content_type="text/html", charset="utf-8", headers=headers)


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
