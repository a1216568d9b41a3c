"""The tools that read and write a turn's variables: what they write is staged, and kept with the turn or not at all.

page_only                     the write stays on the answer's page
promote_to_floor_on_accept    it comes to the floor when the answer is accepted (seed 000); the default
promote_to_branch_on_accept   it comes to the branch, so that later turns see it
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING
from agentui.tools.builtin.answers import answered, parameters
from agentui.tools.tool import HostedTool, ToolAnswer, ToolCallContext
from agentui.variables.paths import read
from agentui.variables.scopes import SCOPES, Scope
from agentui.variables.staging import Staged
from agentui.variables.values import MAX_KEY_BYTES

WriteIntent: TypeAlias = Literal["page_only", "promote_to_floor_on_accept", "promote_to_branch_on_accept"]
DEFAULT_INTENT: Final[WriteIntent] = "promote_to_floor_on_accept"
"""What holds where neither the call nor its session says anything (seed 000)."""
TIERS: Final[Mapping[WriteIntent, Scope]] = {
    "page_only": "page",
    "promote_to_floor_on_accept": "floor",
    "promote_to_branch_on_accept": "branch",
}
"""By intent, where a write ends when the answer is accepted."""
_KEPT: Final[Mapping[WriteIntent, str]] = {
    "page_only": "the page of this answer alone",
    "promote_to_floor_on_accept": "this turn alone: later turns do not see it",
    "promote_to_branch_on_accept": "this turn and all later ones",
}
"""By intent, for what a value is kept, as models are told."""
_KEY: Final[Mapping[str, Json]] = {"type": "string", "minLength": 1, "maxLength": MAX_KEY_BYTES}


def variable_tools(staged: Callable[[], Staged], intent: WriteIntent = DEFAULT_INTENT) -> tuple[HostedTool, ...]:
    """The tools for one turn; ``staged`` gives the buffer of its current attempt, ``intent`` is that of writes that say
    none."""
    return _getter(staged), _setter(staged, intent)


def _getter(staged: Callable[[], Staged]) -> HostedTool:
    async def get(arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        key, scope, (merged, tiers) = arguments["key"], arguments.get("scope"), staged().view()
        value = read(merged if scope is None else tiers[scope], key)
        is_found = value is not MISSING
        return answered({"key": key, "found": is_found, "value": value if is_found else None})

    scope = {"type": "string", "enum": list(SCOPES), "description": "Look in this tier alone; without it the nearest counts."}
    return HostedTool(
        name="get_variable",
        description="Read a variable of this chat by its key.",
        parameters=parameters(
            {
                "key": {**_KEY, "description": "The variable's key, or a path into its value such as assets.gold."},
                "scope": scope,
            },
            ["key"],
        ),
        handler=get,
        group="variables",
    )


def _setter(staged: Callable[[], Staged], default: WriteIntent) -> HostedTool:
    async def set_variable(arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        key, intent = arguments["key"], arguments.get("intent", default)
        source = {"toolName": "set_variable", "providerId": "builtin"}
        reason, value = arguments.get("reason") or "builtin:set_variable", arguments["value"]
        staged().stage(TIERS[intent], key, value, reason=reason, source=source, is_promoted=TIERS[intent] == "branch")
        return answered({"key": key, "value": arguments["value"], "intent": intent, "status": "staged"})

    properties = {
        "key": {**_KEY, "description": "The variable's key, or a path into its value such as assets.gold."},
        "value": {"description": "Any JSON value."},
        "intent": {
            "type": "string",
            "enum": list(TIERS),
            "default": default,
            "description": "How long the value is kept once this answer is accepted. page_only: on its page. "
            "promote_to_floor_on_accept: for this turn. promote_to_branch_on_accept: for this turn and all later ones.",
        },
        "reason": {"type": "string", "maxLength": 1000, "description": "Why the value changes."},
    }
    return HostedTool(
        name="set_variable",
        description="Write a variable of this chat, which counts once this answer is accepted. "
        f"Without an intent it is kept for {_KEPT[default]}.",
        parameters=parameters(properties, ["key", "value"]),
        handler=set_variable,
        group="variables",
        side_effect="sandbox",
    )
