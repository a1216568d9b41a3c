"""A plain request: the strict subset of HTTP/1.1 that every server reads alike (RFC 9112).

It is a POST whose head came in one read, with one well-formed line for each header and one Content-Length.
"""

import asyncio
import re
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, cast

from aiohttp import HttpVersion11, web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import RawRequestMessage, StreamWriter
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

MAX_HEAD = 8190
"""Bytes of a head that is read here, which is as much as aiohttp takes for one line."""
MAX_FIELDS = 100
MAX_HELD = 128 * 1024
"""Bytes of a body that wait for their reader, or of requests that came too early, before the caller has to wait."""

_REQUEST_LINE = re.compile(rb"POST (/[!\"$-~]*) HTTP/1\.1")  # without '#', which begins a fragment
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t -~\x80-\xff]*)")  # RFC 9110, 5.5 and 5.6.2
_LENGTH = re.compile(r"[0-9]{1,15}")
_UNUSUAL = frozenset({"connection", "content-encoding", "expect", "trailer", "transfer-encoding", "upgrade"})
"""Headers that change how a request is read; of them, ``connection`` may say that this is the last one."""


class Head(NamedTuple):
    """A plain request's head: its target as it came, the path in it, the same as a URL, its headers (names in lower case, each
    once), the body's length, and where the body begins."""

    target: str
    path: str
    url: URL
    headers: dict[str, str]
    length: int
    end: int


def read_head(data: bytes) -> Head | None:
    """The head of a POST that ``data`` begins with, where it is a whole and plain one, else None."""
    end = data.find(b"\r\n\r\n", 0, MAX_HEAD)
    if end < 0:
        return None
    first, *lines = data[:end].split(b"\r\n")
    line = _request_line(first)
    if line is None or len(lines) > MAX_FIELDS:
        return None
    fields = [field for field in map(_field, lines) if field is not None]
    headers = dict(fields)
    if not len(headers) == len(fields) == len(lines):
        return None  # one is none, or stands twice
    length = headers.get("content-length", "")
    if "host" not in headers or not _LENGTH.fullmatch(length) or not _is_usual(headers):
        return None
    return Head(*line, headers, int(length), end + 4)


@lru_cache(maxsize=256)  # there are as many lines as pipelines and dialects
def _request_line(line: bytes) -> tuple[str, str, URL] | None:
    """The target of a POST, the path in it, and the same as a URL; None for any other line."""
    if (match := _REQUEST_LINE.fullmatch(line)) is None:
        return None
    target = match[1].decode()
    path, mark, query = target.partition("?")
    return target, path, URL.build(path=path, query_string=query if mark else "", encoded=True)


@lru_cache(maxsize=512)  # a caller says the same in every request, but for the length
def _field(line: bytes) -> tuple[str, str] | None:
    """A header's name in lower case and its value; None for what is no header."""
    field = _FIELD.fullmatch(line)
    return field and (field[1].decode().lower(), field[2].strip(b" \t").decode("utf-8", "surrogateescape"))


def _is_usual(headers: dict[str, str]) -> bool:
    """True when nothing in the headers changes how the request is read."""
    odd = _UNUSUAL & headers.keys()
    return not odd or (odd == {"connection"} and headers["connection"].lower() in ("keep-alive", "close"))


class PlainRequest(web.Request):
    """A request that was read here. ``fields`` are its headers by their names in lower case."""

    ATTRS = web.Request.ATTRS | frozenset({"fields"})

    def __init__(self, head: Head, body: "Body", connection: BaseProtocol, loop: asyncio.AbstractEventLoop) -> None:
        self.fields = head.headers
        headers = CIMultiDictProxy(CIMultiDict(head.headers))
        closes = head.headers.get("connection", "").lower() == "close"
        message = RawRequestMessage("POST", head.target, HttpVersion11, headers, (), closes, None, False, False, head.url)
        # aiohttp's own classes in name; in truth what they need of them.
        payload, protocol, task = cast(Any, body), cast(Any, connection), cast(Any, None)
        super().__init__(message, payload, protocol, StreamWriter(connection, loop), task, loop)


class Line(Protocol):
    """What a body asks of the connection on which it comes."""

    def pause(self) -> None:
        """Let the caller wait."""

    def resume(self) -> None:
        """Let the caller go on."""


class Body:
    """A request's body of ``length`` bytes while it arrives: what ``read_body`` needs of aiohttp's reader."""

    def __init__(self, length: int, connection: Line, loop: asyncio.AbstractEventLoop) -> None:
        self._left = length
        self._connection = connection
        self._loop = loop
        self._pieces: list[bytes] = []
        self._held = 0
        self._waiter: asyncio.Future[None] | None = None
        self._is_wanted = True

    def feed(self, data: bytes) -> bytes:
        """Take in what came; returns what is the next request's."""
        own, rest = (data, b"") if len(data) <= self._left else (data[: self._left], data[self._left :])
        if own:
            self._left -= len(own)
            if self._is_wanted:
                self._pieces.append(own)
                self._held += len(own)
                if self._held > MAX_HELD and self._left:
                    self._connection.pause()
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)
        return rest

    def is_eof(self) -> bool:
        """True when all of it has come, read or not."""
        return self._left == 0

    def exception(self) -> BaseException | None:
        """Nothing: a length that was declared comes, or its connection ends, and with it whoever reads."""
        return None

    def read_nowait(self, size: int = -1) -> bytes:
        """All that has come and was not read yet."""
        pieces, self._pieces, self._held = self._pieces, [], 0
        self._connection.resume()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def readany(self) -> bytes:
        """The next bytes; b"" at the end."""
        while not self._pieces and self._left:
            self._waiter = self._loop.create_future()
            await self._waiter
        return self.read_nowait()

    def discard(self) -> None:
        """Nobody reads it any more: let the rest come and go."""
        self._is_wanted = False
        self.read_nowait()
