"""What a request says of its chat in its body, for clients that cannot send a header of their own.

    {"model": "m", "messages": [...], "agentui": {"session": "tale", "branch": "main", "intent": "swipe", "turn": "new",
                                              "assemble": "session"}}

The member never goes on: what it says stands in the headers of the same names from here on.
"""

from collections.abc import Mapping

from agentui.errors import BadRequest
from agentui.jsonio import Json

MEMBER = "agentui"
SESSION = "x-agentui-session"
_HEADERS: Mapping[str, str] = {
    "session": SESSION,
    "branch": "x-agentui-branch",
    "intent": "x-agentui-intent",
    "turn": "x-agentui-turn",
    "assemble": "x-agentui-assemble",
}


def read_member(document: Mapping[str, Json]) -> tuple[dict[str, str], dict[str, Json]]:
    """The headers that the member stands for, and the body without it. Raises BadRequest for what is no such member."""
    said = document[MEMBER]
    rest = {name: value for name, value in document.items() if name != MEMBER}
    if said is None:
        return {}, rest
    if not isinstance(said, dict) or not said.keys() <= _HEADERS.keys():
        names = ", ".join(_HEADERS)
        raise BadRequest(f"The member {MEMBER!r} of the body is an object of some of these texts: {names}.", param=MEMBER)
    for name, value in said.items():
        if value is not None and (not isinstance(value, str) or "\0" in value):
            raise BadRequest(f"In the member {MEMBER!r} of the body, {name!r} must be a text.", param=f"{MEMBER}.{name}")
    return {_HEADERS[name]: value for name, value in said.items() if value and not value.isspace()}, rest


def said_of_chat(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers without those about the chat that say nothing: a macro of the client may have no value (SillyTavern's
    ``{{char}}`` in a group), and what the body or the base URL says counts then."""
    empty = [name for name in _HEADERS.values() if name in headers and not headers[name].strip()]
    return {name: value for name, value in headers.items() if name not in empty} if empty else headers
