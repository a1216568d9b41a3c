"""Requests that ask no model: what may go out, and an answer read as a text and as JSON."""

import re
from collections.abc import Mapping
from typing import Final

from agentui.errors import BadRequest
from agentui.jsonio import InvalidJson, Json, loads
from agentui.upstream.http.request import FRAMING, check_header

MAX_URL: Final = 8000
"""Characters of an address: what servers and proxies take."""
CONNECTIONS_OWN: Final = FRAMING | {"accept-encoding"}
"""Headers that nobody may set, in lower case."""

_CONTROL = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")
_TEXTUAL = re.compile(r"text/.*|application/(?:(?:.*\+)?(?:json|xml)|javascript|x-ndjson|yaml)|")


def check_sendable(url: str, headers: Mapping[str, str]) -> None:
    """Raise BadRequest for an address or a header that cannot be sent; the values are not quoted."""
    if len(url) > MAX_URL:
        raise BadRequest(
            f"With all that is put into it, the address is longer than {MAX_URL} characters. Send less.", param="url"
        )
    if _CONTROL.search(url):
        raise BadRequest("The address holds a space, a control character or half a character.", param="url")
    for name, value in headers.items():
        check_header(name, value)


def text_of_answer(content_type: str, content: bytes) -> str | None:
    """An answer's text, where its media type (in lower case, without parameters) is one of texts; None elsewhere."""
    return content.decode("utf-8", "replace") if _TEXTUAL.fullmatch(content_type) else None


def json_of_answer(content_type: str, content: bytes) -> Json:
    """An answer's JSON; None where its media type names another kind, and where it is no JSON after all."""
    if "json" not in content_type:
        return None
    try:
        return loads(content)
    except InvalidJson:
        return None
