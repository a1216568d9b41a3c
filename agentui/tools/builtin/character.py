"""The tool that tells who is spoken with."""

from collections.abc import Callable, Mapping
from typing import Final

from agentui.assets.bundle import PromptAssets
from agentui.jsonio import Json
from agentui.tools.builtin.answers import answered, parameters
from agentui.tools.tool import HostedTool, ToolAnswer, ToolCallContext

FIELDS: Final = (
    "name",
    "nickname",
    "description",
    "personality",
    "scenario",
    "first_mes",
    "mes_example",
    "creator",
    "creator_notes",
    "character_version",
    "tags",
)
"""What is told of a character. Its system prompt is the author's business, and its lorebook the prompt's."""


def character_info(assets: Callable[[], PromptAssets]) -> HostedTool:
    """The tool for one turn; ``assets`` are what its prompt is made of."""

    async def tell(arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        character = assets().character
        if character is None:
            return answered({"found": False, "character": None})
        field = arguments.get("field", "all")
        names = arguments.get("fields") or (FIELDS if field == "all" else [field])
        told: dict[str, Json] = {name: getattr(character, name) for name in names}
        if "tags" in told:
            told["tags"] = list(character.tags)
        return answered({"found": True, "character": told})

    one = {"type": "string", "enum": [*FIELDS, "all"], "description": "Which to tell; all without it."}
    fields = {
        "type": "array",
        "items": {"type": "string", "enum": list(FIELDS)},
        "maxItems": len(FIELDS),
        "description": "Several at once, instead.",
    }
    return HostedTool(
        name="get_character_info",
        description="Tell what the character of this chat is like: name, description, personality, scenario and more.",
        parameters=parameters({"field": one, "fields": fields}),
        handler=tell,
        group="character",
    )
