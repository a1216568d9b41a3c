"""Characters: whom people chat with. Their content is the ``data`` of a card of the third version."""

from aiohttp import web

from agentui.api.chats.protocol import (
    data_answer,
    described,
    list_answer,
    made_answer,
    now_ms,
    path_id,
    read,
    read_form,
    read_query,
    route,
    write,
)
from agentui.api.library.assets import AssetRoutes, content_of, pack, shown
from agentui.chats.listing import Listed
from agentui.http.route import Route
from agentui.library import assets, versions
from agentui.library.content import MAX_CONTENT, Packed, name_of, tags_of_card
from agentui.library.records import Asset, AssetVersion
from agentui.schemas.forms import Data, ListData
from agentui.schemas.library import (
    AssetQuery,
    Character,
    CharacterDetail,
    CharacterVersion,
    DeletedCharacter,
    ExpectedRevision,
    NewCharacter,
    NewCharacterVersion,
    VersionQuery,
    WrittenVersion,
    character_version,
)

KIND = AssetRoutes("character", "/characters")


async def create_character(request: web.Request) -> web.Response:
    """Make a character."""
    form = await read_form(request, NewCharacter, limit=MAX_CONTENT)
    made = await pack(request, form.snapshot)
    tags = form.tags if form.tags is not None else tags_of_card(form.snapshot)
    name = name_of(form.snapshot["name"])

    def show(asset: Asset) -> web.Response:
        version = _written(asset, made)
        return made_answer(shown(CharacterDetail, asset, latest_version_no=asset.version, latest_version=version))

    return await write(request, show, assets.create_asset, "character", name, made, now_ms(), tags=tags)


def _written(asset: Asset, made: Packed) -> CharacterVersion:
    """The version that was written just now."""
    return CharacterVersion(
        asset.version_id,
        asset.id,
        asset.version,
        asset.content_hash,
        asset.image,
        content_of(made),
        asset.updated_at,
    )


async def list_characters(request: web.Request) -> web.Response:
    """List characters without their contents."""
    query = read_query(request, AssetQuery)
    listed = await read(request, assets.list_assets, "character", query.paging, query.wanted)
    items = [shown(Character, asset, latest_version_no=asset.version) for asset in listed.items]
    return list_answer(Listed(items, listed.total), query.paging)


async def get_character(request: web.Request) -> web.Response:
    """Read a character with its newest version, also one that was deleted."""
    asset, version = await read(request, versions.find_detail, "character", path_id(request), gone=True)
    latest = character_version(version)
    return data_answer(shown(CharacterDetail, asset, latest_version_no=asset.version, latest_version=latest))


async def delete_character(request: web.Request) -> web.Response:
    """Mark a character as deleted; chats that use it go on."""
    id, form = path_id(request), await read_form(request, ExpectedRevision, optional=True)
    return await write(request, _deleted, assets.delete_asset, "character", id, form.expected, now_ms())


async def restore_character(request: web.Request) -> web.Response:
    """Take back that a character was deleted."""
    id, form = path_id(request), await read_form(request, ExpectedRevision, optional=True)
    return await write(request, _deleted, assets.restore_asset, "character", id, form.expected, now_ms())


def _deleted(asset: Asset) -> web.Response:
    return data_answer(DeletedCharacter(asset.id, asset.status, asset.deleted_at, asset.updated_at, asset.revision))


async def list_versions(request: web.Request) -> web.Response:
    """List the versions of a character with their contents."""
    id, query = path_id(request), read_query(request, VersionQuery)
    listed = await read(request, versions.list_versions, "character", id, query.paging)
    return list_answer(Listed([character_version(each) for each in listed.items], listed.total), query.paging)


async def create_version(request: web.Request) -> web.Response:
    """Give a character new content; it keeps its picture."""
    id, form = path_id(request), await read_form(request, NewCharacterVersion, limit=MAX_CONTENT)
    made = await pack(request, form.snapshot)
    name = name_of(form.snapshot["name"])

    def show(asset: Asset) -> web.Response:
        return _told(asset, _written(asset, made), None)

    return await write(request, show, assets.write_version, "character", id, name, made, form.expected, now_ms())


async def roll_back(request: web.Request) -> web.Response:
    """Make a new version of a character that is like an old one."""
    id, version_id = path_id(request), path_id(request, "version_id")
    form = await read_form(request, ExpectedRevision, optional=True)

    def show(done: tuple[Asset, AssetVersion]) -> web.Response:
        return _told(done[0], character_version(done[1]), version_id)

    return await write(request, show, versions.roll_back, "character", id, version_id, form.expected, now_ms())


def _told(asset: Asset, version: CharacterVersion, source: str | None) -> web.Response:
    """The version that a change made."""
    return made_answer(
        WrittenVersion(
            version.id,
            version.character_id,
            version.version_no,
            version.content_hash,
            version.image,
            version.snapshot,
            version.created_at,
            asset.revision,
            source,
        )
    )


_EACH = "/characters/{id}"
ROUTES: tuple[Route, ...] = (
    route("POST", "/characters", create_character, Data[CharacterDetail], 413, body=NewCharacter, status=201),
    route("GET", "/characters", list_characters, ListData[list[Character]], query=described(AssetQuery)),
    route("GET", _EACH, get_character, Data[CharacterDetail]),
    route("DELETE", _EACH, delete_character, Data[DeletedCharacter], body=ExpectedRevision, body_optional=True),
    route("POST", f"{_EACH}/restore", restore_character, Data[DeletedCharacter], body=ExpectedRevision, body_optional=True),
    route("GET", f"{_EACH}/versions", list_versions, ListData[list[CharacterVersion]], query=described(VersionQuery)),
    route("GET", f"{_EACH}/versions/{{version_id}}", KIND.read_version, Data[AssetVersion]),
    route("POST", f"{_EACH}/versions", create_version, Data[WrittenVersion], 413, body=NewCharacterVersion, status=201),
    route(
        "POST",
        f"{_EACH}/versions/{{version_id}}/rollback",
        roll_back,
        Data[WrittenVersion],
        body=ExpectedRevision,
        body_optional=True,
        status=201,
    ),
    *KIND.tagging,
    KIND.comparing,
)
