"""Importing files: what they hold goes into the library, a chat becomes a session. Every answer has the file's ``report``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp import web

from agentui.api.chats.protocol import BODY, account_of, data_answer, made_answer, now_ms, route, write
from agentui.api.keys import CATALOG, STORE
from agentui.api.library.uploads import Upload, read_upload, reading
from agentui.assets.character import Character
from agentui.assets.files.books import read_book
from agentui.assets.files.cards import CardFile, read_card, read_card_file
from agentui.assets.files.charx import pack_files
from agentui.assets.files.chat_files import read_chat
from agentui.assets.files.kinds import FileKind, kind_of, kind_of_file
from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.presets import read_preset
from agentui.assets.files.report import ImportReport
from agentui.assets.files.scripts import ScriptCompatibility, compatibility_of, read_scripts
from agentui.chats.records import Session
from agentui.http.route import Route
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.library.content import Packed, name_of, packed, tags_of_card
from agentui.library.imports import FileAsset, import_asset, import_with_session
from agentui.library.incoming import ImportedChat, IncomingChat, incoming, keep_chat
from agentui.library.records import Asset
from agentui.pipeline.hadtavern.convert import ConvertedPipeline, convert
from agentui.schemas.files import (
    AutoImport,
    AutoImported,
    CardSummary,
    CharacterImport,
    CharacterOptions,
    ChatImport,
    ChatOptions,
    DataImport,
    ImportedAsset,
    ImportedCharacter,
    ImportedSession,
    NameOption,
    RegexImport,
)
from agentui.schemas.forms import Data
from agentui.threads import apart

Show = Callable[[Any], web.Response]
"""Makes the answer of what a route gives."""


@dataclass(frozen=True, slots=True)
class _ReadAsset:
    """What was read of a file, ready to be kept."""

    file: FileAsset
    report: ImportReport
    summary: CardSummary | None = None
    compatibility: ScriptCompatibility | None = None


async def import_character(request: web.Request) -> web.Response:
    """Import a character card: JSON of V1, V2 or V3, a PNG picture or a CharX file; and begin a session with it."""
    given = await read_upload(request, CharacterOptions, CharacterImport)
    if isinstance(given, Upload):
        data, options = given.data, given.options
        return await _keep_character(request, lambda limits: read_card_file(data, limits), options, made_answer)
    payload = given.payload
    return await _keep_character(request, lambda limits: read_card(payload, limits), given, made_answer)


async def _keep_character(
    request: web.Request, read: Callable[[FileLimits], CardFile], options: CharacterOptions, answer: Show
) -> web.Response:
    found = await reading(request, len(request[BODY]), lambda limits: _packed_card(read(limits)))
    title = options.title or found.file.name

    def show(kept: tuple[Asset, Session]) -> web.Response:
        return answer(_shown_character(kept[0], kept[1], found))

    def show_alone(asset: Asset) -> web.Response:
        return answer(_shown_character(asset, None, found))

    if options.create_session:
        return await write(request, show, import_with_session, found.file, title, now_ms())
    return await write(request, show_alone, import_asset, found.file, now_ms())


def _packed_card(card: CardFile) -> _ReadAsset:
    made = _packed(card.content, card.origin, card.picture, pack_files(card.files) if card.files else None)
    source = str(card.origin["format"])
    file = FileAsset("character", name_of(card.name), made, source, tuple(tags_of_card(card.content)))
    said = Character.of(card.content)
    summary = CardSummary(file.name, said.description, said.personality, said.scenario, said.first_mes, said.mes_example)
    return _ReadAsset(file, card.report, summary)


def _packed(
    content: Mapping[str, Json], origin: Mapping[str, Json], picture: bytes | None = None, files: bytes | None = None
) -> Packed:
    """What was read, ready to be written. Raises InvalidFile for what could not be read back: a converted lorebook holds more
    objects and lists than its file."""
    made = packed(content, origin, picture, files)
    try:
        loads(made.text)
    except InvalidJson as error:
        raise InvalidFile(f"What the file becomes is too large: {error}.", is_too_large=True) from error
    return made


def _shown_character(asset: Asset, session: Session | None, found: _ReadAsset) -> ImportedCharacter:
    assert found.summary is not None
    shown = (asset.id, asset.version_id, asset.name, asset.content_hash, session, found.report)
    return ImportedCharacter(session is not None, found.summary, *shown)


async def import_preset(request: web.Request) -> web.Response:
    """Import a prompt preset: SillyTavern's chat completion preset."""
    given = await read_upload(request, NameOption, DataImport)
    return await _keep_asset(request, given, "preset", made_answer)


