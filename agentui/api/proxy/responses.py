"""The proxied routes' responses: whole or streamed, each of whose heads leaves in one write with what comes first.

aiohttp's own look for cookies, compression, charsets and kinds of payload, none of which an answer of ours has, send a
stream's head by itself, and pass each piece through several functions. That took longer than running a pipeline's node.
"""

import asyncio
import socket
import time
from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache

from aiohttp import HttpVersion, HttpVersion10, HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import SERVER_SOFTWARE

MAX_WAITING = 4 * 1024
"""Bytes of a stream that wait here for a caller who does not read."""
MAX_UNSENT = 16 * 1024
"""Bytes that wait in the system's buffer."""
_NOTSENT_LOWAT: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)
_UNIX: int | None = getattr(socket, "AF_UNIX", None)


def limit_unsent(transport: asyncio.Transport | None) -> None:
    """Let a stream's caller who does not read be noticed soon, so that the upstream is held instead of heard and stored.

    Left alone, the system takes some 4 MB for each connection before it says that it is full. The limit (where the system has
    one: Linux, macOS) counts only what has not been sent yet, so a fast caller far away is served as fast as before.
    """
    if transport is None:
        return
    transport.set_write_buffer_limits(high=MAX_WAITING)
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family != _UNIX and _NOTSENT_LOWAT is not None:
        connection.setsockopt(socket.IPPROTO_TCP, _NOTSENT_LOWAT, MAX_UNSENT)


class LeanResponse(web.StreamResponse):
    """An answer to a POST with status 200 and exactly these headers (names in lower case) beside those that HTTP asks for.

    It is one of aiohttp's by its name alone, writes to the connection itself, and waits whenever the caller does not read.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        # What aiohttp would set up here is for answers that change while they are made.
        self._fields = {**headers, "date": _http_date(int(time.time())), "server": SERVER_SOFTWARE}
        self._status = 200
        self._writer: AbstractStreamWriter | None = None
        self._connection: BaseProtocol | None = None
        self._keeps: bool | None = None
        self._head = b""

    @property
    def prepared(self) -> bool:
        """True once the headers can no longer be changed."""
        return self._writer is not None

    @property
    def keep_alive(self) -> bool | None:
        """Whether the connection serves another request after this one; None before ``prepare``."""
        return self._keeps

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        """Begin, if that was not done. Raises ValueError for what is no header."""
        if self._writer is None:
            self.begin(request)
        assert self._writer is not None
        return self._writer

    def begin(self, request: web.BaseRequest) -> None:
        """Put the head together; it waits for the first bytes of the body. Raises ValueError for what is no header."""
        self._writer, self._connection = request.writer, request.protocol
        version, fields = request.version, self._fields
        has_end = self._frame(version)
        self._keeps = keeps = request.keep_alive and has_end
        # What is not said is the version's habit (RFC 9112, 9.3).
        if keeps and version == HttpVersion10:
            fields["connection"] = "keep-alive"
        elif not keeps and version == HttpVersion11:
            fields["connection"] = "close"
        self._head = _render_head(version, fields)

    def _frame(self, version: HttpVersion) -> bool:
        """Say where the body ends, by length or in chunks; False where only the connection's end tells."""
        return True

    def _put(self, data: bytes) -> bool:
        """Send bytes, the head before them; False when the caller has no room for more. Raises ConnectionError when it is
        gone."""
        connection = self._connection
        assert connection is not None
        transport = connection.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("The caller is gone.")
        if self._head:
            assert self._writer is not None
            self._writer.output_size += len(self._head)  # aiohttp asks whether an answer has begun
            data, self._head = self._head + data, b""
        transport.write(data)
        return not connection.writing_paused

    async def drain(self) -> None:
        """Wait until the caller has room. Raises ConnectionError when it is gone."""
        assert self._writer is not None
        await self._writer.drain()


class WholeResponse(LeanResponse):
    """A JSON body."""

    def __init__(self, body: bytes, headers: Mapping[str, str]) -> None:
        super().__init__({**headers, "content-type": "application/json", "content-length": str(len(body))})
        self._whole = body

    async def write_eof(self, data: bytes = b"") -> None:
        """Send everything. Raises ConnectionError when the caller is gone."""
        if not self._put(self._whole):
            await self.drain()


class StreamedResponse(LeanResponse):
    """A body in pieces, as chunks (RFC 9112, 7.1) where the caller's HTTP knows them."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__(headers)
        self._in_chunks = False
        self._is_over = False

    def _frame(self, version: HttpVersion) -> bool:
        self._in_chunks = version >= HttpVersion11
        if self._in_chunks:
            self._fields["transfer-encoding"] = "chunked"
        return self._in_chunks

    def put(self, data: bytes) -> bool:
        """Send a piece, which is not empty; False when the caller has no room for more. Raises ConnectionError when it is
        gone."""
        return self._put(b"%x\r\n%b\r\n" % (len(data), data) if self._in_chunks else data)

    async def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send a piece, and wait until the caller has room for more; behind the end nothing is sent. Raises ConnectionError
        when the caller is gone."""
        if data and not self._is_over and not self.put(bytes(data)):
            await self.drain()

    async def write_eof(self, data: bytes = b"") -> None:
        """Send the end, ``data`` before it. A second end is none."""
        if self._is_over:
            return
        self._is_over = True
        if self._in_chunks:
            data = b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data) if data else b"0\r\n\r\n"
        if not self._put(data):
            await self.drain()


def _render_head(version: HttpVersion, fields: Mapping[str, str]) -> bytes:
    """The status line and the headers. Raises ValueError where a header would break out of its line."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields.items()])
    if not lines.count("\r") == lines.count("\n") == len(fields) or "\0" in lines:
        raise ValueError("A header of the answer holds a line break or NUL.")
    return f"HTTP/{version.major}.{version.minor} 200 OK\r\n{lines}\r\n".encode()


@lru_cache(maxsize=1)  # the answers of one second share it
def _http_date(second: int) -> str:
    """A moment as HTTP writes it (RFC 9110, 5.6.7)."""
    return formatdate(second, usegmt=True)
