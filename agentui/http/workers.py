"""The other workers of this server, as one of them sees it.

    caller -> any worker --- Unix socket ---> the worker that has the run

Every worker keeps its own runs, so a request about one is passed to the worker that has it, whose number the run's id ends
with; lists are put together of what each worker says. The sockets are in a folder that no other user can enter.
What comes through one is answered by that worker alone.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator, Iterable, Sequence, Set
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

import aiohttp
from aiohttp import web
from aiohttp.typedefs import LooseHeaders

from agentui.errors import NotFound
from agentui.http.keys import SETTINGS
from agentui.http.reading import TOKEN_HEADERS, read_raw_body
from agentui.http.worker_group import WorkerGroup
from agentui.ids import new_id
from agentui.jsonio import InvalidJson, Json, loads
from agentui.upstream.http.request import FRAMING

WORKERS_OWN = "/workers/"
"""Where workers ask each other for themselves."""
REFRESH = "/workers/refresh"
CREDENTIALS = "/workers/credentials"
THOUGHTS = "/workers/thoughts"
"""What workers POST to each other."""

ASK_SECONDS = 5.0
"""How long another worker may take for an answer of its own."""
RETRY_SECONDS = 0.5
"""The pause before a worker that is away is followed again."""

_HOP_BY_HOP = FRAMING - {"host"}
"""Headers of one connection (RFC 9110, 7.6.1); lengths are counted anew."""

_OF_A_BODY = frozenset({"content-type", "content-encoding", "accept-encoding", "idempotency-key"})
"""Headers of a caller's body and of how its answer is to be sent, which are not those of a question to another worker."""
_IS_JSON = "content-type", "application/json"

Headers: TypeAlias = Sequence[tuple[str, str]]

log = logging.getLogger("agentui.serving.supervisor")