async def import_worldbook(request: web.Request) -> web.Response:
    """Import a worldbook: SillyTavern's, the lorebook of a card, NovelAI's, Agnai's or RisuAI's."""
    given = await read_upload(request, NameOption, DataImport)
    return await _keep_asset(request, given, "worldbook", made_answer)


async def import_regex(request: web.Request) -> web.Response:
    """Import regex scripts as a profile."""
    given = await read_upload(request, NameOption, RegexImport)
    return await _keep_asset(request, given, "regex", made_answer)


async def _keep_asset(
    request: web.Request, given: Upload[NameOption] | DataImport | RegexImport | AutoImport, kind: FileKind, answer: Show
) -> web.Response:
    """Keep what is no character and no chat; the file's own name counts where nobody gave one."""
    read = _READERS[kind]
    if isinstance(given, Upload):
        data, name, called = given.data, given.options.name, given.name
        found = await reading(request, len(data), lambda limits: read(limits.parse(data), name, called, limits))
    else:
        document, name = given.data, given.name
        found = await reading(request, len(request[BODY]), lambda limits: read(document, name, "", limits))

    def show(asset: Asset) -> web.Response:
        scripts = found.compatibility
        return answer(
            ImportedAsset(
                id=asset.id,
                kind=found.file.kind,
                name=asset.name,
                version=asset.version,
                version_id=asset.version_id,
                content_hash=asset.content_hash,
                source="sillytavern",
                script_count=None if scripts is None else scripts.stored_count,
                compat_report=scripts,
                report=found.report,
            )
        )

    return await write(request, show, import_asset, found.file, now_ms())


def _read_preset(document: Json, name: str, called: str, limits: FileLimits) -> _ReadAsset:
    preset = read_preset(document, limits)
    given = name or preset.content.get("name") or called
    file = FileAsset("preset", name_of(given, "Preset"), _packed(preset.content, preset.origin), preset.report.format)
    return _ReadAsset(file, preset.report)


def _read_worldbook(document: Json, name: str, called: str, limits: FileLimits) -> _ReadAsset:
    book = read_book(document, name or called, limits)
    given = name or book.content["name"]
    file = FileAsset("worldbook", name_of(given, "Worldbook"), _packed(book.content, book.origin), book.report.format)
    return _ReadAsset(file, book.report)


def _read_regex(document: Json, name: str, called: str, limits: FileLimits) -> _ReadAsset:
    scripts = read_scripts(document, name, limits)
    given = name or called or scripts.content["name"]
    file = FileAsset("regex", name_of(given, "Regex scripts"), _packed(scripts.content, scripts.origin), scripts.report.format)
    return _ReadAsset(file, scripts.report, compatibility=compatibility_of(scripts.content["scripts"]))


_READERS: Mapping[FileKind, Callable[[Json, str, str, FileLimits], _ReadAsset]] = {
    "preset": _read_preset,
    "worldbook": _read_worldbook,
    "regex": _read_regex,
}
"""How the JSON of each kind is read: with the name that was asked for, and what the file is called."""


async def import_chat_file(request: web.Request) -> web.Response:
    """Import a chat as a session: SillyTavern's JSON lines, or the JSON that the export writes."""
    given = await read_upload(request, ChatOptions, ChatImport)
    if isinstance(given, Upload):
        return await _keep_chat(request, given.data, given.options, made_answer)
    return await _keep_chat(request, given.data.encode("utf-8", "replace"), given, made_answer)


