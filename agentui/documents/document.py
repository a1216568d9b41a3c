"""One document: what its file says, how it is named, and which version of it serves."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import orjson
from pydantic import ValidationError

from agentui.errors import BadRequest, Problem
from agentui.jsonio import InvalidJson, Json, dumps, loads

T = TypeVar("T")

ID_PATTERN = r"[A-Za-z0-9_-]{1,64}"
"""A document's id, which is its file's name without ``.json``."""

MAX_FILE_BYTES = 2 * 1024 * 1024

_ID = re.compile(ID_PATTERN)
_DEVICE = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Good(Generic[T]):
    """A version that is understood. ``value`` is what it was understood as."""

    value: T
    etag: str
    document: Mapping[str, Json]
    problems: tuple[Problem, ...] = ()
    """Warnings only."""


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """One file. ``document`` is None where the file is no JSON object, and ``text`` then says what stands in it.

    ``modified`` is milliseconds since 1970. ``good`` is what serves: this version, or the last good one before it.
    """

    id: str
    etag: str
    modified: int
    document: Mapping[str, Json] | None
    text: str | None
    problems: tuple[Problem, ...]
    good: Good[T] | None

    @property
    def is_valid(self) -> bool:
        """True when the file itself is good."""
        return self.good is not None and self.good.etag == self.etag

    @property
    def name(self) -> str:
        """The document's name, else the id."""
        return self._text_of("name") or self.id

    @property
    def description(self) -> str:
        """The document's description, "" where it has none."""
        return self._text_of("description")

    def _text_of(self, field: str) -> str:
        document = self.document if self.document is not None else (self.good.document if self.good else {})
        value = document.get(field)
        return value if isinstance(value, str) else ""


def parse_document(raw: bytes) -> dict[str, Json] | Problem:
    """A file's document, or what keeps it from being one, with line and column where the parser knows them."""
    try:
        document = loads(raw.removeprefix(_BOM))
    except InvalidJson as error:
        cause = error.__cause__
        if isinstance(cause, orjson.JSONDecodeError):
            return Problem("json.syntax", f"This is not JSON: {cause.msg}.", line=cause.lineno, column=cause.colno)
        return Problem("json.syntax", f"This is not JSON: {error}.")
    if not isinstance(document, dict):
        return Problem("json.not_object", "The file holds JSON, but no object.", line=1, column=1)
    return document


def problems_of(error: ValidationError, node: str | None = None) -> tuple[Problem, ...]:
    """A pydantic error as one problem for each wrong field, the field as a dotted path."""
    return tuple(
        Problem(
            "spec.invalid",
            item["msg"],
            node=node,
            field=".".join(map(str, item["loc"])) or None,
            # Pydantic's own word for the rule, and what that rule says: a limit, the values that may stand there.
            facts={
                "reason": item["type"],
                **{name: fact for name, fact in item.get("ctx", {}).items() if isinstance(fact, (str, int, float))},
            },
        )
        for item in error.errors(include_url=False, include_input=False)
    )


def version_of(document: Json) -> str:
    """A short hash that changes whenever the document does."""
    return hashlib.sha256(dumps(document)).hexdigest()[:16]


def etag_of(version_hash: str) -> str:
    """A version's hash as HTTP quotes it."""
    return f'"{version_hash}"'


def hash_of(etag: str) -> str:
    """The hash inside an ETag."""
    return etag.strip('"')


def is_id(text: str) -> bool:
    """Whether a document may have this id."""
    return _ID.fullmatch(text) is not None


def is_own_id(id: str) -> bool:
    """Whether an id means something of an account's own; the server's begin otherwise, so that neither hides the other."""
    return id.startswith("~")


def check_new_id(id: str) -> None:
    """Raise BadRequest for what cannot be an id, or what Windows keeps for its devices."""
    if not is_id(id):
        raise BadRequest("An id has 1 to 64 letters, digits, '_' and '-'.", param="id")
    if _DEVICE.fullmatch(id):
        raise BadRequest(f"Windows can have no file called {id!r}; choose another id.", param="id")
