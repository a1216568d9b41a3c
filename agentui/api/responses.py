"""The proxied routes' responses: whole or streamed, each of whose heads leaves in one write with what comes first.

aiohttp's own look for cookies, compression, charsets and kinds of payload, none of which an answer of ours has, and send a
stream's head by itself. That took longer than running a pipeline's node.
"""

import time
from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache

from aiohttp import HttpVersion10, HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import SERVER_SOFTWARE


class LeanResponse(web.StreamResponse):
    """An answer to a POST with status 200 and exactly these headers (names in lower case) beside those that HTTP asks for."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__(headers={**headers, "date": _http_date(int(time.time())), "server": SERVER_SOFTWARE})
        self._writer: AbstractStreamWriter | None = None
        self._keeps: bool | None = None

    @property
    def prepared(self) -> bool:
        """True once the headers can no longer be changed."""
        return self._writer is not None

    @property
    def keep_alive(self) -> bool | None:
        """Whether the connection serves another request after this one; None before ``prepare``."""
        return self._keeps

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        """Put the head together; it waits in the writer for the first bytes of the body."""
        if self._writer is not None:
            return self._writer
        self._writer = writer = request.writer
        self._keeps = request.keep_alive
        version = request.version
        if "content-length" not in self.headers:
            if version >= HttpVersion11:
                writer.enable_chunking()
                self.headers["transfer-encoding"] = "chunked"
            else:
                self._keeps = False  # its end is the connection's
        # What is not said is the version's habit (RFC 9112, 9.3).
        if self._keeps and version == HttpVersion10:
            self.headers["connection"] = "keep-alive"
        elif not self._keeps and version == HttpVersion11:
            self.headers["connection"] = "close"
        await writer.write_headers(f"HTTP/{version.major}.{version.minor} 200 OK", self.headers)
        return writer


class WholeResponse(LeanResponse):
    """A JSON body."""

    def __init__(self, body: bytes, headers: Mapping[str, str]) -> None:
        super().__init__({**headers, "content-type": "application/json", "content-length": str(len(body))})
        self._whole = body

    async def write_eof(self, data: bytes = b"") -> None:
        """Send everything. Raises ConnectionError when the caller is gone."""
        assert self._writer is not None
        await self._writer.write_eof(self._whole)


class StreamedResponse(LeanResponse):
    """A body in pieces."""

    async def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send a piece, once the caller has room for it. Raises ConnectionError when the caller is gone."""
        assert self._writer is not None
        await self._writer.write(data)

    async def write_eof(self, data: bytes = b"") -> None:
        """Send the end, ``data`` before it. A second end is none."""
        assert self._writer is not None
        await self._writer.write_eof(data)


@lru_cache(maxsize=1)  # the answers of one second share it
def _http_date(second: int) -> str:
    """A moment as HTTP writes it (RFC 9110, 5.6.7)."""
    return formatdate(second, usegmt=True)
