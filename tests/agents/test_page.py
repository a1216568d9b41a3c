"""The settings that docs/coding-agents.md gives are those that the agents are started with here."""

import json
import re

import pytest

from tests.agents.programs import CLAUDE_ENVIRONMENT, CODEX_CONFIG, GEMINI_ENVIRONMENT, GEMINI_SETTINGS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "coding-agents.md").read_text(encoding="utf-8")
PACKAGES = json.loads((ROOT / "tests" / "agents" / "package.json").read_text(encoding="utf-8"))["dependencies"]
OF_THE_PLACE = {"ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"}


def block(language: str) -> str:
    """The page's one block of a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_codex_is_configured_as_the_page_says() -> None:
    assert block("toml").replace("/p/agents/v1", "/v1") == CODEX_CONFIG


def test_gemini_cli_is_configured_as_the_page_says() -> None:
    assert json.loads(block("json")) == GEMINI_SETTINGS


@pytest.mark.parametrize("own", [CLAUDE_ENVIRONMENT, GEMINI_ENVIRONMENT], ids=["claude-code", "gemini-cli"])
def test_the_environment_is_what_the_page_says(own: dict[str, str]) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    said = [dict(re.findall(r"^export (\w+)=(\S+)$", text, re.MULTILINE)) for text in blocks]
    (fitting,) = [exports for exports in said if own.keys() <= exports.keys()]
    assert fitting.keys() - own.keys() <= OF_THE_PLACE
    # Which model is the reader's choice.
    assert {name: fitting[name] for name in own if not name.endswith("_MODEL")} == {
        name: value for name, value in own.items() if not name.endswith("_MODEL")
    }


def test_the_packages_are_those_that_the_page_names() -> None:
    assert all(f"{package}@{version}" in PAGE for package, version in PACKAGES.items())
