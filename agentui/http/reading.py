"""Reading what an HTTP request holds: its body, its content type, its token, the pipeline in its path."""

import asyncio
import hmac

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from agentui.errors import BadRequest, BodyTooLarge, SlowBody

SLOWEST_BYTES_PER_SECOND = 32 * 1024


async def read_body(request: web.Request, limit: int, seconds: float) -> bytes:
    """The request's body, whole.

    Raises BodyTooLarge as soon as more than ``limit`` bytes are declared or read, SlowBody when it takes longer than
    ``seconds`` plus what its size takes at 32 KB/s, BadRequest when its framing or compression is broken.
    """
    declared = request.content_length
    if declared is not None and declared > limit:
        raise BodyTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
    content = request.content
    if content.is_eof() and not content.exception():
        # Small bodies are all there when the handler starts; they need no clock.
        return content.read_nowait(-1)
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds) as clock:
            started = asyncio.get_running_loop().time()
            while piece := await content.readany():
                size += len(piece)
                if size > limit:
                    raise BodyTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
                pieces.append(piece)
                clock.reschedule(started + seconds + size / SLOWEST_BYTES_PER_SECOND)
    except TimeoutError as error:
        raise SlowBody("The request's body took too long to arrive.") from error
    except (web.RequestPayloadError, HttpProcessingError):
        # Without the cause: it may quote what came.
        raise BadRequest("The request's body does not follow the rules of HTTP: check its framing and encoding.") from None
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def split_prefix(path: str) -> tuple[str, str | None]:
    """A path without its ``/p/<pipeline>`` prefix, and that pipeline."""
    if not path.startswith("/p/"):
        return path, None
    pipeline, slash, rest = path[3:].partition("/")
    return f"{slash}{rest}" or "/", pipeline


TOKEN_HEADERS = ("x-agentui-token", "authorization", "x-api-key", "x-goog-api-key")
"""Where a caller may put this server's access token, or the key of a provider."""


def same_secret(given: str, expected: str) -> bool:
    """Compare without telling by the time it takes how much was right."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def is_json(content_type: str) -> bool:
    """True for a content type that says JSON."""
    essence = essence_of(content_type)
    return essence == "application/json" or essence.endswith("+json")


def essence_of(content_type: str) -> str:
    """A content type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()
