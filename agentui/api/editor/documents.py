"""What pipelines and presets have in common over HTTP: documents with ETags and versions.

Saving needs ``If-Match`` with the ETag that was read (``*``: whatever is there), or ``If-None-Match: *`` for a new one.
A document that was read, changed by somebody else, and saved meets 412 with the current one in the error's details.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field

from agentui.documents.document import MAX_FILE_BYTES, Entry
from agentui.documents.folder import FolderLibrary
from agentui.documents.versions import MAX_VERSION_NAME, Version
from agentui.errors import Problem
from agentui.http.route import Route, answer, read_json, read_model, whole_number
from agentui.jsonio import Json

Library = FolderLibrary[Any]

SAVE_HEADERS = {
    "If-Match": "The ETag of what is replaced; * replaces whatever is there.",
    "If-None-Match": "* creates, and replaces nothing.",
}
DELETE_HEADERS = {"If-Match": "The ETag of what is removed, or *."}
RENAME_HEADERS = {"If-Match": "The ETag of what is renamed, or *."}

# A document is stored with two spaces a level, so what fits compactly may still be refused; the other way round never.
_BODY_LIMIT = MAX_FILE_BYTES


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A document in a list. ``modified`` is milliseconds since 1970."""

    id: str
    name: str
    description: str
    etag: str
    valid: bool
    active: bool
    problem_count: int
    modified: int


@dataclass(frozen=True, slots=True)
class DocumentState:
    """A document and how it fares.

    ``document`` is null where the file is no JSON object; ``text`` is then what stands in it. ``serving`` is the ETag of
    the version that serves, which is an earlier one while this one has problems; ``notice`` says so in a sentence.
    """

    id: str
    etag: str
    modified: int
    valid: bool
    active: bool
    document: dict[str, Json] | None
    text: str | None
    problems: tuple[Problem, ...]
    serving: str | None
    notice: str | None


@dataclass(frozen=True, slots=True)
class VersionState:
    """A kept version with its document. ``time`` is milliseconds since 1970, ``size`` bytes."""

    number: int
    time: int
    etag: str
    name: str
    size: int
    document: dict[str, Json]


class VersionName(BaseModel):
    """A version's name; "" takes it away."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(max_length=MAX_VERSION_NAME)


class NewId(BaseModel):
    """The id that a document gets."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str


def line(entry: Entry[Any], *, active: bool = False) -> DocumentLine:
    """An entry as a list shows it."""
    return DocumentLine(
        id=entry.id,
        name=entry.name,
        description=entry.description,
        etag=entry.etag,
        valid=entry.is_valid,
        active=active,
        problem_count=len(entry.problems),
        modified=entry.modified,
    )


def state_of(entry: Entry[Any], *, active: bool = False) -> DocumentState:
    """An entry in full."""
    return DocumentState(
        id=entry.id,
        etag=entry.etag,
        modified=entry.modified,
        valid=entry.is_valid,
        active=active,
        document=None if entry.document is None else dict(entry.document),
        text=entry.text,
        problems=entry.problems,
        serving=entry.good.etag if entry.good else None,
        notice=_notice(entry),
    )


def _notice(entry: Entry[Any]) -> str | None:
    if entry.is_valid:
        return None
    if entry.good is None:
        return "This has problems and cannot serve until they are solved."
    return "This version has problems, so the last good version before it goes on serving."


async def save(request: web.Request, library: Library) -> tuple[Entry[Any], int]:
    """Write the document in the body; the entry, and 201 where it is new."""
    id = request.match_info["id"]
    document = await read_json(request, _BODY_LIMIT)
    is_new = id not in library
    entry = await asyncio.to_thread(
        library.save, id, document, request.headers.get("If-Match"), request.headers.get("If-None-Match")
    )
    return entry, 201 if is_new else 200


async def rename(request: web.Request, library: Library) -> Entry[Any]:
    """Give a document the id in the body."""
    named = await read_model(request, NewId)
    return await asyncio.to_thread(library.rename, request.match_info["id"], named.id, request.headers.get("If-Match"))


async def delete(request: web.Request, library: Library) -> web.Response:
    """Remove a document."""
    await asyncio.to_thread(library.delete, request.match_info["id"], request.headers.get("If-Match"))
    return web.Response(status=204)


def version_routes(path: str, library_of: Callable[[web.Request], Library]) -> tuple[Route, ...]:
    """The routes of the kept versions of the documents at ``path``, which names one by ``{id}``."""

    async def list_versions(request: web.Request) -> web.Response:
        """List the kept versions, newest first."""
        return answer(await asyncio.to_thread(library_of(request).versions, request.match_info["id"]))

    async def get_version(request: web.Request) -> web.Response:
        """Read one version; saving its document restores it."""
        number = _number(request)
        kept, document = await asyncio.to_thread(library_of(request).version, request.match_info["id"], number)
        return answer(VersionState(kept.number, kept.time, kept.etag, kept.name, kept.size, document))

    async def name_version(request: web.Request) -> web.Response:
        """Name a version, which keeps it for good."""
        named = await read_model(request, VersionName)
        name, number = named.name.strip(), _number(request)
        kept: Version = await asyncio.to_thread(library_of(request).name_version, request.match_info["id"], number, name)
        return answer(kept)

    naming = f"{path}/versions/{{number}}/name"
    return (
        Route("GET", f"{path}/versions", list_versions, answer=list[Version], errors=(404,)),
        Route("GET", f"{path}/versions/{{number}}", get_version, answer=VersionState, errors=(400, 404)),
        Route("PUT", naming, name_version, answer=Version, body=VersionName, errors=(400, 404, 415, 507)),
    )


def _number(request: web.Request) -> int:
    return whole_number(request.match_info["number"], "number", least=1)
