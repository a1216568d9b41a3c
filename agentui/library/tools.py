"""The tools by which models look into the library, and change it where what cannot be undone is allowed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from agentui.chats.listing import Paging
from agentui.errors import BadRequest
from agentui.ids import SystemClock
from agentui.jsonio import Json, loads
from agentui.library.assets import AssetFilter, create_asset, delete_asset, find_asset, find_content, list_assets, write_version
from agentui.library.content import MAX_NAME, NAMED_BY_CONTENT, name_of, packed, wrong_content
from agentui.library.records import NOTHING, Asset, AssetKind
from agentui.store.base import Store
from agentui.threads import apart
from agentui.tools.builtin.answers import answered, parameters
from agentui.tools.tool import Handler, HostedTool, ToolAnswer, ToolCallContext

MAX_READ: Final = 1024 * 1024
"""The characters of a content that a model may read at once: more than that a call does not give anyway."""
_ID: Final[Mapping[str, Json]] = {"type": "string", "minLength": 1, "maxLength": 200, "description": "Its id."}
_NAME: Final[Mapping[str, Json]] = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_NAME,
    "description": "What it is called.",
}
_CONTENT: Final[Mapping[str, Json]] = {"type": "object", "description": "SillyTavern's own JSON of this kind, whole."}


@dataclass(frozen=True, slots=True)
class _Noun:
    """How tools call the assets of one kind."""

    kind: AssetKind
    one: str
    many: str


_NOUNS: Final = (
    _Noun("character", "character", "characters"),
    _Noun("worldbook", "worldbook", "worldbooks"),
    _Noun("preset", "preset", "presets"),
    _Noun("regex", "regex_profile", "regex_profiles"),
)


def asset_tools(store: Callable[[], Store]) -> tuple[HostedTool, ...]:
    """For each kind of asset: listing and reading, and making, replacing and deleting. ``store`` gives the memory."""
    return tuple(tool for noun in _NOUNS for tool in (*_readers(noun, store), *_writers(noun, store)))


def _readers(noun: _Noun, store: Callable[[], Store]) -> tuple[HostedTool, ...]:
    words = noun.one.replace("_", " ")
    part = {
        "keyword": {"type": "string", "minLength": 1, "maxLength": 200, "description": "A part of the name, in any case."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
        "offset": {"type": "integer", "minimum": 0, "maximum": 1_000_000, "default": 0},
    }
    return (
        HostedTool(
            name=f"list_{noun.many}",
            description=f"List the {words}s of the library by name, newest change first.",
            parameters=parameters(part),
            handler=_lister(noun, store),
            group="library",
        ),
        HostedTool(
            name=f"get_{noun.one}",
            description=f"Read a {words} of the library.",
            parameters=parameters({"id": _ID}, ["id"]),
            handler=_getter(noun, store),
            group="library",
        ),
    )


def _writers(noun: _Noun, store: Callable[[], Store]) -> tuple[HostedTool, ...]:
    words = noun.one.replace("_", " ")
    is_named = noun.kind in NAMED_BY_CONTENT
    named: Mapping[str, Json] = {} if is_named else {"name": _NAME}

    def writer(verb: str, description: str, schema: Mapping[str, Json], handler: Handler) -> HostedTool:
        return HostedTool(
            name=f"{verb}_{noun.one}",
            description=description,
            parameters=schema,
            handler=handler,
            group="library_writing",
            side_effect="irreversible",
            replay_safety="confirm_on_replay",
        )

    new = parameters({**named, "content": _CONTENT}, [*named, "content"])
    changed = parameters({"id": _ID, **named, "content": _CONTENT}, ["id", "content"])
    return (
        writer("create", f"Make a {words} in the library.", new, _maker(noun, store)),
        writer(
            "update", f"Replace the content of a {words} of the library; earlier versions stay.", changed, _changer(noun, store)
        ),
        writer("delete", f"Delete a {words} of the library.", parameters({"id": _ID}, ["id"]), _deleter(noun, store)),
    )


def _lister(noun: _Noun, store: Callable[[], Store]) -> Handler:
    async def list_them(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        paging = Paging(arguments.get("limit", 50), arguments.get("offset", 0))
        wanted = AssetFilter(statuses=("active",), keyword=arguments.get("keyword"))
        listed = await store().read(list_assets, context.place.account, noun.kind, paging, wanted)
        return answered({"items": [_told(asset) for asset in listed.items], "total": listed.total})

    return list_them


def _getter(noun: _Noun, store: Callable[[], Store]) -> Handler:
    async def get(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        kept = await store().read(find_content, context.place.account, noun.kind, arguments["id"])
        if len(kept.text) > MAX_READ:
            raise BadRequest(f"It has {len(kept.text)} characters, and a tool gives at most {MAX_READ}.")
        content = await apart(len(kept.text), partial(loads, kept.text))
        return answered({"id": kept.asset_id, "name": kept.name, "version": kept.version_no, "content": content})

    return get


def _maker(noun: _Noun, store: Callable[[], Store]) -> Handler:
    async def make(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        content = _checked(noun, arguments)
        name = _name(noun, arguments, content)
        made = (noun.kind, name, packed(content), SystemClock().now_ms())
        return answered(_told(await store().write(partial(create_asset, source="tool"), context.place.account, *made)))

    return make


def _changer(noun: _Noun, store: Callable[[], Store]) -> Handler:
    async def change(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        id, content = arguments["id"], _checked(noun, arguments)
        before = await store().read(find_asset, context.place.account, noun.kind, id)
        name = _name(noun, arguments, content, before.name)
        written = (noun.kind, id, name, packed(content), NOTHING, SystemClock().now_ms())
        return answered(_told(await store().write(write_version, context.place.account, *written)))

    return change


def _deleter(noun: _Noun, store: Callable[[], Store]) -> Handler:
    async def remove(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        gone = (noun.kind, arguments["id"], NOTHING, SystemClock().now_ms())
        asset = await store().write(delete_asset, context.place.account, *gone)
        return answered({"id": asset.id, "deleted": True})

    return remove


def _checked(noun: _Noun, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """The content of the arguments. Raises BadRequest where nothing could be made of it."""
    content: dict[str, Json] = arguments["content"]
    wrong = wrong_content(noun.kind, content)
    if wrong is not None:
        raise BadRequest(f"content: {wrong}.", param="content")
    return content


def _name(noun: _Noun, arguments: Mapping[str, Json], content: Mapping[str, Json], default: str = "") -> str:
    said = content.get("name") if noun.kind in NAMED_BY_CONTENT else arguments.get("name")
    return name_of(said, default) if default else name_of(said)


def _told(asset: Asset) -> dict[str, Json]:
    """An asset without its content."""
    return {
        "id": asset.id,
        "name": asset.name,
        "version": asset.version,
        "tags": list(asset.tags),
        "updated_at": asset.updated_at,
    }
