"""How files come in and go out: as JSON in the fields that the contract names, or as a form with a file; and as a download."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar
from urllib.parse import quote

from aiohttp import web

from agentui.api.chats.protocol import BODY, invalid, read_form, validate
from agentui.api.keys import FILE_LIMITS
from agentui.assets.files.limits import MAX_FILE_VALUES, FileLimits, InvalidFile
from agentui.chats.codes import failure
from agentui.errors import BadRequest, BodyTooLarge
from agentui.http.keys import SETTINGS
from agentui.http.multipart import FormPart, parse_form
from agentui.http.reading import is_form, read_body
from agentui.library.imports import refused
from agentui.schemas.forms import Form
from agentui.threads import apart

Options = TypeVar("Options", bound=Form)
Whole = TypeVar("Whole", bound=Form)
T = TypeVar("T")

FILE = "file"
"""The part of a form that is the file."""
_BESIDE = 64 * 1024
"""Bytes of a form beside its file."""


@dataclass(frozen=True, slots=True)
class Upload(Generic[Options]):
    """A file that came in a form, and what came beside it."""

    data: bytes
    name: str
    options: Options


async def read_upload(request: web.Request, options: type[Options], json: type[Whole]) -> Upload[Options] | Whole:
    """The file of a form, or the body's JSON. Raises 400 and 413."""
    limit = request.app[FILE_LIMITS].file
    if not is_form(request.headers.get("Content-Type", "")):
        # JSON spells a character in up to six bytes; twice the file is enough for what people write.
        return await read_form(request, json, limit=2 * limit, values=MAX_FILE_VALUES)
    file, parts = await _read_parts(request)
    name = (file.filename or "").rpartition(".")[0] or file.filename or ""
    return Upload(file.data, name, validate(options, {name: part.text for name, part in parts.items()}))


async def read_file(request: web.Request) -> bytes:
    """The file of a form. Raises 400 and 413."""
    if not is_form(request.headers.get("Content-Type", "")):
        wanted = f"a form (multipart/form-data) with the part {FILE!r}"
        raise invalid(f"The body must be {wanted}.", [{"path": "", "message": wanted, "code": "form"}])
    return (await _read_parts(request))[0].data


async def _read_parts(request: web.Request) -> tuple[FormPart, dict[str, FormPart]]:
    """The file of a form, and its other parts. Raises 400 and 413."""
    limit = request.app[FILE_LIMITS].file
    try:
        request[BODY] = await read_body(request, limit + _BESIDE, request.app[SETTINGS].body_timeout)
        parse = partial(parse_form, request[BODY], request.headers["Content-Type"])
        parts = dict(await apart(len(request[BODY]), parse))
    except BodyTooLarge as error:
        raise failure("payload_too_large", error.message, limit=limit) from error
    except BadRequest as error:
        raise invalid(error.message, [{"path": "", "message": error.message, "code": "form"}]) from error
    file = parts.pop(FILE, None)
    if file is None:
        raise invalid(f"The form has no part {FILE!r}.", [{"path": f"/{FILE}", "message": "a file", "code": "required"}])
    return file, parts


async def reading(request: web.Request, size: int, read: Callable[[FileLimits], T]) -> T:
    """What ``read`` makes of a file of about ``size`` bytes; what is long, in a thread. Raises 400 ``validation_error`` with
    the place in the file, 413 ``payload_too_large``."""
    try:
        return await apart(size, partial(read, request.app[FILE_LIMITS]))
    except InvalidFile as error:
        raise refused(error) from error


def download(data: bytes, name: str, ending: str, content_type: str) -> web.Response:
    """An answer that browsers save as a file."""
    safe = "".join(letter if letter.isalnum() or letter in " -_" else "_" for letter in name).strip() or "export"
    plain = safe.encode("ascii", "replace").decode().replace("?", "_")
    disposition = f"attachment; filename=\"{plain}.{ending}\"; filename*=UTF-8''{quote(safe)}.{ending}"
    headers = {"content-disposition": disposition, "cache-control": "no-store"}
    return web.Response(body=data, content_type=content_type, headers=headers)
