"""Exporting: an asset or a chat as a file, and the consent to scripts that came in one."""

from collections.abc import Callable, Mapping
from functools import partial

from aiohttp import web

from agentui.api.chats.protocol import data_answer, described, now_ms, path_id, read, read_form, read_query, route, write
from agentui.api.library.uploads import download
from agentui.assets.files.books import card_of_book, write_book
from agentui.assets.files.cards import CardFormat, KeptCard, write_card
from agentui.assets.files.charx import unpack_files
from agentui.assets.files.chat_files import MEDIA, branch_to_write, write_and_drop
from agentui.assets.files.limits import InvalidFile
from agentui.assets.files.presets import write_preset
from agentui.assets.files.scripts import write_scripts
from agentui.assets.values import members, text
from agentui.http.rights import Handler
from agentui.http.route import Route
from agentui.jsonio import Json, loads
from agentui.library.assets import find_blob, find_content, find_image
from agentui.library.bound import find_book_named
from agentui.library.imports import Consent, allow_scripts, consent_to, origin_of, refused
from agentui.library.records import AssetKind
from agentui.library.transfer import export_chat
from agentui.schemas.files import CharacterExportQuery, ChatExportQuery, ExportQuery, ScriptConsent, ScriptsAllowed
from agentui.schemas.forms import Data
from agentui.threads import apart, in_thread

_JSON = "application/json"
_CARDS: Mapping[CardFormat, tuple[str, str]] = {
    "v2": ("json", _JSON),
    "v3": ("json", _JSON),
    "png": ("png", "image/png"),
    "charx": ("charx", "application/zip"),
}
"""The ending and the media type of each format."""
_WRITERS: Mapping[AssetKind, Callable[[Mapping[str, Json]], bytes]] = {
    "preset": write_preset,
    "worldbook": write_book,
    "regex": write_scripts,
}


async def export_character(request: web.Request) -> web.Response:
    """Write a character as a card: JSON of V2 or V3, a PNG picture with both, or a CharX file."""
    id, query = path_id(request), read_query(request, CharacterExportQuery)
    kept = await read(request, find_content, "character", id, query.version_id)
    picture = None if kept.image is None else await read(request, find_image, "character", id, kept.version_id)
    content = await apart(len(kept.text), lambda: loads(kept.text))
    if query.embed_worldbook and (world := text(members(content.get("extensions")).get("world")).strip()):
        book = await read(request, find_book_named, world)
        content["character_book"] = await apart(len(book), lambda: card_of_book(loads(book)))
    origin = await apart(len(kept.origin_text or ""), partial(origin_of, kept))
    archive = await read(request, find_blob, kept.files) if query.format == "charx" else None

    def written() -> bytes:
        files = {} if archive is None else unpack_files(archive)
        return write_card(KeptCard(content, members(origin), picture, files), query.format)

    try:
        data = await in_thread(written)
    except InvalidFile as error:
        raise refused(error) from error
    return download(data, kept.name, *_CARDS[query.format])


def _exporting(kind: AssetKind) -> Handler:
    """The handler that writes what is one JSON file."""

    async def export(request: web.Request) -> web.Response:
        """Write an asset as SillyTavern's file."""
        id, query = path_id(request), read_query(request, ExportQuery)
        kept = await read(request, find_content, kind, id, query.version_id)
        data = await apart(len(kept.text), lambda: _WRITERS[kind](loads(kept.text)))
        return download(data, kept.name, "json", _JSON)

    return export


async def export_chat_file(request: web.Request) -> web.Response:
    """Write a session as a file: a thchat holds all branches unless one is named, SillyTavern's lines that one or main."""
    id, query = path_id(request), read_query(request, ChatExportQuery)
    branch_id = branch_to_write(query.branch_id, query.format)
    record = [await read(request, export_chat, id, branch_id, include_variables=query.include_variables)]
    data, name = await in_thread(partial(write_and_drop, record, query.format))
    media = MEDIA[query.format]
    return download(data, name, media.ending, media.content_type)


def _shown_scripts(consent: Consent) -> web.Response:
    kept = consent.version
    return data_answer(ScriptsAllowed(kept.asset_id, kept.version_no, kept.version_id, consent.scripts, consent.is_given))


def _consents(kind: AssetKind, path: str) -> tuple[Route, Route]:
    """The routes that tell whether the scripts inside an asset run, and that change it."""

    async def tell(request: web.Request) -> web.Response:
        """Tell whether the regex scripts inside an asset run."""
        kept = await read(request, find_content, kind, path_id(request))
        return _shown_scripts(await apart(len(kept.text), partial(consent_to, kept)))

    async def allow(request: web.Request) -> web.Response:
        """Allow the regex scripts inside an asset to run, or forbid it."""
        id, form = path_id(request), await read_form(request, ScriptConsent)
        return await write(request, _shown_scripts, allow_scripts, kind, id, form.expected, now_ms(), allowed=form.allowed)

    return (
        route("GET", f"{path}/{{id}}/scripts", tell, Data[ScriptsAllowed]),
        route("PUT", f"{path}/{{id}}/scripts", allow, Data[ScriptsAllowed], body=ScriptConsent),
    )


def _exported(path: str, handler: Handler, query: Mapping[str, str]) -> Route:
    return route("GET", f"/export/{path}/{{id}}", handler, bytes, content_type="application/octet-stream", query=query)


ROUTES: tuple[Route, ...] = (
    _exported("character", export_character, described(CharacterExportQuery)),
    _exported("preset", _exporting("preset"), described(ExportQuery)),
    _exported("worldbook", _exporting("worldbook"), described(ExportQuery)),
    _exported("regex", _exporting("regex"), described(ExportQuery)),
    _exported("chat", export_chat_file, described(ChatExportQuery)),
    *_consents("character", "/characters"),
    *_consents("preset", "/presets"),
)
