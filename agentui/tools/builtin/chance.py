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
DEFAULT_SIDES: Final = 6
_NOTATION: Final = re.compile(r"(?P<count>[0-9]{0,4})d(?P<sides>[0-9]{1,7})(?P<plus>[+-][0-9]{1,7})?", re.IGNORECASE)


def roll_dice(chance: Random | None = None) -> HostedTool:
    """The tool that rolls dice: ``{"sides": 6, "count": 2}`` or ``{"notation": "2d6+1"}`` gives ``{"notation", "sides",
    "count", "results", "rolls", "modifier", "total"}`` (spec: tavern-api-2 part 1.21; ``rolls`` are the ``results``)."""
    return HostedTool(
        name="roll_dice",
        description="Roll dice fairly. Use it for every roll: never make up the result of one.",
        parameters=parameters(
            {
                "sides": {"type": "integer", "minimum": 1, "maximum": MOST_SIDES, "default": DEFAULT_SIDES},
                "count": {"type": "integer", "minimum": 1, "maximum": MOST_DICE, "default": 1, "description": "How many dice."},
                "notation": {
                    "type": "string",
                    "description": "All in one, instead: COUNTdSIDES+MODIFIER, such as 1d20 or 2d6+3.",
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
        given = arguments.get("notation")
        if given is not None and ("sides" in arguments or "count" in arguments):
            raise BadRequest("Say sides and count, or a notation, not both.", param="notation")
        if given is None:
            # 6.0 is an integer to JSON Schema, and some models write it so.
            given = f"{int(arguments.get('count', 1))}d{int(arguments.get('sides', DEFAULT_SIDES))}"
        notation = str(given).replace(" ", "")
        match = _NOTATION.fullmatch(notation)
        if match is None:
            raise BadRequest("These are no dice: write COUNTdSIDES+MODIFIER, such as 2d6+3.", param="notation")
        count, sides, modifier = int(match["count"] or 1), int(match["sides"]), int(match["plus"] or 0)
        if not (1 <= count <= MOST_DICE and 1 <= sides <= MOST_SIDES):
            raise BadRequest(f"Roll 1 to {MOST_DICE} dice of 1 to {MOST_SIDES} sides.", param="notation")
        results = [chance.randint(1, sides) for _ in range(count)]
        dice: dict[str, Json] = {"notation": notation, "sides": sides, "count": count, "results": results, "rolls": results}
        return answered({**dice, "modifier": modifier, "total": sum(results) + modifier})

    return roll


def random_choice(chance: Random | None = None) -> HostedTool:
    """The tool that chooses among words: ``{"options": [...], "weights": [...]}`` gives ``{"choice", "index"}``; ``choices`` is
    another name of ``options`` (spec: tavern-api-2 part 1.21)."""
    options = {"type": "array", "items": {"type": "string", "maxLength": 10_000}, "minItems": 1, "maxItems": 1000}
    weight = {"type": "number", "minimum": 0, "maximum": 1_000_000}
    return HostedTool(
        name="random_choice",
        description="Choose one of several options fairly, or by weights.",
        parameters=parameters(
            {
                "options": {**options, "description": "What to choose from."},
                "choices": {**options, "description": "The same by another name: say one of the two."},
                "weights": {
                    "type": "array",
                    "items": weight,
                    "description": "How much each option counts, in the order of options; equally much without.",
                    "maxItems": 1000,
                },
            }
        ),
        handler=_chooser(chance or SystemRandom()),
        group="chance",
    )


def _chooser(chance: Random) -> Handler:
    async def choose(arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        named = [arguments[name] for name in ("options", "choices") if name in arguments]
        if len(named) != 1:
            raise BadRequest("Say what to choose from as options.", param="options")
        choices: list[str] = named[0]
        weights: list[float] = arguments.get("weights") or [1] * len(choices)
        if len(weights) != len(choices):
            raise BadRequest(
                f"There are {len(choices)} options and {len(weights)} weights: give one for each.", param="weights"
            )
        if not any(weights):
            raise BadRequest("At least one weight must be greater than 0.", param="weights")
        index = chance.choices(range(len(choices)), weights)[0]
        return answered({"choice": choices[index], "index": index})

    return choose
