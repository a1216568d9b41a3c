"""CharX files: a ZIP archive with ``card.json`` (card V3) and the pictures that it names by ``embeded://`` (spelled so).

https://github.com/kwaroran/character-card-spec-v3/blob/main/SPEC_V3.md#charx. Something may stand before the archive, as in
files that are a picture too. Nothing is ever unpacked to a disk.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Final

from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.values import members, text
from agentui.jsonio import Json, dumps

START: Final = b"PK\x03\x04"
CARD: Final = "card.json"
_SCHEMES: Final = ("embeded://", "embedded://", "__asset:")
_ICON: Final = "assets/icon/image/main"
_ENDINGS: Final[Mapping[str, str]] = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}
_ENTRY: Final = b"PK\x01\x02"
"""Begins each entry of an archive's directory."""
_END: Final = b"PK\x05\x06"
"""Begins the record that ends an archive; only a comment of 65,535 bytes at most may stand behind its 22 bytes."""
_TAIL: Final = 22 + 0xFFFF
_PIECE: Final = 64 * 1024
_MAX_PATH: Final = 4096
"""Bytes of a file's path; an archive has room for 65,535, in an older alphabet that becomes three times as long."""
_DAMAGED: Final = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError),
    *(IndexError, OverflowError, RuntimeError, struct.error),
)
"""What reading an archive raises that is no archive: an empty name is an IndexError, a place beyond 2**63 an OverflowError."""


@dataclass(frozen=True, slots=True)
class CharxFile:
    """What an archive holds: the card's text, and the other files by their path."""

    json: bytes
    files: Mapping[str, bytes]


def has_archive(data: bytes) -> bool:
    """Whether a file is an archive, or something else with an archive behind it: RisuAI writes CharX files that are pictures
    too. The bytes of a picture may look like an archive's first ones by chance, so the record at its end decides."""
    return data.startswith(START) or (START in data and data.rfind(_END, -_TAIL) >= 0)


def read_charx(data: bytes, limits: FileLimits) -> CharxFile:
    """The members of a CharX file. Raises InvalidFile for one that is damaged, that unpacks to too much or holds too many
    files, for paths that lead out of it or stand twice, for encrypted files, and for one without a card."""
    limits.check_size(data)
    if START not in data:
        raise InvalidFile("This is not a CharX file: it holds no ZIP archive.")
    # Before the directory is read: an object is made of each of its entries, and a file has room for hundreds of thousands.
    _check_count(data.count(_ENTRY), limits)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = _unpacked(archive, limits)
    except InvalidFile:
        raise
    except _DAMAGED as error:
        raise InvalidFile("The archive is damaged or packed in a way that is not read here.") from error
    card = found.pop(CARD, None)
    if card is None:
        raise InvalidFile(f"The archive has no {CARD}.")
    return CharxFile(card, found)


def _unpacked(archive: zipfile.ZipFile, limits: FileLimits) -> dict[str, bytes]:
    """The files by their path. The sizes that the archive declares are checked, and then not relied on."""
    if not all(entry.filename for entry in archive.infolist()):  # Python 3.11 fails over these, later ones take them for files
        raise InvalidFile("The archive is damaged: a file in it has no name.")
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if sum(entry.file_size for entry in entries) > limits.unpacked:
        raise InvalidFile(f"The archive unpacks to more than {limits.unpacked} bytes.", is_too_large=True)
    found: dict[str, bytes] = {}
    left = limits.unpacked
    for entry in entries:
        _check_path(entry.filename)
        if entry.filename in found:
            raise InvalidFile("The archive has two files of this path.", entry.filename[:200])
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InvalidFile("The file is encrypted, or packed otherwise than by deflate.", entry.filename[:200])
        found[entry.filename] = _member(archive, entry, left)
        left -= len(found[entry.filename])
    return found


