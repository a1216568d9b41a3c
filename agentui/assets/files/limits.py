"""How large a file and its parts may be, and the error of a file that cannot be taken."""

from dataclasses import dataclass
from typing import Final

from agentui.jsonio import InvalidJson, Json, loads

MIB: Final = 1024 * 1024
MAX_DEPTH: Final = 64
"""Objects and lists within each other: less than JSON may have here, for what is kept of a file stands within more of them."""


class InvalidFile(ValueError):
    """The file is not what it should be; the message says why, ``where`` names the part (``data.name``, ``line 3``)."""

    def __init__(self, message: str, where: str = "", *, is_too_large: bool = False) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where
        self.is_too_large = is_too_large


@dataclass(frozen=True, slots=True)
class FileLimits:
    """In bytes but for ``members`` (files in an archive) and ``pixels`` (of a picture, width by height)."""

    file: int = 16 * MIB
    text: int = MIB
    unpacked: int = 32 * MIB
    members: int = 1000
    pixels: int = 50_000_000

    def check_size(self, data: bytes) -> None:
        """Raise InvalidFile for a file that is too large."""
        if len(data) > self.file:
            raise InvalidFile(f"The file has more than {self.file} bytes.", is_too_large=True)

    def parse(self, data: bytes, where: str = "") -> Json:
        """JSON of a file, in UTF-8 with or without a byte order mark. Raises InvalidFile for what is none, and as ``check``."""
        self.check_size(data)
        try:
            value = loads(data.removeprefix(b"\xef\xbb\xbf"))
        except InvalidJson as error:
            raise InvalidFile(f"This is not JSON: {error}.", where) from error
        self.check(value, where)
        return value

    def check(self, value: Json, where: str = "") -> None:
        """Raise InvalidFile for a text that is too long, and for JSON that nests too deep; level by level, without recursion.
        Data URIs, which hold pictures, may be as long as the file."""
        level: list[tuple[Json, str]] = [(value, where)]
        for _ in range(MAX_DEPTH):
            below: list[tuple[Json, str]] = []
            for parent, path in level:
                if isinstance(parent, str):
                    self._check_text(parent, path)
                elif isinstance(parent, dict):
                    below += [(child, f"{path}.{name:.60}" if path else f"{name:.60}") for name, child in parent.items()]
                elif isinstance(parent, list):
                    below += [(child, f"{path}[{index}]") for index, child in enumerate(parent)]
            level = below
            if not level:
                return
        raise InvalidFile(f"Objects and lists are nested deeper than {MAX_DEPTH} levels.", where)

    def _check_text(self, text: str, path: str) -> None:
        # UTF-8 has at most four bytes a character, so most texts need not be encoded.
        if 4 * len(text) <= self.text or text.startswith("data:"):
            return
        if len(text.encode("utf-8", "replace")) > self.text:
            raise InvalidFile(f"The text has more than {self.text} bytes.", path, is_too_large=True)
