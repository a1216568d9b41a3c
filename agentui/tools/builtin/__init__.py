"""The tools that every server has. Those that need nothing of a turn are made once; those that do are made for each turn."""

from collections.abc import Callable

from agentui.assets.bundle import PromptAssets
from agentui.tools.builtin.chance import random_choice, roll_dice
from agentui.tools.builtin.character import character_info
from agentui.tools.builtin.moments import get_time
from agentui.tools.builtin.variables import DEFAULT_INTENT, WriteIntent, variable_tools
from agentui.tools.tool import HostedTool
from agentui.variables.staging import Staged

STANDING: tuple[HostedTool, ...] = (roll_dice(), random_choice(), get_time())
"""The tools that need nothing of a turn."""


def builtin_tools(
    staged: Callable[[], Staged], assets: Callable[[], PromptAssets], intent: WriteIntent = DEFAULT_INTENT
) -> tuple[HostedTool, ...]:
    """The tools of one turn: ``staged`` gives the buffer of its current attempt, ``assets`` what its prompt is made of, and
    ``intent`` is what writes of variables have that say none."""
    return *variable_tools(staged, intent), *STANDING, character_info(assets)


NAMES = frozenset(tool.name for tool in builtin_tools(lambda: Staged({}, now=lambda: 0), PromptAssets))
"""The names of all of them, which no other tool may have."""
