"""An answer being read: pieces as they come, under the clock for silence."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping

from agentui.compression import ENCODINGS, Damaged, Inflater
from agentui.errors import UpstreamError, UpstreamInvalid, UpstreamTimeout, UpstreamTruncated
from agentui.upstream.http.connection import MAX_PIECE, Connection, Malformed

MIB = 1024 * 1024
MAX_REPLY = 32 * MIB
MAX_RATIO = 100
"""Bytes that one compressed byte may become, in an answer of more than ``MAX_REPLY``. Words become about twenty."""
_PIECES_A_TURN = 16
"""Pieces that are decompressed before others have their turn."""


class IdleClock:
    """Calls ``expire`` once when a wait takes longer than ``idle`` seconds or the deadline passes.

    One timer for the whole stream: a wait only notes when it began, and the timer looks at that note when it rings.
    Time in which nobody waits (a slow caller) does not count as silence.
    """

    def __init__(self, idle: float, deadline: float | None, expire: Callable[[], None]) -> None:
        self.idle = idle
        self._deadline = deadline
        self._expire = expire
        self._since: float | None = None
        self._handle: asyncio.TimerHandle | None = None
        self.has_expired = False

    def start(self) -> None:
        """Set the timer, if it is not."""
        if self._handle is None and not self.has_expired:
            self._ring()

    def begin_wait(self) -> None:
        """Somebody begins to wait."""
        self._since = time.monotonic()
        self.start()

    def end_wait(self) -> None:
        """The wait is over."""
        self._since = None

    def stop(self) -> None:
        """No more waiting will come."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def forget_deadline(self) -> None:
        """From here on silence alone expires."""
        self._deadline = None

    @property
    def out_of_time(self) -> bool:
        """True when the deadline is what passed."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _ring(self) -> None:
        """Look whether time is up; if not, come back when it may be."""
        now = time.monotonic()
        due = (now if self._since is None else self._since) + self.idle
        if self._deadline is not None:
            due = min(due, self._deadline)
        if due > now:
            self._handle = asyncio.get_running_loop().call_later(due - now, self._ring)
            return
        self._handle = None
        self.has_expired = True
        self._expire()


class UpstreamStream:
    """An answer whose headers are there. ``headers`` have lower-case names; what comes is decompressed.

    It lives as long as the ``async with`` that gave it. ``is_broken`` turns true when the upstream failed midway.
    """

    def __init__(
        self, connection: Connection, headers: Mapping[str, str], host: str, idle: float, deadline: float | None
    ) -> None:
        self.status = connection.status
        self.headers = headers
        self.is_broken = False
        self._host = host
        self._connection = connection
        self._has_ended = self._was_left = False
        self._inflater: Inflater | None = None
        self._compressed = self._inflated = self._pieces = 0
        if "content-encoding" in headers:
            self._inflater = self._inflater_for(headers["content-encoding"])
        if self._inflater is not None:
            self.headers = {k: v for k, v in headers.items() if k not in ("content-encoding", "content-length")}
        self._clock = IdleClock(idle, deadline, connection.abort)

    @property
    def content_type(self) -> str:
        """The media type in lower case without its parameters, "" where the upstream gave none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_over(self) -> bool:
        """True when the whole body has arrived and been read, so that nothing is left to wait for."""
        return self._inflater is None and self._connection.is_complete and not self._connection.pieces

    def release_deadline(self) -> None:
        """Let the rest of the answer take as long as it likes, as long as it is not silent for too long."""
        self._clock.forget_deadline()

    def chunks(self) -> AsyncIterator[bytes]:
        """What is left of the body, in pieces of 1 byte to 64 KB as they arrive.

        Raises UpstreamTimeout after too long a silence, UpstreamTruncated when the answer breaks off, UpstreamInvalid when
        it stops being HTTP.
        """
        return _Chunks(self)

    async def read(self, limit: int = MAX_REPLY) -> bytes:
        """What is left of the body. Raises as ``chunks`` does, and UpstreamInvalid when it is larger than ``limit``."""
        if self._inflater is None and not self._has_ended and self._connection.is_complete:
            whole = self._connection.take_all(limit)
            if whole is not None:
                self._has_ended = True
                return whole
        pieces: list[bytes] = []
        left = limit - self._declared()
        if left >= 0:
            left = limit
            while left >= 0 and (piece := await self.next()):
                pieces.append(piece)
                left -= len(piece)
        if left < 0:
            size = f"{limit // MIB} MB" if limit >= MIB else f"{limit} bytes"
            raise UpstreamInvalid(f"The answer of {self._host} is larger than {size}.", host=self._host, limit=limit)
        return b"".join(pieces)

    async def next(self) -> bytes:
        """The next piece; b"" at the end."""
        return await (self._arrived() if self._inflater is None else self._inflated_piece(self._inflater))

    def close(self) -> None:
        """Stop the clock; the connection is the exchange's, and from now on perhaps another's."""
        self._clock.stop()
        if not self._has_ended:
            self._has_ended = self._was_left = True

    async def _inflated_piece(self, inflater: Inflater) -> bytes:
        """The next piece of a compressed answer, once it is there; b"" at the end."""
        try:
            while not (piece := inflater.take(MAX_PIECE)):
                arrived = await self._arrived()
                if not arrived:
                    if inflater.is_unfinished:
                        raise UpstreamTruncated(f"The compressed answer of {self._host} broke off.", host=self._host)
                    return b""
                self._compressed += len(arrived)
                inflater.put(arrived)
        except Damaged as error:
            raise UpstreamInvalid(f"{self._host} sent compressed data that is damaged.", host=self._host) from error
        self._inflated += len(piece)
        if self._inflated > max(MAX_REPLY, self._compressed * MAX_RATIO):
            self.is_broken = True
            raise UpstreamInvalid(f"The compressed answer of {self._host} grows without end; it was given up.", host=self._host)
        self._pieces += 1
        if self._pieces % _PIECES_A_TURN == 0:
            await asyncio.sleep(0)
        return piece

    async def _arrived(self) -> bytes:
        """The next bytes as they came over the wire, 64 KB at most; b"" at the end."""
        if self._was_left:
            raise RuntimeError("The stream was left; nothing more can be read from it.")
        connection, clock = self._connection, self._clock
        if not connection.is_complete:
            clock.begin_wait()  # also where something is there: whoever never waits has a deadline all the same
        try:
            while not self._has_ended:
                if clock.has_expired:
                    raise self._timeout()
                if connection.pieces:
                    return connection.take()
                if connection.is_complete:
                    self._has_ended = True
                elif connection.failure is not None:
                    raise self._broken(connection.failure)
                else:
                    await connection.arrival()
        finally:
            clock.end_wait()
        return b""

    def _broken(self, failure: Exception) -> UpstreamError:
        """What it means that the rest will not come."""
        self.is_broken = True
        if isinstance(failure, Malformed):
            return UpstreamInvalid(f"{self._host} broke the rules of HTTP in the middle of its answer.", host=self._host)
        return UpstreamTruncated(f"The answer of {self._host} broke off.", host=self._host)

    def _timeout(self) -> UpstreamTimeout:
        """Silence, or the deadline."""
        if self._clock.out_of_time:
            text = f"The time for this call ran out while {self._host} was answering."
        else:
            self.is_broken = True
            text = f"{self._host} sent nothing for {self._clock.idle:g} seconds in the middle of its answer."
        return UpstreamTimeout(text, host=self._host, phase="idle")

    def _inflater_for(self, encoding: str) -> Inflater | None:
        """What undoes the answer's compression, though none was asked for. Raises UpstreamInvalid for one that cannot be."""
        encoding = encoding.strip().lower()
        if encoding in ("", "identity"):
            return None
        if encoding not in ENCODINGS:
            raise UpstreamInvalid(
                f"{self._host} compressed its answer in a way that was not asked for and cannot be read.", host=self._host
            )
        return Inflater(encoding)

    def _declared(self) -> int:
        """The content length that the headers promise, 0 where they promise none."""
        length = self.headers.get("content-length", "")
        return int(length) if length.isascii() and length.isdigit() else 0


class _Chunks:
    """Iterates over a stream; a plain object, so that leaving a loop early leaves no generator behind."""

    __slots__ = ("_stream",)

    def __init__(self, stream: UpstreamStream) -> None:
        self._stream = stream

    def __aiter__(self) -> "_Chunks":
        return self

    async def __anext__(self) -> bytes:
        piece = await self._stream.next()
        if not piece:
            raise StopAsyncIteration
        return piece
