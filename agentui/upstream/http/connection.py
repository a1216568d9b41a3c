"""One connection to an upstream: a request goes out, its answer comes in.

    send ──> head_received() ──> take(), arrival() ... until is_complete ──> reset ──> send the next one
                                   │
                                   └── leaving before that: abort

llhttp (httptools) reads the answers. Nothing is polite here: whoever leaves early drops the connection, so that the upstream
stops working. At most 64 KB and one read of the socket are held for a reader who is slow, and of an event stream 4 KB and a
read of 4 KB: there are many of those at once, they stay long, and what they say comes in small pieces. What kind it is shows
in the first read, which takes 128 KB.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from agentui.upstream.http.request import Origin

MAX_PIECE = 64 * 1024
"""Bytes handed out at once, and bytes held before the upstream is asked to wait."""
MAX_EVENTS_HELD = 4 * 1024
"""The same for an event stream, and bytes that one read of it takes from the system."""
MAX_HEAD = 64 * 1024
"""Bytes of headers and trailers in one answer, and bytes that may come without headers or body being made of them."""
MAX_FIELDS = 256
"""Headers and trailers of one answer."""
MAX_INTERIM = 20
"""Interim answers (1xx) before the real one; more than that is a flood."""
_AT_ONCE = 256 * 1024
"""Bodies beyond this many bytes are written in pieces of this size, as fast as the upstream takes them."""
_MAX_READ = 256 * 1024
"""Bytes that one read takes from the system."""
_FIRST_READ = 128 * 1024
"""Bytes that a read takes while it is not known what comes: a whole answer mostly comes in one, and is in one piece then."""


class Disconnected(Exception):
    """The connection ended before the answer did. ``stale``: it was an old one, and not a byte came back."""

    def __init__(self, *, stale: bool) -> None:
        super().__init__("stale" if stale else "no answer")
        self.stale = stale


class Malformed(Exception):
    """What came is not HTTP, or too much of it."""


class _Reads(threading.local):
    """Where a read puts its bytes before they are looked at, which is at once: one place serves all connections of a loop."""

    def __init__(self) -> None:
        self.room = memoryview(bytearray(_MAX_READ))


_reads = _Reads()


class Connection(asyncio.BufferedProtocol):
    """One connection, used for one request at a time.

    ``status`` is 0 until the headers of the real answer are there; ``headers`` have lower-case names, and the first of several
    wins. ``is_complete`` turns true when the whole answer has arrived, ``failure`` is set when it never will. ``on_lost``
    hears when the connection is gone.
    """

    def __init__(self, origin: Origin, on_lost: Callable[["Connection"], None]) -> None:
        self.origin = origin
        self.idle_since = 0.0
        self.status = 0
        self.headers: dict[str, str] = {}
        self.pieces: deque[bytes] = deque()
        self.is_complete = False
        self.failure: Disconnected | Malformed | None = None
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._room = _reads.room
        self._lost = self._loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._waiter: asyncio.Future[None] | None = None
        self._uses = 0
        self._has_received = False
        self._keeps = True
        self._ends_with_connection = False
        self._is_bodiless = False
        self._fields: list[tuple[bytes, bytes]] = []
        self._barren = 0
        self._interim = 0
        self._held = 0
        self._most_held = MAX_PIECE
        self._read_size = _FIRST_READ
        self._reads = True
        self._writes = True
        self._unsent = memoryview(b"")

    # -- for whoever asks

    def send(self, head: bytes, body: bytes | None, *, is_bodiless: bool = False) -> None:
        """Send a request; ``is_bodiless`` when its answer has no body whatever its headers say (HEAD).

        Raises Disconnected when the connection is gone already.
        """
        if self._transport is None:
            raise Disconnected(stale=self._uses > 0)
        self.is_complete = False
        self._is_bodiless = is_bodiless
        self._uses += 1
        if not body:
            self._transport.write(head)
        elif len(body) <= _AT_ONCE:
            self._transport.writelines((head, body))
        else:
            self._transport.write(head)
            self._unsent = memoryview(body)
            self._pump()

    async def write(self, piece: bytes) -> None:
        """Send the next piece of a body whose head was sent; returns when there is room for more, or when an answer comes.

        Raises Disconnected or Malformed when the connection is gone.
        """
        if self._transport is not None:
            self._transport.write(piece)
        while not self._writes and not self.status and self.failure is None:
            await self.arrival()
        if self.failure is not None:
            raise self.failure

    def keep_no_longer(self) -> None:
        """Let this exchange be the last one here: its request may not be sent to the end."""
        self._keeps = False

    async def head_received(self) -> None:
        """Wait for the answer's headers. Raises Disconnected or Malformed when they will not come."""
        while not self.status:
            if self.failure is not None:
                raise self.failure
            await self.arrival()

    def arrival(self) -> asyncio.Future[None]:
        """Done when there is something new: headers, a piece of the body, the end or a failure. One waits at a time."""
        waiter = self._waiter = self._loop.create_future()
        return waiter

    def take(self) -> bytes:
        """The body's bytes that are there, 64 KB at most; b"" where there are none."""
        pieces = self.pieces
        if not pieces:
            return b""
        piece = pieces.popleft()
        if len(piece) > MAX_PIECE:
            pieces.appendleft(piece[MAX_PIECE:])
            piece = piece[:MAX_PIECE]
        elif pieces and len(piece) + len(pieces[0]) <= self._most_held:
            piece = self._joined(piece)
        self._held -= len(piece)
        if not self._reads and self._held <= self._most_held:
            self._resume()
        return piece

    def take_all(self, limit: int) -> bytes | None:
        """All of the body's bytes that are there; None, with nothing taken, where they are more than ``limit``."""
        if self._held > limit:
            return None
        pieces = self.pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self._held = 0
        if not self._reads:
            self._resume()
        return body

    @property
    def is_open(self) -> bool:
        """True while another request can be asked here."""
        return self._transport is not None and self._keeps and not self._transport.is_closing()

    @property
    def is_reusable(self) -> bool:
        """True when the exchange is over on both sides, and the connection outlives it."""
        return (
            self.is_complete
            and self._keeps
            and not self._unsent
            and self._transport is not None
            and not self._transport.is_closing()
            and not self._transport.get_write_buffer_size()
        )

    def reset(self) -> None:
        """Wait for the next request; what is left of the last answer is forgotten."""
        self.status = self._held = self._barren = self._interim = 0
        self._read_size = _FIRST_READ
        self.headers = {}
        self._fields.clear()
        self.pieces.clear()
        self._has_received = False
        self.idle_since = time.monotonic()
        if not self._reads:
            self._resume()

    def abort(self) -> None:
        """Drop the connection now; whoever waits for the rest of an answer is woken by a failure."""
        self._fail(Disconnected(stale=False))
        self._unsent = memoryview(b"")
        if self._transport is not None:
            self._transport.abort()

    async def closed(self) -> None:
        """Wait until the connection is gone."""
        await asyncio.shield(self._lost)

    # -- for the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """There is a connection."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's have the methods, not the class

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._end(is_clean=exc is None)
        self._transport = self._parser = None  # the parser holds this object
        self._unsent = memoryview(b"")
        if not self._lost.done():
            self._lost.set_result(None)
        self._on_lost(self)

    def eof_received(self) -> None:
        """The upstream will say no more."""
        self._end(is_clean=True)
        if self._transport is not None:
            self._transport.abort()  # a polite close would first send what is left of the request

    def pause_writing(self) -> None:
        """The upstream does not take more for now."""
        self._writes = False

    def resume_writing(self) -> None:
        """It does again."""
        self._writes = True
        self._pump()
        if not self.status:
            self._wake()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes go."""
        return self._room[: self._read_size]

    def buffer_updated(self, nbytes: int) -> None:
        """They are there."""
        self.data_received(self._room[:nbytes])

    def data_received(self, data: bytes | memoryview) -> None:
        """Read what came, and wake whoever waits for it."""
        if self._parser is None or self.failure is not None:
            return
        if self.is_complete:
            self._stray()  # nobody asked, and the next answer here might be taken for another request's
            return
        self._has_received = True
        self._barren += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._keeps = False
        except HttpParserError:
            self._stray()
        if self._barren > MAX_HEAD and not self.is_complete:
            self._stray()
        if self._held > self._most_held and not self.is_complete:
            self._pause()
        if self.status:
            self._wake()

    # -- for the parser

    def on_message_begin(self) -> None:
        """An answer begins."""
        if self.status:
            raise Malformed("more than one answer")

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer, which is counted and never looked at. (``_barren`` counts their bytes.)"""
        self._fields.append((name, value))
        if len(self._fields) > MAX_FIELDS:
            raise Malformed("too many headers")

    def on_headers_complete(self) -> None:
        """The headers are there, of an interim answer or of the real one."""
        assert self._parser is not None
        status = self._parser.get_status_code()
        if status < 100:
            raise Malformed("no status")
        if status < 200 and status != 101:
            self._interim += 1
            if self._interim > MAX_INTERIM:
                raise Malformed("too many interim answers")
            self._fields.clear()
            return
        self._read_headers()
        self.status = status
        self._barren = 0
        self._keeps = self._parser.should_keep_alive()
        if self._is_bodiless:
            self.is_complete, self._keeps = True, False  # the parser would wait for a body
        elif not self._keeps:
            self._ends_with_connection = "content-length" not in self.headers and "transfer-encoding" not in self.headers

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        if self.is_complete:
            return  # to a HEAD
        self._barren = 0
        self._held += len(body)
        self.pieces.append(body)

    def on_message_complete(self) -> None:
        """The answer's end, unless it was an interim one."""
        if self.status:
            self.is_complete = True

    # -- between them

    def _read_headers(self) -> None:
        """Take in the headers of the real answer: the first of several of one name wins."""
        # What came since the answer began is counted anyway; only where that is much, it matters how much of it is the head.
        if self._barren > MAX_HEAD and sum(len(name) + len(value) for name, value in self._fields) > MAX_HEAD:
            raise Malformed("too many headers")
        headers = self.headers
        for name, value in self._fields:
            headers.setdefault(_lowered(name), value.strip().decode("utf-8", "surrogateescape"))
        if headers.get("content-type", "").startswith("text/event-stream"):
            self._most_held = self._read_size = MAX_EVENTS_HELD
        else:
            self._most_held, self._read_size = MAX_PIECE, _MAX_READ

    def _joined(self, first: bytes) -> bytes:
        """``first`` and as many of the pieces after it as make no more than may be held."""
        joined, size = [first], len(first)
        while self.pieces and size + len(self.pieces[0]) <= self._most_held:
            piece = self.pieces.popleft()
            joined.append(piece)
            size += len(piece)
        return b"".join(joined)

    def _pump(self) -> None:
        """Write the body's next pieces for as long as they are taken."""
        while self._unsent and self._writes and self._transport is not None:
            piece, self._unsent = self._unsent[:_AT_ONCE], self._unsent[_AT_ONCE:]
            self._transport.write(piece)

    def _pause(self) -> None:
        """Let the upstream wait."""
        if self._reads and self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()
            self._reads = False

    def _resume(self) -> None:
        """Let the upstream go on."""
        self._reads = True
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _stray(self) -> None:
        """Something came that does not belong there: after a whole answer it costs the connection, otherwise the answer."""
        self._keeps = False
        self._fail(Malformed())
        if self._transport is not None:
            self._transport.abort()

    def _end(self, *, is_clean: bool) -> None:
        """No more will come; that is the end of an answer without length, and a failure of any other."""
        if is_clean and self._ends_with_connection and self.failure is None:
            self.is_complete = True
            self._wake()
        else:
            self._fail(Disconnected(stale=self._uses > 1 and not self._has_received))

    def _fail(self, failure: Disconnected | Malformed) -> None:
        """Note the first thing that went wrong before the answer was complete."""
        self._keeps = False
        if not self.is_complete and self.failure is None:
            self.failure = failure
            self._wake()

    def _wake(self) -> None:
        """Wake whoever waits."""
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


@lru_cache(maxsize=512)  # an upstream says the same names in every answer
def _lowered(name: bytes) -> str:
    """A header's name in lower case."""
    return name.decode("latin-1").lower()
