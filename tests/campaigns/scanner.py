"""Finds keys where none may be, in every spelling in which one may have got there."""

import base64
import io
import json
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch
from urllib.parse import quote

from agentui.logs import set_up_logging
from agentui.redaction import Redactor
from agentui.settings import Settings

PART = 12
"""So many characters of a key in a row are a find; people are shown four to tell their keys apart."""


def spellings(secret: str) -> dict[str, set[bytes]]:
    """How a key may look, by the name of the encoding."""
    raw = secret.encode()
    urls = {quote(secret, safe=safe) for safe in ("", "/", "/:+~", "-._~/+=")}
    cores = set()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw)
        cores.add(encoded[(offset * 8 + 5) // 6 : (offset + len(raw)) * 8 // 6])
    return {
        "raw": {raw[at : at + PART] for at in range(len(raw) - PART + 1)},
        "base64": cores | {core.replace(b"+", b"-").replace(b"/", b"_") for core in cores},
        "hex": {raw.hex().encode(), raw.hex().upper().encode()},
        "url": {url.encode() for url in urls} | {_lowered(url).encode() for url in urls},
        "json": {json.dumps(secret)[1:-1].encode(), json.dumps(json.dumps(secret))[3:-3].encode()},
    }


def _lowered(url: str) -> str:
    """The same with lower-case escapes."""
    return re.sub("%..", lambda escape: escape[0].lower(), url)


class Scanner:
    """Looks for some keys in everything it is shown. ``finds`` says what was found where; ``scanned`` counts bytes."""

    def __init__(self, secrets: dict[str, str]) -> None:
        """``secrets`` by the places where they were put."""
        self._forms = [
            (place, encoding, form)
            for place, secret in secrets.items()
            for encoding, forms in spellings(secret).items()
            for form in forms
        ]
        self.scanned = 0
        self.finds: list[str] = []

    def scan(self, where: str, data: bytes | str) -> None:
        """Look through one sink."""
        data = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
        self.scanned += len(data)
        told: set[tuple[str, str]] = set()
        for place, encoding, form in self._forms:
            if (place, encoding) not in told and form in data:
                told.add((place, encoding))
                at = data.find(form)
                self.finds.append(f"the {place} key, {encoding}, in {where}: {data[max(0, at - 150) : at + 80]!r}")

    def scan_folder(self, folder: Path, *, but: Iterable[str] = ()) -> None:
        """Look through every file, the database and its journal too."""
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name not in but:
                self.scan(f"the file {path.name}", path.read_bytes())


@contextmanager
def captured_log(redactor: Redactor, level: str = "debug") -> Iterator[io.StringIO]:
    """What the real log writes meanwhile."""
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, before = root.handlers[:], root.level
    with patch("sys.stderr", stream):
        set_up_logging(redactor, Settings(log_level=level))  # type: ignore[arg-type]  # a level by its name
    try:
        yield stream
    finally:
        root.handlers[:] = handlers
        root.setLevel(before)
