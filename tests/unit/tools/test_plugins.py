"""Tools of installed packages: good ones are found, and bad ones do no harm."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Any, cast

import pytest

from agentui.jsonio import Json
from agentui.tools.builtin import NAMES, STANDING
from agentui.tools.plugins import load_tools
from agentui.tools.tool import HostedTool, ToolAnswer, ToolCallContext
from agentui.tools.vars.rules import MAX_DECLARED, SkillRule


async def shout(arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
    return ToolAnswer(str(arguments["text"]).upper())


SHOUT = HostedTool("shout", "Says a text loudly.", {"type": "object"}, shout, "voices")
AGAIN = replace(SHOUT, description="Another.")
SHADOW = replace(SHOUT, name="set_variable")
RULED = replace(SHOUT, name="ruled", rules=(SkillRule("Volume", "How loud", "Not too loud."),))
UNRULED = replace(RULED, name="unruled", rules=(SkillRule("a/b", "How loud", "x"),))
TALKATIVE = replace(RULED, name="talkative", rules=RULED.rules * (MAX_DECLARED + 1))
MISTYPED: HostedTool = replace(RULED, name="mistyped", rules=cast(Any, ("Not too loud.",)))
ODD = replace(SHOUT, name="odd", parameters={"type": "nothing"})


def test_good_tools_are_found_and_the_others_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {
        "voice": "SHOUT",
        "ruled": "RULED",
        "again": "AGAIN",
        "shadow": "SHADOW",
        "odd": "ODD",
        "unruled": "UNRULED",
        "talkative": "TALKATIVE",
        "mistyped": "MISTYPED",
        "function": "shout",
        "gone": "NOBODY",
    }
    entries = [EntryPoint(name, f"{__name__}:{value}", "agentui.tools") for name, value in names.items()]
    monkeypatch.setattr("agentui.tools.plugins.entry_points", lambda group: entries if group == "agentui.tools" else [])
    (tool, ruled), complaints = load_tools(NAMES)
    assert ruled.rules == RULED.rules
    assert tool == replace(SHOUT, provider_type="unknown", provider_id="voice")
    told = ["AGAIN", "SHADOW", "ODD", "UNRULED", "TALKATIVE", "MISTYPED", "function", "gone"]
    assert [next((word for word in told if word in each), each) for each in complaints] == told


def test_every_name_of_a_builtin_tool_is_taken() -> None:
    assert {tool.name for tool in STANDING} < NAMES >= {"get_variable", "set_variable", "get_character_info"}