class Workers:
    """The other workers. A server of one process has none (``group`` None): then nothing here does anything.

    ``token`` is the server's own access token, by which workers ask each other for what they need themselves; what a caller
    wants is asked with that caller's own credentials, so that nobody gets to see more than by that worker alone. A caller may
    leave a relayed answer unread for ``write_timeout`` seconds.
    """

    def __init__(self, group: WorkerGroup | None, *, token: str | None, write_timeout: float) -> None:
        self._group = group
        self._write_timeout = write_timeout
        self._own = [_IS_JSON, *([("x-agentui-token", token)] if token is not None else [])]
        """The headers of what this worker asks for itself."""
        self._sessions: dict[int, aiohttp.ClientSession] = {}

    async def __aenter__(self) -> "Workers":
        for number in self.numbers:
            connector = aiohttp.UnixConnector(path=str(self._socket_of(number)), limit=0)
            # Bodies pass as they are: whoever wrote them says how they are compressed.
            self._sessions[number] = aiohttp.ClientSession(
                "http://localhost", connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
            )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for session in self._sessions.values():
            await session.close()

    @property
    def own(self) -> int:
        """This worker's number."""
        return self._group.number if self._group is not None else 0

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the others."""
        if self._group is None:
            return ()
        return tuple(number for number in range(self._group.size) if number != self._group.number)

    @property
    def socket(self) -> Path | None:
        """Where this worker listens for the others."""
        return self._socket_of(self._group.number) if self._group is not None else None

    def new_run_id(self) -> str:
        """An id for a run of this worker: sortable by time, and it ends with the worker's number where there are several."""
        id = new_id("run")
        return id if self._group is None else f"{id}-{self._group.number}"

    def owner_of(self, run: str) -> int | None:
        """The number of the other worker that has the run of this id; None where it is this worker's, or nobody's."""
        number = run.rpartition("-")[2]
        if len(number) > 3 or not number.isascii() or not number.isdigit() or int(number) not in self.numbers:
            return None
        return int(number)

    async def relay(self, request: web.Request, number: int, body: bytes | None = None) -> web.StreamResponse:
        """Let another worker answer this request, as if the caller had reached it. ``body`` replaces one that has been read.

        Raises NotFound where that one is away: what it had went with it.
        """
        left_out = _HOP_BY_HOP if body is None else _HOP_BY_HOP | {"content-encoding"}
        headers = _passed_on(request, left_out)
        if body is None and request.can_read_body:
            settings = request.app[SETTINGS]
            body = await read_raw_body(request, settings.max_body, settings.body_timeout)
        try:
            async with self._sessions[number].request(
                request.method,
                request.rel_url,
                headers=headers,
                data=body,
                allow_redirects=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
                timeout=aiohttp.ClientTimeout(total=None),
            ) as answer:
                return await self._pass_on(request, answer)
        except aiohttp.ClientError:
            raise NotFound("The worker that had this run has stopped; its runs are gone.") from None

    async def ask_all(self, path_and_query: str, request: web.Request) -> list[Json]:
        """What each other worker answers to a GET of who makes ``request``, as JSON: they see what that caller may see. One
        that is away, or busy for too long, is left out."""
        headers = _passed_on(request, _HOP_BY_HOP | _OF_A_BODY)
        answers = await asyncio.gather(*(self._ask(number, "GET", path_and_query, headers) for number in self.numbers))
        return [answer for answer in answers if answer is not None]

    async def post_all(self, path: str, body: bytes = b"") -> None:
        """POST to each other worker, and wait until it has taken it in. One that is away need not know."""
        await asyncio.gather(*(self._ask(number, "POST", path, self._own, body) for number in self.numbers))

    async def post_each(self, numbers: Iterable[int | None], request: web.Request, body: bytes) -> list[Json]:
        """What each of these answers to this caller's POST with the ``body`` that was read, as JSON. One that is away is left
        out: what it had went with it."""
        path, headers = request.path_qs, [*_passed_on(request, _HOP_BY_HOP | _OF_A_BODY), _IS_JSON]
        answers = await asyncio.gather(
            *(self._ask(number, "POST", path, headers, body) for number in numbers if number is not None)
        )
        return [answer for answer in answers if answer is not None]

    async def post(self, number: int, path: str, body: bytes) -> bool:
        """POST to one worker; whether it has taken it in."""
        return await self._ask(number, "POST", path, self._own, body) is not None

    async def follow(
        self, number: int, path_and_query: str, request: web.Request, last: str | None
    ) -> AsyncGenerator[bytes, None]:
        """The events of another worker's stream, for who makes ``request``, from behind the id ``last``: whole ones, as they
        arrive together, and no comments.

        Raises aiohttp.ClientError when that worker is away or its stream breaks.
        """
        headers = _passed_on(request, _HOP_BY_HOP | _OF_A_BODY | {"last-event-id"})
        if last is not None:
            headers.append(("last-event-id", last))
        timeout = aiohttp.ClientTimeout(total=None)
        async with self._sessions[number].get(path_and_query, headers=headers, timeout=timeout) as answer:
            answer.raise_for_status()
            rest = b""
            async for chunk in answer.content.iter_any():
                *events, rest = (rest + chunk).split(b"\n\n")
                told = [event + b"\n\n" for event in events if not event.startswith(b":")]
                if told:
                    yield b"".join(told)

    async def _pass_on(self, request: web.Request, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        """The other worker's answer to the caller, piece by piece. One that breaks off is broken off here too."""
        headers: LooseHeaders = [(name, value) for name, value in answer.headers.items() if name.lower() not in _HOP_BY_HOP]
        response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=headers)
        if answer.content_length is not None:
            response.content_length = answer.content_length
        await response.prepare(request)
        try:
            async for chunk in answer.content.iter_any():
                async with asyncio.timeout(self._write_timeout):
                    await response.write(chunk)
        except (aiohttp.ClientError, TimeoutError):
            if request.transport is not None:
                request.transport.abort()
        return response

    def _socket_of(self, number: int) -> Path:
        assert self._group is not None
        return self._group.socket_of(number)

    async def _ask(self, number: int, method: str, path_and_query: str, headers: Headers, body: bytes = b"") -> Json:
        timeout = aiohttp.ClientTimeout(total=ASK_SECONDS)
        try:
            async with self._sessions[number].request(
                method, path_and_query, headers=headers, data=body or b"{}" if method == "POST" else None, timeout=timeout
            ) as answer:
                raw = await answer.read()
                if answer.status == 200:
                    return loads(raw) if raw else None
                log.warning("Worker %d answered %s %s with %d.", number, method, path_and_query, answer.status)
        except aiohttp.ClientConnectorError:
            log.debug("Worker %d is away.", number)
        except (aiohttp.ClientError, TimeoutError, InvalidJson) as error:
            log.warning("Worker %d did not answer %s %s: %s", number, method, path_and_query, type(error).__name__)
        return None


def _passed_on(request: web.Request, left_out: Set[str]) -> list[tuple[str, str]]:
    """The caller's headers for another worker, its credentials with them: that one finds out anew who asks."""
    headers = [(name, value) for name, value in request.headers.items() if name.lower() not in left_out]
    # A key in the query is none of a question that has a path of its own.
    return [*headers, *((TOKEN_HEADERS[0], key) for key in request.query.getall("key", ())[:1])]


def is_from_worker(request: web.BaseRequest) -> bool:
    """True for what another worker sent, through this one's socket."""
    if request.transport is None:
        return False
    connection = request.transport.get_extra_info("socket")
    return connection is not None and hasattr(socket, "AF_UNIX") and connection.family == socket.AF_UNIX


WORKERS: web.AppKey[Workers] = web.AppKey("workers", Workers)
