"""Pictures of characters and users: told from their first bytes, and never decoded."""

from collections.abc import Mapping
from typing import Final

from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.png import SIGNATURE, without_cards

UNKNOWN: Final = "application/octet-stream"
_STARTS: Final[Mapping[bytes, str]] = {
    SIGNATURE: "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_RIFF, _WEBP = b"RIFF", b"WEBP"


def picture_type(data: bytes) -> str:
    """The media type of a picture that browsers show; ``application/octet-stream`` for what is none."""
    if data.startswith(_RIFF) and data[8:12] == _WEBP:
        return "image/webp"
    return next((kind for start, kind in _STARTS.items() if data.startswith(start)), UNKNOWN)


def refuse_other_pictures(data: bytes) -> None:
    """Raise InvalidFile for a picture that no card can be in: sites that show cards often convert them, and lose the card."""
    kind = picture_type(data)
    if kind not in (UNKNOWN, "image/png"):
        name = kind.removeprefix("image/").upper()
        raise InvalidFile(
            f"This picture is a {name} file, whatever it is called, and cards are in PNG files alone. Download the card itself "
            "(a PNG, CharX or JSON file)."
        )


def read_picture(data: bytes, limits: FileLimits) -> bytes:
    """A picture to be kept; a PNG file without the character cards inside it. Raises InvalidFile for what is too large, is no
    picture, or is a PNG file that is damaged or of too many pixels."""
    limits.check_size(data)
    kind = picture_type(data)
    if kind == UNKNOWN:
        raise InvalidFile("This is no picture: a PNG, JPEG, GIF or WebP file is.")
    return without_cards(data, limits) if kind == "image/png" else data