def _check_count(count: int, limits: FileLimits) -> None:
    """Raise InvalidFile for an archive of too many files and folders."""
    if count > limits.members:
        raise InvalidFile(f"The archive holds more than {limits.members} files.", is_too_large=True)


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    """One file, read piece by piece and no further than allowed."""
    pieces: list[bytes] = []
    with archive.open(entry) as member:
        while piece := member.read(_PIECE):
            pieces.append(piece)
            most -= len(piece)
            if most < 0:
                raise InvalidFile("The archive unpacks to more than it says.", entry.filename[:200], is_too_large=True)
    return b"".join(pieces)


def _check_path(path: str) -> None:
    """Raise InvalidFile for a path that is absolute or leads upwards, and for one that is too long to be written again."""
    if not _leads_inside(path):
        raise InvalidFile("The path leads out of the archive.", path[:200])
    if len(path.encode()) > _MAX_PATH:
        raise InvalidFile(f"The path has more than {_MAX_PATH} bytes.", path[:200])


def _leads_inside(path: str) -> bool:
    """Whether a path is neither absolute nor leads upwards."""
    parts = path.replace("\\", "/").split("/")
    return not path.startswith(("/", "\\")) and ":" not in parts[0] and ".." not in parts


def icon_paths(content: Mapping[str, Json]) -> list[str]:
    """Where the character's picture may be: the assets of type icon that are files, the one that is called main before the
    others."""
    assets = content.get("assets")
    icons = [members(asset) for asset in (assets if isinstance(assets, list) else []) if members(asset).get("type") == "icon"]
    icons.sort(key=lambda icon: icon.get("name") != "main")
    return [path for icon in icons if (path := embedded_path(icon.get("uri")))]


def embedded_path(uri: Json) -> str:
    """The path in the archive that a URI names; empty for any other URI."""
    given = text(uri)
    return next((given[len(scheme) :] for scheme in _SCHEMES if given.lower().startswith(scheme)), "")


def write_charx(card: Mapping[str, Json], picture: bytes | None, media_type: str, kept: Mapping[str, bytes]) -> bytes:
    """A CharX file of a V3 card, with the other files that are ``kept`` of the one that it came in. The picture stands where an
    icon of its kind stood, else it becomes the main icon; assets whose files are not there are left out."""
    data = dict(members(card.get("data")))
    given = data.get("assets")
    files = dict(kept)
    ending = _ENDINGS.get(media_type, "bin")
    place = next((path for path in icon_paths(data) if path not in files and _is_place(path, ending)), None)
    if picture is not None and place is not None:
        files[place] = picture
    assets = [asset for asset in (given if isinstance(given, list) else []) if _is_there(members(asset), files)]
    if picture is not None and place is None:
        path = _free_path(files, ending)
        files[path] = picture
        assets = [asset for asset in assets if not _is_main_icon(members(asset))]
        assets.insert(0, {"type": "icon", "uri": f"embeded://{path}", "name": "main", "ext": ending})
    if assets or isinstance(given, list):
        data["assets"] = assets
    return pack_files({CARD: dumps({**card, "data": data}), **files})


def pack_files(files: Mapping[str, bytes]) -> bytes:
    """An archive of files by their paths. The same files give the same archive: none has a date."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def unpack_files(data: bytes) -> dict[str, bytes]:
    """The files of an archive that ``pack_files`` made."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {path: archive.read(path) for path in archive.namelist()}


def _is_there(asset: Mapping[str, Json], files: Mapping[str, bytes]) -> bool:
    """Whether an asset is no file of the archive, or one that is there."""
    path = embedded_path(asset.get("uri"))
    return not path or path in files


def _is_place(path: str, ending: str) -> bool:
    """Whether a path may be that of a picture of this kind: cards name what they like."""
    may_be = _leads_inside(path) and "\0" not in path and len(path.encode()) <= _MAX_PATH
    return may_be and path.lower().replace(".jpeg", ".jpg").endswith(f".{ending}")


def _free_path(files: Mapping[str, bytes], ending: str) -> str:
    """A path for the main icon at which no other file stands."""
    names = chain([_ICON], (f"{_ICON}{number}" for number in count(2)))
    return next(path for name in names if (path := f"{name}.{ending}") not in files)


def _is_main_icon(asset: Mapping[str, Json]) -> bool:
    return asset.get("type") == "icon" and asset.get("name") == "main"
