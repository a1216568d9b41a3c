"""
The pages in ``static/``, served from a fixed map of the files found at start.

The editor's page names its files by addresses that hold a version, ``/ui/@<version>/js/main.js``, and modules import each other
relatively; so a browser keeps them all and asks for none of the two hundred again until one of them changes.
"""

import hashlib
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from aiohttp import web

from agentui.errors import NotFound
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


REVALIDATED = "no-cache"
KEPT = "public, max-age=31536000, immutable"
"""``Cache-Control`` of a file at an address that never holds another."""
_ADDRESS = b'"/ui/'
"""How an address of a file begins in ``index.html``."""

_Stamp: TypeAlias = tuple[int, int]
"""When a file was written, in nanoseconds, and its size in bytes."""


def add_page_routes(app: web.Application) -> None:
    """
    Serve ``static/index.html`` at ``/`` and ``/ui/``, the icon, and every other file of that folder below ``/ui/`` and
    ``/ui/@<version>/``.
    """
    found = {path.relative_to(STATIC).as_posix(): path for path in sorted(STATIC.rglob("*")) if path.is_file()}
    files = _Files({name: path for name, path in found.items() if name != INDEX and not name.startswith(NOT_SERVED)})
    index = _Index(found[INDEX], files).send
    for route in ("/", "/ui/", f"/ui/{INDEX}"):
        app.router.add_get(route, index)
    app.router.add_get("/ui/@{version}/{name:.+}", files.send)
    app.router.add_get("/ui/{name:.+}", files.send)
    # Browsers ask for it beside any answer that is no page and names no icon.
    app.router.add_get("/favicon.ico", files.send_icon)


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


@dataclass(frozen=True)
class _Edition:
    """The files as they stood at one moment, those that were there: a version, which is another one when any of them changed,
    and of each its stamp and the hash of its content."""

    version: str
    files: Mapping[str, tuple[_Stamp, str]]


class _Files:
    """Every file of the editor but its page, by its path below ``static/``."""

    def __init__(self, files: dict[str, Path]) -> None:
        self._files = files
        self._known: _Edition | None = None

    def edition(self) -> _Edition:
        """Look how the files stand now; their addresses of this version may be kept by browsers from here on.

        What did not change since the last look is not read again. An update in place may have taken files away.
        """
        found: dict[str, tuple[_Stamp, str]] = {}
        before = self._known.files if self._known is not None else {}
        for name, path in self._files.items():
            with suppress(OSError):
                stamp, known = _stamp(path), before.get(name)
                found[name] = known if known is not None and known[0] == stamp else (stamp, _digest(path.read_bytes()))
        version = _digest("".join(f"{name} {digest}\n" for name, (_, digest) in found.items()).encode())
        self._known = _Edition(version, found)
        return self._known

    async def send(self, request: web.Request) -> web.Response:
        """Send a file of the editor (404 for any other name); unchanged ones are not sent again."""
        return self._answer(request, request.match_info["name"])

    async def send_icon(self, request: web.Request) -> web.Response:
        """Send the editor's icon."""
        return self._answer(request, ICON)

    def _answer(self, request: web.Request, name: str) -> web.Response:
        try:
            path = self._files[name]
            stamp, body = _stamp(path), path.read_bytes()
        except (KeyError, FileNotFoundError):
            raise NotFound(f"There is no file {name[:200]!r} of the editor.") from None
        etag = f'"{_digest(body)}"'
        headers = {
            "etag": etag,
            "cache-control": KEPT if self._is_kept(request, name, stamp) else REVALIDATED,
            "content-security-policy": CSP,
            "referrer-policy": "no-referrer",
        }
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, content_type=TYPES.get(path.suffix, "application/octet-stream"), headers=headers)

    def _is_kept(self, request: web.Request, name: str, stamp: _Stamp) -> bool:
        # A page of an older version may still be loading while the files are being replaced.
        version = request.match_info.get("version")
        if version is None:
            return False
        # The first look reads every file, so a server whose editor nobody opens does without.
        edition = self._known or self.edition()
        known = edition.files.get(name)
        return version == edition.version and known is not None and known[0] == stamp


def _stamp(path: Path) -> _Stamp:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


class _Index:
    """The editor's page; each load gets a nonce of its own, so no copy of it is kept."""

    def __init__(self, path: Path, files: _Files) -> None:
        self._path = path
        self._files = files

    async def send(self, request: web.Request) -> web.Response:
        """Send the editor's page with a fresh nonce in the page and in its Content-Security-Policy."""
        nonce = secrets.token_urlsafe(18)
        headers = {
            "cache-control": "no-store",
            "content-security-policy": index_policy(nonce),
            "referrer-policy": "no-referrer",
        }
        version = self._files.edition().version.encode()
        body = self._path.read_bytes().replace(NONCE_PLACE, nonce.encode()).replace(_ADDRESS, _ADDRESS + b"@" + version + b"/")
        return web.Response(body=body, content_type="text/html", charset="utf-8", headers=headers)
