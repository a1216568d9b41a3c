"""Reading what an HTTP request holds: its body, its content type, its token, the pipeline in its path."""

import asyncio
import hmac
import re
from functools import lru_cache, partial
from typing import NamedTuple

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from agentui.compression import ENCODINGS, Damaged, inflated
from agentui.errors import BadRequest, BodyTooLarge, SlowBody, WrongContentType
from agentui.http.limits import LIMITS
from agentui.jsonio import MAX_OPENED, MAX_VALUES, weigh
from agentui.threads import apart, in_thread
from agentui.upstream.http.request import BodyAborted, BodyStream

SLOWEST_BYTES_PER_SECOND = 32 * 1024
_SCHEME = re.compile(r"^Bearer\s+", re.IGNORECASE)


async def read_body(request: web.Request, limit: int, seconds: float, values: int = MAX_VALUES) -> bytes:
    """The request's body, whole and decompressed. Nothing else decompresses what callers send.

    Raises BodyTooLarge as soon as more than ``limit`` bytes are declared, read or decompressed, and for JSON of more than
    so many values; SlowBody where nothing comes for ``seconds`` or less than 32 KB/s in the long run; Busy where the bodies
    of all requests, and what JSON is when it is parsed, take too much memory; WrongContentType for an encoding that nobody here
    can undo, BadRequest when framing or compression is broken.
    """
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    is_plain = encoding in ("", "identity")
    if not is_plain and encoding not in ENCODINGS:
        raise WrongContentType(f"This server cannot undo the content encoding {encoding[:50]!r}: send gzip, deflate or none.")
    body = await read_raw_body(request, limit, seconds)
    if is_plain:
        return await _weighed(request, body, values)
    try:
        whole = await in_thread(partial(inflated, body, encoding, limit))
    except Damaged as error:
        raise BadRequest(f"The request's body is not what its content encoding says: {error}") from error
    if whole is None:
        raise _too_large(limit)
    request.app[LIMITS].hold(request, len(whole))
    return await _weighed(request, whole, values)


async def _weighed(request: web.Request, body: bytes, most: int) -> bytes:
    """A body whose values, where it is JSON, may be held when it is parsed: they may take ten times as much as the bytes."""
    if not is_json(request.headers.get("Content-Type", "")):
        return body
    weight = await apart(len(body), partial(weigh, body, most))
    # Too many objects and lists are what the parser tells of.
    if weight.values > most and weight.opened <= MAX_OPENED:
        raise BodyTooLarge(f"The body holds more than {most} values and names.", limit=most)
    request.app[LIMITS].hold(request, weight.bytes)
    return body


async def read_raw_body(request: web.Request, limit: int, seconds: float) -> bytes:
    """The request's body as it came, for whoever passes it on. Raises as ``read_body`` does."""
    declared = request.content_length
    if declared is not None and declared > limit:
        raise _too_large(limit)
    content, limits = request.content, request.app[LIMITS]
    if content.is_eof() and not content.exception():
        # Small bodies are all there when the handler starts; they need no clock.
        body = content.read_nowait(-1)
        limits.hold(request, len(body))
        return body
    pieces: list[bytes] = []
    size = 0
    now = asyncio.get_running_loop().time
    try:
        async with asyncio.timeout(seconds) as clock:
            deadline = now() + seconds
            while piece := await content.readany():
                size += len(piece)
                if size > limit:
                    raise _too_large(limit)
                limits.hold(request, len(piece))
                pieces.append(piece)
                # What came in quickly buys no longer silence later.
                deadline = min(deadline + len(piece) / SLOWEST_BYTES_PER_SECOND, now() + seconds)
                clock.reschedule(deadline)
    except TimeoutError as error:
        raise SlowBody("The request's body took too long to arrive.") from error
    except (web.RequestPayloadError, HttpProcessingError):
        # Without the cause: it may quote what came.
        raise BadRequest("The request's body does not follow the rules of HTTP: check its framing.") from None
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def stream_body(request: web.Request, limit: int, seconds: float) -> BodyStream:
    """The request's body, of a declared length, to be passed on while it comes.

    Raises BodyTooLarge at once; its ``read`` raises SlowBody where nothing comes for ``seconds``, BadRequest for broken
    framing, BodyAborted where the caller leaves.
    """
    length = request.content_length or 0
    if length > limit:
        raise _too_large(limit)

    async def read() -> bytes:
        try:
            async with asyncio.timeout(seconds):
                return await request.content.readany()
        except TimeoutError as error:
            raise SlowBody("The request's body took too long to arrive.") from error
        except ConnectionError as error:
            raise BodyAborted from error
        except (web.RequestPayloadError, HttpProcessingError):
            raise BadRequest("The request's body does not follow the rules of HTTP: check its framing.") from None

    return BodyStream(length, read)


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"The body is larger than {limit} bytes.", limit=limit)


PREFIXES = ("", "/p/{pipeline}", "/s/{session}", "/p/{pipeline}/s/{session}", "/s/{session}/p/{pipeline}")
"""What may stand before the path of a dialect, in the words of a route."""
_FOLLOWS = "+memory"


class Prefix(NamedTuple):
    """A path without its prefix, and what the prefix names."""

    path: str
    pipeline: str | None
    session: str | None
    follows: bool = False


@lru_cache(maxsize=256)  # a request asks for its path's several times, and callers have few
def split_prefix(path: str) -> Prefix:
    """Take ``/p/<pipeline>`` and ``/s/<session>``, in any order, off a path. ``/p/<pipeline>+memory``, which may name no
    pipeline, says that the memory follows the client's history to its session (``follows``)."""
    pipeline = session = None
    for _ in range(2):
        if pipeline is None and path.startswith("/p/"):
            pipeline, slash, rest = path[3:].partition("/")
        elif session is None and path.startswith("/s/"):
            session, slash, rest = path[3:].partition("/")
        else:
            break
        path = f"{slash}{rest}" or "/"
    if pipeline is None or not pipeline.endswith(_FOLLOWS):
        return Prefix(path, pipeline, session)
    return Prefix(path, pipeline.removesuffix(_FOLLOWS) or None, session, follows=True)


TOKEN_HEADERS = ("x-agentui-token", "authorization", "x-api-key", "x-goog-api-key")
"""Where a caller may put this server's access token, or the key of a provider."""


def same_secret(given: str, expected: str) -> bool:
    """Compare without telling by the time it takes how much was right."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def holds_secret(value: str, secret: str) -> bool:
    """Whether a header's value is the secret, bare or as a bearer token in whatever case, or one of its values is, where the
    header was sent several times."""
    return any(same_secret(_SCHEME.sub("", part.strip()), secret) for part in (value, *value.split(",")))


def is_json(content_type: str) -> bool:
    """True for a content type that says JSON."""
    essence = essence_of(content_type)
    return essence == "application/json" or essence.endswith("+json")


def is_form(content_type: str) -> bool:
    """True for a content type that says a form with files."""
    return essence_of(content_type) == "multipart/form-data"


def essence_of(content_type: str) -> str:
    """A content type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()
