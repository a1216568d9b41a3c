"""The tools by which models read and change parts of the library: entries of worldbooks and of prompt presets, and regex rules
(spec: tavern-api-2 part 1.21). Each change makes a version of the whole, so that earlier ones stay."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from agentui.chats.listing import Paging
from agentui.errors import BadRequest
from agentui.ids import SystemClock
from agentui.jsonio import Json, loads
from agentui.library import book_entries, preset_entries
from agentui.library.content import Content, wrong_content
from agentui.library.entries import edit_content, find_whole, part_missing
from agentui.library.records import NOTHING, Asset, AssetKind
from agentui.store.base import Store
from agentui.threads import apart
from agentui.tools.builtin.answers import answered, parameters
from agentui.tools.tool import Handler, HostedTool, ToolAnswer, ToolCallContext

Fields: TypeAlias = Mapping[str, Json]
Edit: TypeAlias = Callable[[Content], Any]
"""Changes a content in place; what it gives is shown when the version is written."""

_ID: Final[Fields] = {"type": "string", "minLength": 1, "maxLength": 200}
_TEXT: Final[Fields] = {"type": "string", "maxLength": 1_000_000}
_BOOL: Final[Fields] = {"type": "boolean"}
_TEXTS: Final[Fields] = {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 10_000}}
_NUMBER: Final[Fields] = {"type": "integer", "minimum": -1_000_000, "maximum": 1_000_000}
_PAGE: Final[Mapping[str, Json]] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
    "offset": {"type": "integer", "minimum": 0, "maximum": 1_000_000, "default": 0},
}


@dataclass(frozen=True, slots=True)
class _Part:
    """How tools call the parts of one kind of asset, what they may say of one, and how it is read and written.

    ``listed`` gives some of the parts, and how many there are; ``show`` what an edit gave, once it is written.
    """

    kind: AssetKind
    whole: str
    one: str
    many: str
    id: str
    fields: Fields
    required: tuple[str, ...]
    listed: Callable[[Content, Asset, Paging], tuple[list[Json], int]]
    find: Callable[[Content, Asset, str], Json]
    create: Callable[[Content, dict[str, Json]], Any]
    change: Callable[[Content, str, dict[str, Json]], Any]
    delete: Callable[[Content, str], None]
    show: Callable[[Asset, Any], Json]

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return self.one.replace("_", " ")


def entry_tools(store: Callable[[], Store]) -> tuple[HostedTool, ...]:
    """For each kind of part: listing and reading, and making, changing and deleting. ``store`` gives the memory."""
    return tuple(tool for part in _PARTS for tool in (*_readers(part, store), *_writers(part, store)))


def _readers(part: _Part, store: Callable[[], Store]) -> tuple[HostedTool, ...]:
    async def list_them(arguments: Fields, context: ToolCallContext) -> ToolAnswer:
        asset, kept = await store().read(find_whole, context.place.account, part.kind, arguments[part.whole])
        paging = Paging(arguments.get("limit", 50), arguments.get("offset", 0), "order", "asc")
        items, total = await apart(len(kept.text), lambda: part.listed(loads(kept.text), asset, paging))
        return answered({"items": items, "total": total})

    async def get(arguments: Fields, context: ToolCallContext) -> ToolAnswer:
        asset, kept = await store().read(find_whole, context.place.account, part.kind, arguments[part.whole])
        id: str = arguments[part.id]
        return answered(await apart(len(kept.text), lambda: part.find(loads(kept.text), asset, id)))

    here = {part.whole: _ID}
    return (
        HostedTool(
            name=f"list_{part.many}",
            description=f"List the {part.many.replace('_', ' ')} of one of the library's, in parts.",
            parameters=parameters({**here, **_PAGE}, [part.whole]),
            handler=list_them,
            group="library",
        ),
        HostedTool(
            name=f"get_{part.one}",
            description=f"Read one {part.words}.",
            parameters=parameters({**here, part.id: _ID}, [part.whole, part.id]),
            handler=get,
            group="library",
        ),
    )


def _writers(part: _Part, store: Callable[[], Store]) -> tuple[HostedTool, ...]:
    async def write(arguments: Fields, context: ToolCallContext, edit: Edit) -> tuple[Asset, Any]:
        id, now, checked = arguments[part.whole], SystemClock().now_ms(), partial(_checked, part.kind, edit)
        return await store().write(edit_content, context.place.account, part.kind, id, NOTHING, now, checked)

    def said(arguments: Fields) -> dict[str, Json]:
        return {name: value for name, value in arguments.items() if name in part.fields}

    async def create(arguments: Fields, context: ToolCallContext) -> ToolAnswer:
        return answered(part.show(*await write(arguments, context, lambda content: part.create(content, said(arguments)))))

    async def change(arguments: Fields, context: ToolCallContext) -> ToolAnswer:
        id: str = arguments[part.id]
        return answered(part.show(*await write(arguments, context, lambda content: part.change(content, id, said(arguments)))))

    async def remove(arguments: Fields, context: ToolCallContext) -> ToolAnswer:
        id: str = arguments[part.id]
        await write(arguments, context, lambda content: part.delete(content, id))
        return answered({part.id: id, "deleted": True})

    def writer(verb: str, description: str, properties: Fields, required: Sequence[str], handler: Handler) -> HostedTool:
        return HostedTool(
            name=f"{verb}_{part.one}",
            description=description,
            parameters=parameters({part.whole: _ID, **properties}, [part.whole, *required]),
            handler=handler,
            group="library_writing",
            side_effect="irreversible",
            replay_safety="confirm_on_replay",
        )

    there: Fields = {part.id: _ID}
    return (
        writer("create", f"Add a {part.words}.", part.fields, part.required, create),
        writer("update", f"Change fields of a {part.words}; others stay.", {**part.fields, **there}, (part.id,), change),
        writer("delete", f"Delete a {part.words}.", there, (part.id,), remove),
    )


def _checked(kind: AssetKind, edit: Edit, content: Content) -> Any:
    """The edit, which leaves a content of which something can be made. Raises BadRequest."""
    done = edit(content)
    wrong = wrong_content(kind, content)
    if wrong is not None:
        raise BadRequest(f"It cannot be so: {wrong}.")
    return done


def _book_entries(content: Content, book: Asset, paging: Paging) -> tuple[list[Json], int]:
    found = book_entries.list_entries(content, book, paging, book_entries.EntryFilter())
    return [
        {"id": each.id, "comment": each.comment, "keys": list(each.keys), "constant": each.constant, "disable": each.disable}
        for each in found.items
    ], found.total


def _prompts(content: Content, _: Asset, paging: Paging) -> tuple[list[Json], int]:
    found = preset_entries.entries_of(content)
    return [
        {"identifier": each.identifier, "name": each.name, "role": each.role, "enabled": each.enabled}
        for each in found[paging.offset : paging.offset + paging.limit]
    ], len(found)


def _listed_rules(content: Content, _: Asset, paging: Paging) -> tuple[list[Json], int]:
    rules = _rules(content)
    shown = list(enumerate(rules))[paging.offset : paging.offset + paging.limit]
    return [_shown_rule(at, rule) for at, rule in shown], len(rules)


def _create_prompt(content: Content, fields: Fields) -> preset_entries.PresetEntry:
    return preset_entries.create_entry(content, fields["identifier"], _without_identifier(fields))


def _change_prompt(content: Content, id: str, fields: Fields) -> preset_entries.PresetEntry:
    return preset_entries.change_entry(content, id, _without_identifier(fields))


def _without_identifier(fields: Fields) -> dict[str, Json]:
    return {name: value for name, value in fields.items() if name != "identifier"}


def _rules(content: Content) -> list[Content]:
    rules: list[Content] = content.setdefault("scripts", [])
    return rules


def _rule_at(content: Content, id: str) -> int:
    """Where a rule stands: by its id, or by its place, counted from 0. Raises 404."""
    rules = _rules(content)
    for at, rule in enumerate(rules):
        if rule.get("id") == id:
            return at
    if id.isdecimal() and int(id) < len(rules):
        return int(id)
    raise part_missing("regex", id)


def _shown_rule(at: int, rule: Content) -> dict[str, Json]:
    return {
        "rule_id": rule.get("id") or str(at),
        **{name: value for name, value in rule.items() if name in _RULE or name == "id"},
    }


def _create_rule(content: Content, fields: dict[str, Json]) -> tuple[int, Content]:
    rules = _rules(content)
    rules.append({"scriptName": "", "replaceString": "", "placement": [2], "disabled": False, **fields})
    return len(rules) - 1, rules[-1]


def _change_rule(content: Content, id: str, fields: dict[str, Json]) -> tuple[int, Content]:
    at = _rule_at(content, id)
    rule = _rules(content)[at]
    rule.update(fields)
    return at, rule


def _delete_rule(content: Content, id: str) -> None:
    del _rules(content)[_rule_at(content, id)]


_BOOK: Final[Fields] = {
    "keys": {**_TEXTS, "description": "Words that call it."},
    "content": _TEXT,
    "comment": {**_TEXT, "description": "Its title."},
    "keys_secondary": _TEXTS,
    "constant": _BOOL,
    "selective": _BOOL,
    "position": {"type": "integer", "minimum": 0, "maximum": 7, "description": "SillyTavern's number."},
    "order": _NUMBER,
    "depth": {"type": "integer", "minimum": 0, "maximum": 1000},
    "disable": _BOOL,
}
_PROMPT: Final[Fields] = {
    "name": _TEXT,
    "role": {"type": "string", "enum": ["system", "user", "assistant"]},
    "content": _TEXT,
    "enabled": _BOOL,
    "injection_position": {"type": "integer", "minimum": 0, "maximum": 1},
    "injection_depth": {"type": "integer", "minimum": 0, "maximum": 1000},
}
_RULE: Final[Fields] = {
    "scriptName": _TEXT,
    "findRegex": {**_TEXT, "description": "/pattern/flags."},
    "replaceString": _TEXT,
    "placement": {
        "type": "array",
        "items": {"type": "integer", "enum": [1, 2, 3, 5, 6]},
        "description": "1 what the user says, 2 what the model answers, 5 lore.",
    },
    "disabled": _BOOL,
    "promptOnly": _BOOL,
    "markdownOnly": _BOOL,
    "runOnEdit": _BOOL,
}
_PARTS: Final = (
    _Part(
        "worldbook",
        "worldbook_id",
        "worldbook_entry",
        "worldbook_entries",
        "entry_id",
        _BOOK,
        ("keys", "content"),
        _book_entries,
        lambda content, book, id: asdict(book_entries.find_entry(content, book, id)),
        book_entries.create_entry,
        book_entries.change_entry,
        book_entries.delete_entry,
        lambda book, made: next(None if each is None else asdict(each) for each in book_entries.show_entries(book, made)),
    ),
    _Part(
        "preset",
        "preset_id",
        "preset_entry",
        "preset_entries",
        "identifier",
        {**_PROMPT, "identifier": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}},
        ("identifier",),
        _prompts,
        lambda content, _, id: asdict(preset_entries.find_entry(content, id)),
        _create_prompt,
        _change_prompt,
        preset_entries.delete_entry,
        lambda _, made: asdict(made),
    ),
    _Part(
        "regex",
        "regex_profile_id",
        "regex_rule",
        "regex_rules",
        "rule_id",
        _RULE,
        ("findRegex",),
        _listed_rules,
        lambda content, _, id: _shown_rule(at := _rule_at(content, id), _rules(content)[at]),
        _create_rule,
        _change_rule,
        _delete_rule,
        lambda _, made: _shown_rule(*made),
    ),
)
