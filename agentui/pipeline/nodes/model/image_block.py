"""The Prompt Block *Image*: an address, a data URL or base64 that becomes a picture in the conversation."""

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentui.assets.files.pictures import UNKNOWN, picture_type
from agentui.chat.messages import Media, Message
from agentui.errors import NodeFailed
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.templating.hadtavern.scope import Scope

MAX_ADDRESS = 8192
"""Characters of a picture's address."""

_ADDRESS = re.compile(r"https?://[^\s\x00-\x1f\x7f]+", re.IGNORECASE)
_DATA_URL = re.compile(r"data:[^,]{0,200},", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture that the user shows; ``field`` is the path of the template that tells which."""

    field: str
    source: TemplateField[str]
    role: str = "user"

    def messages(self, ctx: NodeContext, scope: Scope) -> Sequence[Message]:
        """The picture as a message; none where the template comes to nothing. Raises NodeFailed for what is no picture."""
        source = ctx.render(self.source, scope).strip()
        if not source:
            return ()
        try:
            return (Message("user", (read_image(source),)),)
        except ValueError as error:
            raise NodeFailed(f"This Prompt Block is no picture: {error}", field=self.field) from error


def read_image(source: str) -> Media:
    """A picture by its address, or in a data URL or base64; what it holds decides its type, whatever is said of it.

    How much it may hold is what a template may give, 8 MiB of text.
    Raises ValueError with a sentence that tells what is wrong.
    """
    if _ADDRESS.fullmatch(source):
        if len(source) > MAX_ADDRESS:
            raise ValueError(f"its address is longer than {MAX_ADDRESS} characters.")
        return Media("image", url=source)
    header = _DATA_URL.match(source)
    if header is not None and not header[0].lower().endswith(";base64,"):
        raise ValueError("a data URL must hold base64.")
    written = source if header is None else source[header.end() :]
    data = _decoded(written)
    kind = picture_type(data)
    if kind == UNKNOWN:
        raise ValueError("a PNG, JPEG, GIF or WebP file is one.")
    return Media("image", kind, data=base64.b64encode(data).decode())


def _decoded(written: str) -> bytes:
    """What base64 holds, also in the alphabet of addresses, in lines, and without its end."""
    plain = "".join(written.split()).rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("give an address that begins with http:// or https://, a data URL, or base64.") from error