async def _keep_chat(request: web.Request, data: bytes, options: ChatOptions, answer: Show) -> web.Response:
    found = await reading(request, len(data), lambda limits: read_chat(data, limits))

    def show(made: ImportedChat) -> web.Response:
        read, is_own = found.report.read, found.report.format == "thchat"
        return answer(
            ImportedSession(
                session_id=made.session.id,
                title=made.session.title,
                format="thchat" if is_own else "sillytavern_jsonl",
                import_source="tavern_headless" if is_own else "sillytavern",
                skipped_lines=read.get("skipped_lines", 0),
                swipe_count=read.get("swipes", 0),
                memory_item_count=0,
                memory_edge_count=0,
                session=made.session,
                floor_count=made.floors,
                page_count=made.pages,
                message_count=made.messages,
                variable_count=made.variables,
                report=found.report,
            )
        )

    chat = IncomingChat(found.record, options.title, options.character_id)
    async with incoming(request.app[STORE], account_of(request), chat, now_ms()) as written:
        return await write(request, show, keep_chat, written, now_ms())


async def import_hadtavern(request: web.Request) -> web.Response:
    """Convert a pipeline of HadTavern's, as its editor (Drawflow) or its server writes it. Nothing is saved: the document is
    for the editor, the report tells what could not be taken as it stood."""
    given = await read_upload(request, NameOption, DataImport)
    catalog = request.app[CATALOG]
    if isinstance(given, Upload):
        data, name = given.data, given.options.name or given.name
        return data_answer(await reading(request, len(data), lambda limits: convert(limits.parse(data), name, catalog, limits)))
    document = given.data
    found = await reading(request, len(request[BODY]), lambda limits: convert(document, given.name, catalog, limits))
    return data_answer(found)


async def import_auto(request: web.Request) -> web.Response:
    """Import a file of any kind: it is told from what is in it."""
    given = await read_upload(request, NameOption, AutoImport)
    if isinstance(given, Upload):
        data = given.data
        kind = await reading(request, len(data), lambda limits: kind_of_file(data, limits))
    else:
        kind = await reading(request, len(request[BODY]), lambda _: kind_of(given.data))

    def answer(result: Any) -> web.Response:
        return made_answer(AutoImported(kind, result))

    if kind == "character":
        options = CharacterOptions(create_session=False)
        return await _keep_character(request, lambda limits: _card_of(given, limits), options, answer)
    if kind == "chat":
        text = given.data if isinstance(given, Upload) else await apart(len(request[BODY]), partial(dumps, given.data))
        return await _keep_chat(request, text, ChatOptions(), answer)
    return await _keep_asset(request, given, kind, answer)


def _card_of(given: Upload[NameOption] | AutoImport, limits: FileLimits) -> CardFile:
    return read_card_file(given.data, limits) if isinstance(given, Upload) else read_card(given.data, limits)


ROUTES: tuple[Route, ...] = (
    route("POST", "/import/character", import_character, Data[ImportedCharacter], 413, body=CharacterImport, status=201),
    route("POST", "/import/preset", import_preset, Data[ImportedAsset], 413, body=DataImport, status=201),
    route("POST", "/import/worldbook", import_worldbook, Data[ImportedAsset], 413, body=DataImport, status=201),
    route("POST", "/import/regex", import_regex, Data[ImportedAsset], 413, body=RegexImport, status=201),
    route("POST", "/import/chat", import_chat_file, Data[ImportedSession], 404, 413, body=ChatImport, status=201),
    route("POST", "/import/hadtavern", import_hadtavern, Data[ConvertedPipeline], 413, body=DataImport, writes=False),
    route("POST", "/import/auto", import_auto, Data[AutoImported], 413, body=AutoImport, status=201),
)
