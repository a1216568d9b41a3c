"""Forms with files (RFC 7578), read whole: for routes that take a small file and some words beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message

from agentui.errors import BadRequest

_MOST_PARTS = 20


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
    head = Message()
    head["content-type"] = content_type
    boundary = head.get_boundary()
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
    headers, blank, data = piece.partition(b"\r\n\r\n")
    head = Message()
    for line in headers.decode("utf-8", "replace").split("\r\n"):
        field, _, value = line.partition(":")
        if field.strip().lower() == "content-disposition":
            head["content-disposition"] = value.strip()
    name = head.get_param("name", header="content-disposition")
    if not isinstance(name, str) or not name or not blank:
        raise BadRequest("A part of the form has no name: it needs the header Content-Disposition: form-data; name=...")
    filename = head.get_filename()
    return name, FormPart(data, None if filename is None else filename.replace("\\", "/").rpartition("/")[2])
