"""The built-in tools, each asked as a model asks it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.bundle import PromptAssets
from agentui.assets.character import Character
from agentui.errors import AgentUIError
from agentui.jsonio import Json, loads
from agentui.principal import DEFAULT_PRINCIPAL
from agentui.tools.arguments import ArgumentCheck
from agentui.tools.builtin import STANDING
from agentui.tools.builtin.chance import random_choice, roll_dice
from agentui.tools.builtin.character import character_info
from agentui.tools.builtin.moments import get_time
from agentui.tools.builtin.variables import variable_tools
from agentui.tools.tool import CallPlace, HostedTool, ToolCallContext
from agentui.variables.staging import Staged

CONTEXT = ToolCallContext("execution-1", CallPlace(DEFAULT_PRINCIPAL, "run-1"), 0.0)


async def ask(tool: HostedTool, **arguments: Json) -> Json:
    """What a tool answers to arguments that its schema allows."""
    ArgumentCheck(tool.parameters).check(arguments)
    answer = await tool.handler(arguments, CONTEXT)
    assert loads(answer.text) == answer.value
    return answer.value


def staged_tools() -> tuple[Staged, Mapping[str, HostedTool]]:
    """A turn's buffer, and the tools on it by name."""
    staged = Staged({}, now=lambda: 1)
    return staged, {tool.name: tool for tool in variable_tools(lambda: staged)}


ALL = (*STANDING, *variable_tools(lambda: Staged({}, now=lambda: 1)), character_info(PromptAssets))


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_every_tool_takes_nothing_beside_its_properties(tool: HostedTool) -> None:
    assert tool.parameters["additionalProperties"] is False
    assert tool.description


@given(count=st.integers(1, 60), sides=st.integers(1, 1000), plus=st.integers(-50, 50), seed=st.integers())
async def test_a_roll_is_its_dice_and_its_modifier(count: int, sides: int, plus: int, seed: int) -> None:
    answer = await ask(roll_dice(Random(seed)), notation=f"{count}d{sides}{plus:+}")
    assert len(answer["rolls"]) == count
    assert all(1 <= roll <= sides for roll in answer["rolls"])
    assert answer["total"] == sum(answer["rolls"]) + plus == sum(answer["rolls"]) + answer["modifier"]


async def test_dice_are_told_by_sides_and_count_as_well() -> None:
    answer = await ask(roll_dice())
    assert (answer["notation"], answer["sides"], answer["count"], answer["total"]) == ("1d6", 6, 1, sum(answer["results"]))
    answer = await ask(roll_dice(), sides=3, count=100)
    assert (len(answer["results"]), answer["results"]) == (100, answer["rolls"]) and max(answer["results"]) <= 3
    assert (await ask(roll_dice(), sides=6.0, count=2.0))["notation"] == "2d6"
    with pytest.raises(AgentUIError):
        await ask(roll_dice(), sides=3, notation="1d6")


@pytest.mark.parametrize("notation", ["", "d", "0d6", "1d0", "1001d6", "2d6+", "1d6;import", "9999d9999999", "２d６"])
async def test_what_is_no_roll_is_told(notation: str) -> None:
    with pytest.raises(AgentUIError):
        await ask(roll_dice(), notation=notation)


@given(choices=st.lists(st.text(), min_size=1, max_size=20), seed=st.integers())
async def test_a_choice_is_one_of_them(choices: list[str], seed: int) -> None:
    answer = await ask(random_choice(Random(seed)), choices=choices)
    assert choices[answer["index"]] == answer["choice"]
    answer = await ask(random_choice(Random(seed)), options=choices)
    assert choices[answer["index"]] == answer["choice"]


async def test_a_choice_needs_something_to_choose_from() -> None:
    for arguments in ({}, {"options": ["a"], "choices": ["b"]}):
        with pytest.raises(AgentUIError):
            await ask(random_choice(), **arguments)


async def test_weights_rule_out() -> None:
    assert (await ask(random_choice(), choices=["a", "b"], weights=[0, 1]))["choice"] == "b"
    for weights in ([1], [0, 0]):
        with pytest.raises(AgentUIError):
            await ask(random_choice(), choices=["a", "b"], weights=weights)


async def test_the_time_is_told_in_any_zone() -> None:
    moment = datetime(2026, 2, 22, 23, 30, tzinfo=UTC)
    answer = await ask(get_time(lambda: moment), timezone="Asia/Tokyo")
    assert answer == {
        "iso": "2026-02-23T08:30:00+09:00",
        "timezone": "Asia/Tokyo",
        "weekday": "Monday",
        "unix_ms": 1771803000000,
    }
    assert (await ask(get_time(lambda: moment)))["unix_ms"] == answer["unix_ms"]


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe", ""])
async def test_a_zone_that_is_none_is_told(name: str) -> None:
    with pytest.raises(AgentUIError):
        await ask(get_time(), timezone=name)


@pytest.mark.parametrize(
    ("intent", "tier"),
    [
        (None, "floor"),
        ("page_only", "page"),
        ("promote_to_floor_on_accept", "floor"),
        ("promote_to_branch_on_accept", "branch"),
    ],
)
async def test_a_write_is_staged_where_its_intent_says(intent: str | None, tier: str) -> None:
    staged, tools = staged_tools()
    given = {} if intent is None else {"intent": intent}
    await ask(tools["set_variable"], key="gold", value={"coins": 5}, reason="Found it", **given)
    (write,) = staged.writes()
    assert (write.tier, write.key, write.reason) == (tier, "gold", "Found it")
    assert write.source == {"toolName": "set_variable", "providerId": "builtin"}
    assert await ask(tools["get_variable"], key="gold.coins") == {"key": "gold.coins", "found": True, "value": 5}
    assert (await ask(tools["get_variable"], key="gold", scope="chat"))["found"] is False


async def test_a_write_that_cannot_be_kept_is_told_and_leaves_nothing() -> None:
    staged, tools = staged_tools()
    for key, value in (("a\0", 1), ("ä" * 1500, 1), ("a", "x" * 2_000_000)):
        with pytest.raises(AgentUIError):
            await ask(tools["set_variable"], key=key, value=value)
    assert staged.writes() == ()


async def test_a_character_is_told_without_what_is_its_authors() -> None:
    character = Character(name="Seraphina", description="A guardian.", system_prompt="Secret.", tags=("elf",))
    tool = character_info(lambda: PromptAssets(character=character))
    answer = await ask(tool)
    assert answer["character"]["name"] == "Seraphina" and answer["character"]["tags"] == ["elf"]
    assert "Secret." not in str(answer)
    assert await ask(tool, fields=["name"]) == {"found": True, "character": {"name": "Seraphina"}}
    assert await ask(character_info(PromptAssets)) == {"found": False, "character": None}
