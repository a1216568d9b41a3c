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
    if not is_token(method):
        raise BadRequest(f"{method!r:.40} cannot be a request's method.", param="method")
    outgoing = _DEFAULTS.copy()
    values = "".join(headers.values())
    if not (values.isascii() and values.isprintable()):  # such values need no closer look
        for name, value in headers.items():
            check_header(name, value)
    for name, value in headers.items():
        outgoing[_name(name)] = value
    if not FRAMING.isdisjoint(outgoing):
        for name in FRAMING & outgoing.keys():
            del outgoing[name]
    outgoing["accept-encoding"] = "identity"
    if length is not None:
        outgoing["content-length"] = str(length)
    lines = "".join([f"{name}: {value}\r\n" for name, value in outgoing.items()])
    return f"{method}{target.lines}{lines}\r\n".encode()


@lru_cache(maxsize=256)
def _name(name: str) -> str:
    """A header's name in lower case. Raises BadRequest when it is none. (Cached: there are few, and they come often.)"""
    check_header(name, "")
    return name.lower()
