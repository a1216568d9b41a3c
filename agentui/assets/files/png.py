"""Character cards in PNG pictures: their JSON stands, in Base64, in text chunks called ``chara`` (V2) and ``ccv3`` (V3).

Chunks are a length, a type, data and a CRC-32 of type and data (PNG, https://www.w3.org/TR/png-3/#5Chunk-layout). Pictures are
never decoded here.
"""

import base64
import binascii
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agentui.assets.files.limits import FileLimits, InvalidFile

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
V2: Final = "chara"
V3: Final = "ccv3"
_AROUND: Final = 12
"""Bytes of a chunk beside its data."""
MAX_CHUNKS: Final = 20_000
"""The most pieces of a PNG file: programs that write small ones make a few thousand of the largest file."""
_PLAIN: Final = (400, 600)
"""Width and height of the picture of a character that has none."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a PNG file."""

    type: bytes
    data: bytes

    def render(self) -> bytes:
        """The chunk as it stands in a file."""
        body = self.type + self.data
        return len(self.data).to_bytes(4) + body + zlib.crc32(body).to_bytes(4)


@dataclass(frozen=True, slots=True)
class PngCard:
    """A card out of a picture. ``json`` is the card's text, of V3 where there are both, and then ``v2`` is the other copy;
    ``picture`` is the file without cards."""

    json: bytes
    picture: bytes
    v2: bytes | None


def read_png(data: bytes, limits: FileLimits) -> PngCard:
    """The card of a PNG file. Raises InvalidFile for a file that is none, that is damaged or too large, and for one without
    a card."""
    limits.check_size(data)
    chunks = list(_chunks(data))
    check_picture(chunks, limits)
    cards: dict[str, bytes] = {}
    kept: list[Chunk] = []
    for chunk in chunks:
        keyword = _keyword(chunk)
        if keyword is None:
            kept.append(chunk)
        else:
            cards[keyword] = chunk.data.partition(b"\0")[2]
    found = next((keyword for keyword in (V3, V2) if keyword in cards), None)
    if found is None:
        raise InvalidFile(f"The picture holds no character card: it has no text chunk {V2!r} or {V3!r}.")
    other = _decoded(cards[V2], V2) if found == V3 and V2 in cards else None
    return PngCard(_decoded(cards[found], found), _rendered(kept), other)


def holds_card(data: bytes) -> bool:
    """Whether a PNG file has a card among its chunks. Raises InvalidFile for one that is damaged."""
    return any(_keyword(chunk) is not None for chunk in _chunks(data))


def without_cards(data: bytes, limits: FileLimits) -> bytes:
    """A PNG file without the cards that it may hold, and without what stands behind its end. Raises InvalidFile for one that is
    damaged or of too many pixels."""
    chunks = list(_chunks(data))
    check_picture(chunks, limits)
    return _rendered([chunk for chunk in chunks if _keyword(chunk) is None])


def write_png(picture: bytes | None, v2: bytes, v3: bytes) -> bytes:
    """A PNG file with both cards, which stand before its end in place of those that it had; without a picture a plain grey one.

    Raises InvalidFile where the picture is no PNG.
    """
    chunks = [chunk for chunk in _chunks(picture or _plain()) if _keyword(chunk) is None]
    cards = [Chunk(b"tEXt", keyword.encode() + b"\0" + base64.b64encode(json)) for keyword, json in ((V2, v2), (V3, v3))]
    return _rendered([*chunks[:-1], *cards, chunks[-1]])


def check_picture(chunks: list[Chunk], limits: FileLimits) -> None:
    """Raise InvalidFile for a picture whose header says that it has too many pixels, or nothing of the kind."""
    header = chunks[0]
    if header.type != b"IHDR" or len(header.data) != 13:
        raise InvalidFile("The PNG file does not begin with a header.", "IHDR")
    width, height = int.from_bytes(header.data[:4]), int.from_bytes(header.data[4:8])
    if not width or not height or width * height > limits.pixels:
        raise InvalidFile(f"The picture is {width} x {height}; at most {limits.pixels} pixels are taken.", "IHDR")


def _chunks(data: bytes) -> Iterator[Chunk]:
    """The chunks up to the end; what stands behind it is left out. Raises InvalidFile, also for too many of them."""
    if not data.startswith(SIGNATURE):
        raise InvalidFile("This is not a PNG file.")
    at, count = len(SIGNATURE), 0
    while at + _AROUND <= len(data):
        length, type = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        end = at + _AROUND + length
        if end > len(data):
            break
        count += 1
        if count > MAX_CHUNKS:
            raise InvalidFile(f"The PNG file has more than {MAX_CHUNKS} chunks.", f"byte {at}", is_too_large=True)
        if zlib.crc32(data[at + 4 : end - 4]) != int.from_bytes(data[end - 4 : end]):
            raise InvalidFile("The PNG file is damaged: a checksum is wrong.", f"{type.decode('latin-1')!r} at byte {at}")
        yield Chunk(type, data[at + 8 : end - 4])
        if type == b"IEND":
            return
        at = end
    raise InvalidFile("The PNG file breaks off.", f"byte {at}")


def _keyword(chunk: Chunk) -> str | None:
    """Which card a chunk holds; None for every other chunk."""
    if chunk.type != b"tEXt":
        return None
    # A keyword has 1 to 79 characters: only so much is looked at.
    keyword = chunk.data[:80].partition(b"\0")[0].decode("latin-1").lower()
    return keyword if keyword in (V2, V3) else None


def _decoded(text: bytes, keyword: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error as error:
        raise InvalidFile("The card is not in Base64.", keyword) from error


def _rendered(chunks: list[Chunk]) -> bytes:
    return SIGNATURE + b"".join(chunk.render() for chunk in chunks)


def _plain() -> bytes:
    """A grey picture."""
    width, height = _PLAIN
    header = width.to_bytes(4) + height.to_bytes(4) + bytes((8, 0, 0, 0, 0))
    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    return _rendered([Chunk(b"IHDR", header), Chunk(b"IDAT", rows), Chunk(b"IEND", b"")])
