"""Tools whose answers nobody foresees: dice, and a choice among words. The system's own source of randomness decides."""

import re
from collections.abc import Mapping
from random import Random, SystemRandom
from typing import Final

from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.tools.builtin.answers import answered, parameters
from agentui.tools.tool import Handler, HostedTool, ToolAnswer, ToolCallContext

MOST_DICE: Final = 1000
MOST_SIDES: Final = 1_000_000
_NOTATION: Final = re.compile(r"(?P<count>[0-9]{0,4})d(?P<sides>[0-9]{1,7})(?P<plus>[+-][0-9]{1,7})?", re.IGNORECASE)


def roll_dice(chance: Random | None = None) -> HostedTool:
    """The tool that rolls dice: ``{"notation": "2d6+1"}`` gives ``{"notation", "rolls", "modifier", "total"}``."""
    return HostedTool(
        name="roll_dice",
        description="Roll dice fairly. Use it for every roll: never make up the result of one.",
        parameters=parameters(
            {
                "notation": {
                    "type": "string",
                    "description": f"Dice as COUNTdSIDES+MODIFIER, such as 1d20 or 2d6+3; at most {MOST_DICE} dice.",
                    "default": "1d20",
                    "maxLength": 40,
                },
                "reason": {"type": "string", "description": "What the roll decides.", "maxLength": 500},
            }
        ),
        handler=_roller(chance or SystemRandom()),
        group="chance",
    )


def _roller(chance: Random) -> Handler:
    async def roll(arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        notation = str(arguments.get("notation", "1d20")).replace(" ", "")
        match = _NOTATION.fullmatch(notation)
        if match is None:
            raise BadRequest("These are no dice: write COUNTdSIDES+MODIFIER, such as 2d6+3.", param="notation")
        count, sides, modifier = int(match["count"] or 1), int(match["sides"]), int(match["plus"] or 0)
        if not (1 <= count <= MOST_DICE and 1 <= sides <= MOST_SIDES):
            raise BadRequest(f"Roll 1 to {MOST_DICE} dice of 1 to {MOST_SIDES} sides.", param="notation")
        rolls = [chance.randint(1, sides) for _ in range(count)]
        return answered({"notation": notation, "rolls": rolls, "modifier": modifier, "total": sum(rolls) + modifier})

    return roll


def random_choice(chance: Random | None = None) -> HostedTool:
    """The tool that chooses among words: ``{"choices": [...], "weights": [...]}`` gives ``{"choice", "index"}``."""
    weight = {"type": "number", "minimum": 0, "maximum": 1_000_000}
    return HostedTool(
        name="random_choice",
        description="Choose one of several options fairly, or by weights.",
        parameters=parameters(
            {
                "choices": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": 10_000},
                    "minItems": 1,
                    "maxItems": 1000,
                    "description": "What to choose from.",
                },
                "weights": {
                    "type": "array",
                    "items": weight,
                    "description": "How much each option counts, in the order of choices; equally much without.",
                    "maxItems": 1000,
                },
            },
            ["choices"],
        ),
        handler=_chooser(chance or SystemRandom()),
        group="chance",
    )


def _chooser(chance: Random) -> Handler:
    async def choose(arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        choices: list[str] = arguments["choices"]
        weights: list[float] = arguments.get("weights") or [1] * len(choices)
        if len(weights) != len(choices):
            raise BadRequest(
                f"There are {len(choices)} choices and {len(weights)} weights: give one for each.", param="weights"
            )
        if not any(weights):
            raise BadRequest("At least one weight must be greater than 0.", param="weights")
        index = chance.choices(range(len(choices)), weights)[0]
        return answered({"choice": choices[index], "index": index})

    return choose
