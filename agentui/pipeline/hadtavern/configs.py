"""The settings of HadTavern's nodes (seed 003, its parts 4, 5 and on SetVars) as the types of the same names have them here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from agentui.jsonio import InvalidJson, Json, dumps_text, loads
from agentui.pipeline.hadtavern.conditions import FIELDS, NoEqual, condition_of
from agentui.pipeline.hadtavern.report import KEPT, NoteKind
from agentui.pipeline.nodes.flow.loop import MAX_ITERATIONS
from agentui.vendors.registry import VENDOR_TITLES


class Note(Protocol):
    """Writes a note on a node into the report."""

    def __call__(self, message: str, field: str | None = None, kind: NoteKind = "changed") -> None:
        """``field`` is a path in the node's settings."""


@dataclass(frozen=True, slots=True)
class Notes:
    """Where a converter tells what it could not take, and puts it."""

    note: Note
    kept: dict[str, Json]

    def keep(self, field: str, value: Json, message: str) -> None:
        """Put a value aside and say why."""
        self.kept[field] = value
        self.note(message, field, "kept")


def _set_vars(config: dict[str, Json], notes: Notes) -> dict[str, Json]:
    """Rows of name, mode and value; a value that is no text is written as its formula."""
    rows = config.pop("variables", config.pop("vars", []))
    if isinstance(rows, dict):
        rows = [{"name": name, "value": value} for name, value in rows.items()]
    if not isinstance(rows, list):
        notes.keep("variables", rows, f"These are no variables; they are kept under {KEPT}.")
        rows = []
    config["variables"] = [_row(row, number, notes) for number, row in enumerate(rows)]
    config["variables"] = [row for row in config["variables"] if row is not None]
    return config


def _row(row: Json, number: int, notes: Notes) -> Json:
    field = f"variables.{number}"
    if not isinstance(row, dict):
        notes.keep(field, row, f"This is no variable; it is kept under {KEPT}.")
        return None
    made = {name: value for name, value in row.items() if name not in ("id", "_id")}
    if made.get("mode", "string") not in ("string", "expr", "json"):
        notes.note(f"The mode {str(made['mode'])!r:.60} is not known; the value is taken as a text.", f"{field}.mode")
        notes.kept[f"{field}.mode"], made["mode"] = made.pop("mode"), "string"
    value = made.get("value", "")
    if not isinstance(value, str):
        made["value"], made["mode"] = dumps_text(value), "json" if _is_plain(value) else "expr"
        notes.note("The value was no text; it is written as JSON.", f"{field}.value")
    name = made.get("name")
    if not isinstance(name, str):
        made["name"] = "" if name is None else str(name)[:200]
        notes.note("The variable has no name.", f"{field}.name")
    return made


def _is_plain(value: Json) -> bool:
    """Whether JSON with macros says the same: no text in it begins a macro."""
    text = dumps_text(value)
    return "{{" not in text and "[[" not in text


def _provider_call(config: dict[str, Json], notes: Notes) -> dict[str, Json]:
    """The call of the chosen provider; the settings of the others are put aside."""
    provider = config.get("provider")
    if isinstance(provider, str):
        config["provider"] = provider = _dialect(provider)
    per_provider = config.pop("provider_configs", None)
    if isinstance(per_provider, dict):
        mine = next((each for name, each in per_provider.items() if _dialect(name) == provider), None)
        others = {name: each for name, each in per_provider.items() if each is not mine}
        if isinstance(mine, dict):
            config |= {name: value for name, value in mine.items() if name not in config or value not in ("", None)}
        elif mine is not None:
            others = per_provider
        if others:
            notes.keep("provider_configs", others, f"Settings of providers that are not chosen are kept under {KEPT}.")
    elif per_provider is not None:
        notes.keep("provider_configs", per_provider, f"These are no settings of providers; they are kept under {KEPT}.")
    _headers(config, "headers", notes)
    if "blocks" in config or "prompt_blocks" in config:
        blocks = config.pop("blocks", config.pop("prompt_blocks", []))
        if isinstance(blocks, list):
            made = [_block(block, number, notes) for number, block in enumerate(blocks)]
            config["blocks"] = [block for block in made if block is not None]
        else:
            notes.keep("blocks", blocks, f"These are no Prompt Blocks; they are kept under {KEPT}.")
    return _texts(config, ("base_url", "endpoint", "model", "template"), notes)


def _dialect(name: str) -> str:
    """A provider's name as it is here; one that is none stays as it is."""
    plain = name.strip().lower().replace("-", "_")
    return plain if plain in VENDOR_TITLES else name


