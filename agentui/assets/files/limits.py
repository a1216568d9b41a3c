"""How large a file and its parts may be, and the error of a file that cannot be taken."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from agentui.jsonio import InvalidJson, Json, dumps, loads, weigh

MIB: Final = 1024 * 1024
MAX_DEPTH: Final = 64
"""Objects and lists within each other: less than JSON may have here, for what is kept of a file stands within more of them."""


MAX_FILE_VALUES: Final = 2_000_000
"""Values and names in a file: a chat of as many messages as there may be has some thirty in each."""


class InvalidFile(ValueError):
    """The file is not what it should be; the message says why, ``where`` names the part (``data.name``, ``line 3``)."""

    def __init__(self, message: str, where: str = "", *, is_too_large: bool = False) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where
        self.is_too_large = is_too_large


@dataclass(frozen=True, slots=True)
class FileLimits:
    """In bytes but for ``members`` (files in an archive), ``pixels`` (of a picture, width by height) and ``messages`` (of a
    chat, those of all versions)."""

    file: int = 16 * MIB
    text: int = MIB
    unpacked: int = 32 * MIB
    members: int = 1000
    pixels: int = 50_000_000
    messages: int = 50_000

    def check_size(self, data: bytes) -> None:
        """Raise InvalidFile for a file that is too large."""
        if len(data) > self.file:
            raise InvalidFile(f"The file has more than {self.file} bytes.", is_too_large=True)

    def check_values(self, data: bytes) -> None:
        """Raise InvalidFile for JSON of too many values: they take ten times as much memory as their bytes."""
        if weigh(data, MAX_FILE_VALUES).values > MAX_FILE_VALUES:
            raise InvalidFile(f"The file holds more than {MAX_FILE_VALUES} values and names.", is_too_large=True)

    def check_messages(self, count: int) -> None:
        """Raise InvalidFile for a chat of too many messages."""
        if count > self.messages:
            raise InvalidFile(f"The chat has more than {self.messages} messages.", is_too_large=True)

    def check_metadata(self, metadata: Mapping[str, Json], where: str) -> None:
        """Raise InvalidFile for what a chat says of itself where it is longer than a text may be: every turn reads it."""
        if len(dumps(metadata)) > self.text:
            raise InvalidFile(f"What is told of the chat has more than {self.text} bytes.", where, is_too_large=True)

    def parse(self, data: bytes, where: str = "") -> Json:
        """JSON of a file, in UTF-8 with or without a byte order mark. Raises InvalidFile for what is none, and as ``check``."""
        self.check_size(data)
        self.check_values(data)
        try:
            value = loads(data.removeprefix(b"\xef\xbb\xbf"))
        except InvalidJson as error:
            raise InvalidFile(f"This is not JSON: {error}.", where) from error
        self.check(value, where)
        return value

    def check(self, value: Json, where: str = "") -> None:
        """Raise InvalidFile for a text that is too long, and for JSON that nests too deep; level by level, without recursion.
        Data URIs, which hold pictures, may be as long as the file."""
        level = [_Place(value, where, None)]
        for _ in range(MAX_DEPTH):
            below: list[_Place] = []
            for place in level:
                parent = place.value
                if isinstance(parent, str):
                    self._check_text(parent, place)
                elif isinstance(parent, dict | list):
                    named = parent.items() if isinstance(parent, dict) else enumerate(parent)
                    # Only what may be wrong, and no path before something is: a file may hold millions of small values.
                    below += [_Place(child, name, place) for name, child in named if self._may_be_wrong(child)]
            level = below
            if not level:
                return
        raise InvalidFile(f"Objects and lists are nested deeper than {MAX_DEPTH} levels.", where)

    def _may_be_wrong(self, value: Json) -> bool:
        # UTF-8 has at most four bytes a character, so most texts need not be encoded.
        return 4 * len(value) > self.text if isinstance(value, str) else isinstance(value, dict | list)

    def _check_text(self, text: str, place: "_Place") -> None:
        if not text.startswith("data:") and len(text.encode("utf-8", "replace")) > self.text:
            raise InvalidFile(f"The text has more than {self.text} bytes.", place.path(), is_too_large=True)


class _Place(NamedTuple):
    """A value, what it is called in the one that holds it, and that one."""

    value: Json
    name: str | int
    parent: "_Place | None"

    def path(self) -> str:
        """The names from the outermost on: ``data.tags[0]``."""
        said, place = "", self
        while place.parent is not None:
            said = f"[{place.name}]{said}" if isinstance(place.name, int) else f".{place.name:.60}{said}"
            place = place.parent
        return f"{place.name}{said}" if place.name else said.removeprefix(".")
