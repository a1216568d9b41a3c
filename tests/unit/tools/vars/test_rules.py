"""Skill rules: the ones that come with the server, a folder of them, and how prompts tell of them."""

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.tools.vars.errors import InvalidVariable
from agentui.tools.vars.references import References
from agentui.tools.vars.rule_folder import MAX_FILE, RuleFolder, read_rule, written_rule
from agentui.tools.vars.rules import AGENT_RULES, SkillRule, rule_index, rule_variables, rules_prompt
from agentui.tools.vars.system import VariableSystem

TABLE = """\
**On-Demand Documentation (Stored as Variables):**
| Var | Description | When to Use |
|-----|-------------|-------------|
| `Rule/style/Dialogue` | How people talk | Before a scene |
| `Rule/style/Other` | a \\| b c | As needed |

*Access via: ReadVar({"name": "<VarName>"})*"""


def test_rules_on_demand_are_told_of_in_a_table() -> None:
    rules = [SkillRule("Dialogue", "How people talk", "...", "Before a scene"), SkillRule("Other", "a | b\nc", "...")]
    assert rule_index("style", rules) == TABLE


def test_rules_that_are_always_loaded_stand_in_the_prompt() -> None:
    rules = [SkillRule("Dialogue", "How people talk", "Speak *short*.", always_load=True)]
    assert rule_index("style", rules) == "Speak *short*."
    more = [*rules, SkillRule("A", "a", "text")]
    assert rule_index("style", more).startswith("Speak *short*.\n\n**On-Demand Documentation (Stored as Variables):**\n")
    assert rule_index("style", []) == ""


def test_the_server_brings_rules_for_references_and_lists() -> None:
    names = [variable.name for variable in rule_variables(AGENT_RULES)]
    assert names == ["Rule/Agent/VarRef", "Rule/Agent/TODO"]
    assert all(f"| `{name}` |" in rules_prompt(AGENT_RULES) for name in names)
    for variable in rule_variables(AGENT_RULES):
        assert (variable.type, variable.keep) == ("RULE", True)
        assert variable.desc.startswith("Skill rule for Agent: ")


def test_a_rule_about_references_can_be_referred_to() -> None:
    vars = VariableSystem(rule_variables(AGENT_RULES), now=lambda: 1)
    text = References(vars).resolve("$VAR_REF{{Rule/Agent/VarRef}}")
    assert "`$VAR_REF{{name:start:length}}`" in text


def test_files_are_rules_and_read_again_when_they_change(tmp_path: Path) -> None:
    folder = RuleFolder(tmp_path / "rules")
    assert folder.groups() == AGENT_RULES
    path = tmp_path / "rules" / "style" / "Dialogue.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ndesc: How people talk\nwhen: Before a scene\nalwaysLoad: true\n---\nSpeak.\n")
    assert folder.groups()["style"] == (SkillRule("Dialogue", "How people talk", "Speak.\n", "Before a scene", True),)
    assert folder.groups()["style"][0] is folder.groups()["style"][0]
    path.write_text("# Talk\nSpeak less, or not at all.\n")
    assert folder.groups()["style"] == (SkillRule("Dialogue", "Talk", "# Talk\nSpeak less, or not at all.\n"),)
    path.unlink()
    assert folder.groups() == AGENT_RULES


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("style/empty.md", ""),
        ("style/field.md", "---\nalways: 1\n---\ntext"),
        ("style/long.md", "x" * (MAX_FILE + 1)),
        ("style/a{b}.md", "text"),
        ("sty:le/a.md", "text"),
        ("Agent/TODO.md", "Do nothing."),
    ],
)
def test_files_that_are_no_rules_are_left_out(tmp_path: Path, name: str, text: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    with caplog.at_level(logging.WARNING, "agentui.tools"):
        assert RuleFolder(tmp_path).groups() == AGENT_RULES
    assert ("is no skill rule" in caplog.text) == (name != "Agent/TODO.md")


def test_links_do_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "rules" / "style").mkdir(parents=True)
    (tmp_path / "rules" / "style" / "a.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "rules" / "other").symlink_to(tmp_path, target_is_directory=True)
    assert RuleFolder(tmp_path / "rules").groups() == AGENT_RULES


@given(st.text(st.characters(codec="utf-8")))
def test_every_text_is_a_rule_or_is_refused(text: str) -> None:
    try:
        rule = read_rule("a", text)
    except InvalidVariable:
        return
    assert rule.prompt.strip() and "\0" not in rule.prompt


@pytest.mark.parametrize(
    ("front", "rule"),
    [
        ("desc: \"Say: how\"\nwhen: 'it''s #1'\nalwaysLoad: yes", SkillRule("a", "Say: how", "Text.", "it's #1", True)),
        ("desc: >\n  Two\n  lines\nwhen: |\n  One\nalwaysload: on", SkillRule("a", "Two lines", "Text.", "One", True)),
        ("# a comment\ndesc: Plain # and why\nwhen:", SkillRule("a", "Plain", "Text.")),
        ("{desc: In braces, alwaysLoad: 'true'}", SkillRule("a", "In braces", "Text.", "", True)),
        (
            "desc: Note: it was read so before\nwhen: *always*",
            SkillRule("a", "Note: it was read so before", "Text.", "*always*"),
        ),
        ("", SkillRule("a", "Text.", "Text.")),
    ],
)
def test_the_front_matter_of_a_rule_is_yaml(front: str, rule: SkillRule) -> None:
    assert read_rule("a", f"---\n{front}\n---\nText.") == rule


@pytest.mark.parametrize(
    "front",
    [
        "- desc",
        "desc: [a, b]",
        "desc: {a: b}",
        "other: x",
        "desc",
        "just words",
        "[" * 5000,
        "desc: " + "x" * 20_000,
        "? [a]\n: b",
    ],
)
def test_a_front_matter_of_another_form_is_told(front: str) -> None:
    with pytest.raises(InvalidVariable):
        read_rule("a", f"---\n{front}\n---\nText.")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60), st.booleans())
def test_a_rule_that_is_written_is_read_as_it_was(words: str, is_pinned: bool) -> None:
    words = " ".join(words.split())
    rule = SkillRule("a", words or "Desc", "Text.", words, is_pinned)
    assert read_rule("a", written_rule(rule)) == rule
