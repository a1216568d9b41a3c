"""
The pages in ``static/``, served from a fixed map of the files found at start.

The editor's page names its files by addresses that hold a version, ``/ui/@<version>/js/main.js``, and modules import each other
relatively; so a browser keeps them all and asks for none of them again until one of them changes. What the page starts with is
put together (``bundle.py``) and compressed when it is first asked for. Gzip alone, which every browser takes from every server
and Python has; brotli, a library more, would save a fifth, on https and localhost only.
"""

import asyncio
import gzip
import hashlib
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from aiohttp import web

from agentui.errors import NotFound
from agentui.http.bundle import LATER, MAIN, SHEET, bundle_modules, bundle_sheets, bundle_words
from agentui.shipped import shipped

TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".map": "application/json",
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
_TEXTS = frozenset({".css", ".js", ".json", ".map", ".svg", ".txt"})
"""What is worth compressing, from ``_SMALL`` bytes on."""
_SMALL = 1000

_Stamp: TypeAlias = tuple[int, int]
"""When a file was written, in nanoseconds, and its size in bytes."""


def add_page_routes(app: web.Application) -> None:
    """
    Serve ``static/index.html`` at ``/`` and ``/ui/``, the icon, and every other file of that folder below ``/ui/`` and
    ``/ui/@<version>/``.
    """
    files = _Files(STATIC)
    index = _Index(STATIC / INDEX, files).send
    for route in ("/", "/ui/", f"/ui/{INDEX}"):
        app.router.add_get(route, index)
    app.router.add_get("/ui/@{version}/{name:.+}", files.send)
    app.router.add_get("/ui/{name:.+}", files.send)
    # Browsers ask for it beside any answer that is no page and names no icon.
    app.router.add_get("/favicon.ico", files.send_icon)


def _listed(root: Path) -> dict[str, Path]:
    """Every file that is served, by its path below this folder, in order. ``rglob`` takes several times as long."""
    start = len(str(root)) + 1
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names)
    named = sorted((path[start:].replace(os.sep, "/"), path) for path in paths)
    return {name: Path(path) for name, path in named if name != INDEX and not name.startswith(NOT_SERVED)}


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
    """Every file of the editor but its page, by its path below ``static/``, and the bundles that are made of them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: Mapping[str, Path] = {}
        self._known: _Edition | None = None
        languages = sorted(folder.name for folder in (root / "locales").iterdir())
        self._words = {f"locales/{language}.json": f"locales/{language}/" for language in languages}
        self._bundle_names = {MAIN, f"{MAIN}.map", LATER, f"{LATER}.map", SHEET, *self._words}
        self._bundles: dict[str, bytes] = {}
        self._bundled_version: str | None = None
        self._bundling = asyncio.Lock()
        self._compressed: dict[str, bytes] = {}

    def edition(self) -> _Edition:
        """Look how the files stand now; their addresses of this version may be kept by browsers from here on.

        What did not change since the last look is not read again. An update in place brings files and takes some away.
        """
        self._files = _listed(self._root)
        found: dict[str, tuple[_Stamp, str]] = {}
        before = self._known
        for name, path in self._files.items():
            with suppress(OSError):
                stamp, known = _stamp(path), before.files.get(name) if before is not None else None
                found[name] = known if known is not None and known[0] == stamp else (stamp, _digest(path.read_bytes()))
        version = _digest("".join(f"{name} {digest}\n" for name, (_, digest) in found.items()).encode())
        if before is None or version != before.version:
            self._compressed = {}
        self._known = _Edition(version, found)
        return self._known

    async def send(self, request: web.Request) -> web.Response:
        """Send a file or a bundle of the editor (404 for any other name); unchanged ones are not sent again."""
        return await self._answer(request, request.match_info["name"])

    async def send_icon(self, request: web.Request) -> web.Response:
        """Send the editor's icon."""
        return await self._answer(request, ICON)

    async def _answer(self, request: web.Request, name: str) -> web.Response:
        version = request.match_info.get("version")
        body, is_kept = await self._bundle(name, version) if name in self._bundle_names else self._read(name, version)
        suffix = Path(name).suffix
        headers = {
            "cache-control": KEPT if is_kept else REVALIDATED,
            "content-security-policy": CSP,
            "referrer-policy": "no-referrer",
            "vary": "accept-encoding",
        }
        etag = _digest(body)
        if suffix in _TEXTS and len(body) >= _SMALL and _takes_gzip(request):
            headers["content-encoding"] = "gzip"
            body = await self._compress(etag, body)
            etag += "-gzip"
        headers["etag"] = f'"{etag}"'
        if request.headers.get("If-None-Match") == headers["etag"]:
            headers.pop("content-encoding", None)
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, content_type=TYPES.get(suffix, "application/octet-stream"), headers=headers)

    def _read(self, name: str, version: str | None) -> tuple[bytes, bool]:
        """A file, and whether browsers may keep it at the address with this version. Raises NotFound."""
        self._files = self._files or _listed(self._root)
        try:
            path = self._files[name]
            stamp, body = _stamp(path), path.read_bytes()
        except (KeyError, FileNotFoundError):
            raise NotFound(f"There is no file {name[:200]!r} of the editor.") from None
        if version is None:
            return body, False
        # A page of an older version may still be loading while the files are being replaced. The first look reads every
        # file, so a server whose editor nobody opens does without.
        edition = self._known or self.edition()
        known = edition.files.get(name)
        return body, version == edition.version and known is not None and known[0] == stamp

    async def _bundle(self, name: str, version: str | None) -> tuple[bytes, bool]:
        """A bundle of the files as they stand, and whether browsers may keep it at the address with this version."""
        async with self._bundling:
            if version is None or version != self._bundled_version:
                edition = await asyncio.to_thread(self.edition)
                if edition.version != self._bundled_version:
                    self._bundles, self._bundled_version = await asyncio.to_thread(self._make_bundles), edition.version
                    # Were files replaced meanwhile, it is a mixture that nobody should keep.
                    if (await asyncio.to_thread(self.edition)).version != edition.version:
                        self._bundled_version = None
            return self._bundles[name], version is not None and version == self._bundled_version

    def _make_bundles(self) -> dict[str, bytes]:
        words = {
            name: bundle_words(self._text, [file for file in self._files if file.startswith(folder)])
            for name, folder in self._words.items()
        }
        return {**bundle_modules(self._text), SHEET: bundle_sheets(self._text), **words}

    def _text(self, name: str) -> str:
        return self._files[name].read_text("utf-8")

    async def _compress(self, digest: str, body: bytes) -> bytes:
        """The body in gzip, made once for each content and then remembered as long as no file changes."""
        compressed = self._compressed.get(digest)
        if compressed is None:
            compressed = self._compressed[digest] = await asyncio.to_thread(gzip.compress, body, mtime=0)
        return compressed


def _takes_gzip(request: web.Request) -> bool:
    """Whether the caller says that it reads gzip."""
    codings = (part.strip().lower().replace(" ", "") for part in request.headers.get("Accept-Encoding", "").split(","))
    return any(coding == "gzip" or (coding.startswith("gzip;q=") and coding.strip("0.") != "gzip;q=") for coding in codings)


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
        version = (await asyncio.to_thread(self._files.edition)).version.encode()
        body = self._path.read_bytes().replace(NONCE_PLACE, nonce.encode()).replace(_ADDRESS, _ADDRESS + b"@" + version + b"/")
        return web.Response(body=body, content_type="text/html", charset="utf-8", headers=headers)
