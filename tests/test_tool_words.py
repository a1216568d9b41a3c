"""The tools of every server in the languages of the page: what each does, and what its arguments are."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from agentui.api.keys import SERVICES
from agentui.assets.bundle import PromptAssets
from agentui.serving.application import create_app
from agentui.settings import Settings
from agentui.tools.builtin import builtin_tools
from agentui.tools.tool import HostedTool
from agentui.variables.staging import Staged

LOCALES = Path(__file__).parents[1] / "static" / "locales"


@pytest.fixture
async def tools(tmp_path: Path) -> list[HostedTool]:
    """The tools that every server has."""
    app = create_app(Settings(data=tmp_path / "data", pipelines=tmp_path / "pipelines", presets=tmp_path / "presets"))
    own = {tool.name: tool for tool in builtin_tools(lambda: Staged({}, now=lambda: 0), PromptAssets)}
    return [*(own | {tool.name: tool for tool in app[SERVICES].tools.standing if tool.provider_type == "builtin"}).values()]


def described(tool: HostedTool) -> dict[str, str]:
    """The arguments of which the tool says something."""
    properties: Any = tool.parameters["properties"]
    return {name: schema["description"] for name, schema in properties.items() if schema.get("description")}


@pytest.mark.parametrize("locale", ["ru", "zh"])
async def test_every_tool_and_argument_has_words(tools: list[HostedTool], locale: str) -> None:
    words = json.loads((LOCALES / locale / "server.json").read_text(encoding="utf-8"))
    told = {key for key in words if key.startswith(("server.tool.", "server.toolArgument."))}
    expected = {f"server.tool.{tool.name}" for tool in tools}
    meant: dict[str, set[str]] = defaultdict(set)
    for tool in tools:
        for name, description in described(tool).items():
            own = f"server.toolArgument.{tool.name}.{name}"
            key = own if own in told else f"server.toolArgument.{name}"
            expected.add(key)
            meant[key].add(description)
    assert told == expected
    assert {key: texts for key, texts in meant.items() if len(texts) > 1} == {}, "one text for what is said differently"