def _block(block: Json, number: int, notes: Notes) -> Json:
    """A Prompt Block: its role, its text, whether it is on, and its order."""
    field = f"blocks.{number}"
    if not isinstance(block, dict):
        notes.keep(field, block, f"This is no Prompt Block; it is kept under {KEPT}.")
        return None
    made = {name: value for name, value in block.items() if name not in ("id", "prompt", "content", "text", "title", "role")}
    said = next((block[name] for name in ("text", "prompt", "content") if isinstance(block.get(name), str)), "")
    made |= {"role": block.get("role", "system"), "text": said}
    if made["role"] not in ("system", "user", "assistant"):
        notes.note(f"The role {str(made['role'])!r:.60} is not known; the block is said by the system.", f"{field}.role")
        notes.kept[f"{field}.role"], made["role"] = made["role"], "system"
    title = block.get("name", block.get("title"))
    if isinstance(title, str):
        made["name"] = title
    for name in ("text", "prompt", "content"):
        if name in block and not isinstance(block[name], str):
            notes.keep(f"{field}.{name}", block[name], f"This is no text; it is kept under {KEPT}.")
    for name, fits in _BLOCK_FIELDS.items():
        if name in made and not fits(made[name]):
            notes.keep(f"{field}.{name}", made.pop(name), f"The value does not fit; it is kept under {KEPT}.")
    return made


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_BLOCK_FIELDS: Final[Mapping[str, Callable[[Json], bool]]] = {
    "enabled": lambda value: isinstance(value, bool),
    "order": _is_number,
    "kind": lambda value: value in ("text", "history"),
}


def _raw_forward(config: dict[str, Json], notes: Notes) -> dict[str, Json]:
    """The fields have the same names; headers are an object or a JSON text in both."""
    extra = config.get("extra_headers")
    if isinstance(extra, str) and not extra.strip():
        del config["extra_headers"]
    return _texts(config, ("base_url", "override_path"), notes)


def _headers(config: dict[str, Json], field: str, notes: Notes) -> None:
    """Headers as an object of texts; in HadTavern a JSON text."""
    headers = config.get(field)
    if isinstance(headers, str):
        try:
            headers = loads(headers) if headers.strip() else {}
        except InvalidJson:
            headers = None
    if headers is None and field not in config:
        return
    if not isinstance(headers, dict):
        notes.keep(field, config.pop(field), f"The headers are no JSON object; they are kept under {KEPT}.")
        return
    config[field] = {name: value if isinstance(value, str) else dumps_text(value) for name, value in headers.items()}


def _texts(config: dict[str, Json], fields: tuple[str, ...], notes: Notes) -> dict[str, Json]:
    """The same with texts where texts belong: null is an empty one, an object the template that it would be."""
    for field in fields:
        value = config.get(field)
        if value is None:
            config.pop(field, None)
        elif not isinstance(value, str):
            config[field] = dumps_text(value)
            notes.note("The value was no text; it is written as JSON.", field)
    return config


def _if(config: dict[str, Json], notes: Notes) -> dict[str, Json]:
    """What decides, as a condition of the same meaning; what has none is put aside."""
    field = next((name for name in FIELDS if name in config), None)
    if field is None:
        notes.note("It has no condition.", "condition")
        return config
    value = config.pop(field)
    try:
        config["condition"] = made = condition_of(value, config)
    except NoEqual as why:
        notes.keep(field, value, f"The condition has no equal here: {why} It is kept under {KEPT}; write it anew.")
        return config
    if made != value:
        told = f"The condition is written as {made!r:.300} now, where a number is not like a text."
        notes.note(f"{told} As it was it is kept under {KEPT}.", field)
        notes.kept[field] = value
    return config


def _while(config: dict[str, Json], notes: Notes) -> dict[str, Json]:
    """A Loop that checks its condition first."""
    config = _if(config, notes)
    most = next((name for name in _MOST if _is_number(config.get(name))), None)
    if most is not None:
        wanted = config.pop(most)
        config["max_iterations"] = made = int(min(max(wanted, 1), MAX_ITERATIONS))
        if made != wanted:
            notes.kept[most] = wanted
            notes.note(f"A loop has 1 to {MAX_ITERATIONS} iterations here: {made}.", most)
    if "mode" in config:
        notes.keep("mode", config["mode"], f"A while has no such setting here; it is kept under {KEPT}.")
    config["mode"] = "while"
    return config


_MOST: Final = ("max_iterations", "maxIterations", "max_loops", "maxLoops", "limit", "max")
"""What files call the most iterations of a while."""


def _return(config: dict[str, Json], notes: Notes) -> dict[str, Json]:
    """The words that it answers with."""
    said = next(
        (name for name in ("text", "value", "template", "result", "content") if isinstance(config.get(name), str)), None
    )
    if said is not None and said != "text":
        config["text"] = config.pop(said)
    return config


CONVERTERS: Final[Mapping[str, Callable[[dict[str, Json], Notes], dict[str, Json]]]] = {
    "setvars": _set_vars,
    "providercall": _provider_call,
    "rawforward": _raw_forward,
    "if": _if,
    "while": _while,
    "return": _return,
}
"""How the settings of each of its types, by their names as ``TYPES`` has them, become those of the type here."""
