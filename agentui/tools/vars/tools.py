"""The tools by which a model reads, lists, writes and removes working variables.

ReadVar and ListVars are offered wherever any tool is; WriteVar and RemoveVars are in the group ``vars``.
"""

from collections.abc import Mapping

from agentui.jsonio import Json, dumps_text
from agentui.tools.tool import HostedTool, ToolAnswer, ToolCallContext
from agentui.tools.vars.errors import NoSuchVariable
from agentui.tools.vars.record import MAX_DESC, MAX_NAME, MAX_TAG, MAX_TAGS, VAR_TYPES, text_of
from agentui.tools.vars.references import MARK
from agentui.tools.vars.system import VarFilter, VariableSystem

GROUP = "vars"
"""The group of the tools that change variables."""
READING_GROUP = "vars_reading"
"""The group of the tools that are always there."""
MAX_READ = 32 * 1024
"""Characters of a value that one call of ReadVar gives."""
MAX_LISTED = 100
"""Variables that one call of ListVars tells of."""
MAX_LISTED_TEXT = 16 * 1024
"""Characters that they take, unless a single one takes more."""
NAMES = ("ReadVar", "ListVars", "WriteVar", "RemoveVars")
"""The names of the four, which no other tool may have."""

_NAME: Json = {"type": "string", "minLength": 1, "maxLength": MAX_NAME, "description": "The variable's name."}
_READ: Json = {
    "type": "object",
    "properties": {
        "name": _NAME,
        "start": {"type": "integer", "minimum": 0, "description": "The first character, counted from 0; 0 if left out."},
        "length": {"type": "integer", "minimum": 0, "description": f"How many characters, at most {MAX_READ} at once."},
    },
    "required": ["name"],
    "additionalProperties": False,
}
_LIST: Json = {
    "type": "object",
    "properties": {
        "filter": {
            "type": "object",
            "properties": {
                "type": {"type": "string", "enum": list(VAR_TYPES)},
                "tag": {"type": "string", "maxLength": MAX_TAG},
                "search": {"type": "string", "maxLength": MAX_NAME, "description": "Part of a name or a description."},
            },
            "additionalProperties": False,
        },
        "start": {
            "type": "integer",
            "minimum": 0,
            "description": "The first variable of the list, counted from 0; 0 if left out.",
        },
    },
    "additionalProperties": False,
}
_WRITE: Json = {
    "type": "object",
    "properties": {
        "name": _NAME,
        "value": {"description": "A text; anything else is kept as JSON text. A new variable needs one."},
        "desc": {"type": "string", "maxLength": MAX_DESC, "description": "What it is, in one sentence."},
        "tags": {"type": "array", "maxItems": MAX_TAGS, "items": {"type": "string", "minLength": 1, "maxLength": MAX_TAG}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
_REMOVE: Json = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1000}},
    "required": ["names"],
    "additionalProperties": False,
}


def variable_tools(system: VariableSystem) -> tuple[HostedTool, ...]:
    """The four tools over the variables of one run. What they store goes away with a turn that fails."""
    work = _VariableTools(system)
    return (
        HostedTool(
            "ReadVar",
            f"Read a variable, whole or in slices of up to {MAX_READ} characters.",
            _READ,
            work.read,
            READING_GROUP,
            is_cached=False,
        ),
        HostedTool(
            "ListVars",
            "List the variables: names, lengths, descriptions, types and tags, without values.",
            _LIST,
            work.list_all,
            READING_GROUP,
            is_cached=False,
        ),
        HostedTool(
            "WriteVar",
            "Write a variable, or change its value, description or tags.",
            _WRITE,
            work.write,
            GROUP,
            side_effect="sandbox",
            is_cached=False,
        ),
        HostedTool(
            "RemoveVars",
            "Remove variables. Skill rules cannot be removed.",
            _REMOVE,
            work.remove,
            GROUP,
            side_effect="sandbox",
            is_cached=False,
        ),
    )


class _VariableTools:
    """The handlers of the four tools; their arguments fit the schemas above."""

    def __init__(self, system: VariableSystem) -> None:
        self._system = system

    async def read(self, arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        """A variable's value or a slice of it. Raises NoSuchVariable."""
        name, start, length = arguments["name"], int(arguments.get("start", 0)), arguments.get("length")
        variable = self._system.get(name)
        if variable is None:
            raise NoSuchVariable(f"Variable '{name}' not found")
        total = len(variable.value)
        wanted = total - start if length is None else int(length)
        text = variable.value[start : start + min(wanted, MAX_READ)]
        facts: dict[str, Json] = {"name": name, "start": start, "length": len(text), "total": total}
        after = start + len(text)
        if wanted <= MAX_READ or after >= total:
            return ToolAnswer(text, facts)
        hint = f"[Characters {start} to {after} of {total}. Go on with ReadVar({dumps_text({'name': name, 'start': after})}).]"
        return ToolAnswer(f"{text}\n\n{hint}", {**facts, "next_start": after})

    async def list_all(self, arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        """What is known of the variables that a filter takes, as JSON: a page of them, with where the next one begins."""
        chosen, start = arguments.get("filter") or {}, int(arguments.get("start", 0))
        found = self._system.listed(VarFilter(chosen.get("type"), chosen.get("tag"), chosen.get("search")))
        page: list[Json] = []
        size = 0
        for item in found[start : start + MAX_LISTED]:
            facts = {
                "name": item.name, "length": len(item.value), "desc": item.desc, "type": item.type, "tags": list(item.tags)
            }  # fmt: skip
            size += len(dumps_text(facts))
            if page and size > MAX_LISTED_TEXT:
                break
            page.append(facts)
        after = start + len(page)
        text = dumps_text(page)
        if after >= len(found):
            return ToolAnswer(text, page)
        asked = {**({"filter": chosen} if chosen else {}), "start": after}
        hint = f"[Variables {start} to {after} of {len(found)}. Go on with ListVars({dumps_text(asked)}).]"
        return ToolAnswer(f"{text}\n\n{hint}", page)

    async def write(self, arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        """Write a variable. Raises as ``VariableSystem.update`` does.

        Every reference of the model's own is resolved by now, so that one which is left in the value came from outside.
        """
        name, value = arguments["name"], None
        if "value" in arguments:
            value = text_of(arguments["value"])  # null is a value, too: it is kept as its JSON
        is_new = self._system.peek(name) is None
        is_literal = value is not None and MARK in value
        variable = self._system.update(
            name,
            value=value,
            type="LLMAdd" if is_new else None,
            desc=arguments.get("desc"),
            tags=arguments.get("tags"),
            is_literal=is_literal,
        )
        done = {"name": name, "action": "created" if is_new else "updated", "length": len(variable.value)}
        return ToolAnswer(dumps_text(done), done)

    async def remove(self, arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        """Remove variables; the answer names those that were not there or are rules."""
        removed, failed = self._system.remove(arguments["names"])
        done = {"removed": removed, "failed": failed}
        return ToolAnswer(dumps_text(done), done)
