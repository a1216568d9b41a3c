"""The mark on a call that another vendor's model made, for callers of Gemini.

    thoughtSignature    base64 of "agentui:call", the call's id, its vendor and the vendor's token, a line each

Clients of Gemini keep a call's signature and many of them nothing else: Vercel's AI SDK leaves its id out. So the id comes back
in the mark, with what the vendor signed the call with (``chat.origin``), and thoughts that are kept by the id find their call.
Gemini itself never sees a mark: nobody there signed it.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from agentui.chat.messages import ToolCall
from agentui.jsonio import Json
from agentui.vendors.gemini.protojson import member, spelling, standard_base64

_HEAD: Final = "agentui:call"
_BEGINS: Final = base64.b64encode(_HEAD.encode()).decode()
"""How every mark begins: twelve bytes are sixteen whole characters of base64."""


def call_mark(call: ToolCall) -> str | None:
    """The mark for a call; None for one without an id."""
    if call.id is None:
        return None
    lines = (_HEAD, call.id, call.signed_by or "", call.signature or "")
    return base64.b64encode("\n".join(lines).encode("utf-8", "surrogatepass")).decode()


def marked_call(call: ToolCall, signature: str | None) -> ToolCall | None:
    """The call that this mark stands on, with the id and the token in it; None where the signature is no mark."""
    if not is_call_mark(signature):
        return None
    try:
        lines = base64.b64decode(standard_base64(signature or "")).decode("utf-8", "surrogatepass").split("\n", 3)
    except (binascii.Error, UnicodeDecodeError):
        lines = []
    id, vendor, token = lines[1:] if len(lines) == 4 else ("", "", "")
    return ToolCall(call.id or id or None, call.name, call.arguments, token or None, vendor or None if token else None)


def is_call_mark(signature: object) -> bool:
    """Whether a thoughtSignature is a mark of ours."""
    return isinstance(signature, str) and signature.startswith(_BEGINS)


def unmarked_content(content: Json, sentinel: str | None) -> Json:
    """A caller's own content as Gemini may see it. In place of a mark on its first call stands ``sentinel``, where the model
    wants a signature there."""
    parts = member(content, "parts") if isinstance(content, Mapping) else None
    if not isinstance(parts, list) or not any(_is_marked(part) for part in parts):
        return content
    kept: list[Json] = []
    has_call = False
    for part in parts:
        is_call = isinstance(part, Mapping) and member(part, "functionCall") is not None
        if _is_marked(part):
            rest = {name: value for name, value in part.items() if name != spelling(part, "thoughtSignature")}
            kept.append(rest if has_call or sentinel is None else {**rest, "thoughtSignature": sentinel})
        else:
            kept.append(part)
        has_call = has_call or is_call
    return {**content, spelling(content, "parts"): kept}


def _is_marked(part: Json) -> bool:
    return isinstance(part, Mapping) and is_call_mark(member(part, "thoughtSignature"))
