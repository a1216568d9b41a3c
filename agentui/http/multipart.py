"""Forms with files (RFC 7578), read whole: for routes that take a small file and some words beside it.

Headers are read here by hand, each character once. The standard library's email package, and what aiohttp reads with it
(``request.content_type``, ``request.post``), looks at all that is left of a header again at every semicolon of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from agentui.errors import BadRequest

_MOST_PARTS = 20
_LONGEST_HEAD = 8 * 1024
"""Bytes of a part's headers; a request's own have as many a line."""
_PARAMETER = re.compile(r';[ \t]*+([^\s;="]++)[ \t]*+=[ \t]*+(?:"((?:[^"\\]|\\.)*+)"|([^\s;"]*+))')
"""``; name=value`` or ``; name="value"`` (RFC 9110, 5.6.6). Possessive: nothing is looked at twice."""
_ESCAPED = re.compile(r'\\(["\\])')
"""Only these are escaped in what browsers and clients send; old ones send the backslashes of a Windows path as they are."""
_EXTENDED = re.compile(r"(utf-8|iso-8859-1)'[^']*+'([^']*+)", re.IGNORECASE)
"""A value with its character set (RFC 8187). Those two, for Python would decode some others in quadratic time."""


@dataclass(frozen=True, slots=True)
class FormPart:
    """A field of a form, or a file: then ``filename`` is what its sender calls it, without folders."""

    data: bytes
    filename: str | None = None

    @property
    def text(self) -> str:
        """The field as text."""
        return self.data.decode("utf-8", "replace")


def parse_form(body: bytes, content_type: str) -> Mapping[str, FormPart]:
    """The parts of a form by their names, of several of one name the first. Raises BadRequest."""
    boundary = parameters_of(content_type).get("boundary")
    if not boundary:
        raise BadRequest("The form's content type names no boundary.")
    delimiter = b"\r\n--" + boundary.encode("utf-8", "replace")
    # Every delimiter stands on a line of its own, and the first has no line before it.
    _, *pieces = (b"\r\n" + body).split(delimiter, _MOST_PARTS + 2)
    if len(pieces) > _MOST_PARTS + 1:
        raise BadRequest(f"The form has more than {_MOST_PARTS} parts.")
    if not pieces or not pieces[-1].startswith(b"--"):
        raise BadRequest("The form breaks off, or its boundary is not the one that its content type names.")
    parts: dict[str, FormPart] = {}
    for piece in pieces[:-1]:
        name, part = _part(piece)
        parts.setdefault(name, part)
    return parts


def _part(piece: bytes) -> tuple[str, FormPart]:
    """One part with its name; ``piece`` begins behind its delimiter."""
    blank = piece.find(b"\r\n\r\n", 0, _LONGEST_HEAD)
    if blank < 0 and len(piece) > _LONGEST_HEAD:
        raise BadRequest(f"A part of the form has more than {_LONGEST_HEAD} bytes of headers.")
    told: Mapping[str, str] = {}
    for line in piece[: max(blank, 0)].decode("utf-8", "replace").split("\r\n"):
        field, _, value = line.partition(":")
        if field.strip().lower() == "content-disposition":
            told = parameters_of(value)
    name = told.get("name")
    if not name or blank < 0:
        raise BadRequest("A part of the form has no name: it needs the header Content-Disposition: form-data; name=...")
    filename = _extended(told.get("filename*", "")) or told.get("filename")
    return name, FormPart(piece[blank + 4 :], None if filename is None else filename.replace("\\", "/").rpartition("/")[2])


def parameters_of(value: str) -> Mapping[str, str]:
    """The parameters of a header's value by their names in lower case, of several of one name the first. What is no parameter
    is passed over."""
    found: dict[str, str] = {}
    for parameter in _PARAMETER.finditer(value):
        name, quoted, plain = parameter.groups()
        found.setdefault(name.lower(), plain if quoted is None else _ESCAPED.sub(r"\1", quoted))
    return found


def _extended(value: str) -> str | None:
    """A value that names its character set, as text; None where it is none."""
    parsed = _EXTENDED.fullmatch(value)
    return None if parsed is None else unquote(parsed[2], encoding=parsed[1], errors="replace")
