"""A request's head, as the bytes that go out."""

from collections.abc import Mapping
from functools import lru_cache

from agentui import __version__
from agentui.errors import BadRequest
from agentui.upstream.headers import FRAMING, check_header, is_token
from agentui.upstream.target import Target

_DEFAULTS = {"accept": "*/*", "user-agent": f"agentui/{__version__}"}


def render_head(method: str, target: Target, headers: Mapping[str, str], length: int | None) -> bytes:
    """The request line and headers, with the empty line that ends them; ``length`` is the body's, None where there is none.

    Headers of the connection are left out, compression is not asked for, and of two spellings of a name the last one goes
    out. Raises BadRequest for a method or a header that is none.
    """
    head = _without_length(method, target.lines, tuple(headers.items()))
    return (f"{head}\r\n" if length is None else f"{head}content-length: {length}\r\n\r\n").encode()


def with_headers(head: bytes, headers: Mapping[str, str]) -> bytes:
    """A whole head with further headers. Raises BadRequest for one that is none."""
    for name, value in headers.items():
        check_header(name, value)
    return head[:-2] + "".join([f"{name}: {value}\r\n" for name, value in headers.items()]).encode() + b"\r\n"


@lru_cache(maxsize=64)  # a caller's requests differ in their bodies; what is kept is less than the run log keeps of them
def _without_length(method: str, target: str, headers: tuple[tuple[str, str], ...]) -> str:
    """The head without the length and the end."""
    if not is_token(method):
        raise BadRequest(f"{method!r:.40} cannot be a request's method.", param="method")
    outgoing = _DEFAULTS.copy()
    for name, value in headers:
        check_header(name, value)
        outgoing[name.lower()] = value
    for name in FRAMING & outgoing.keys():
        del outgoing[name]
    outgoing["accept-encoding"] = "identity"
    lines = "".join([f"{name}: {value}\r\n" for name, value in outgoing.items()])
    return f"{method}{target}{lines}"
