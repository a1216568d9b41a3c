"""Skill rules: documents that a group of tools declares, kept as variables, and how prompts tell of them (seed 004)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentui.tools.vars.errors import InvalidVariable
from agentui.tools.vars.record import MAX_DESC, RULE_PREFIX, WorkingVariable

AGENT_GROUP = "Agent"
MAX_RULE = 256 * 1024
"""Bytes of a rule."""
MAX_DECLARED = 50
"""Rules that one package's tool, or one MCP server, declares."""
RULE_PART = re.compile(r"[^\W_][\w .-]{0,59}")
"""A group's or a rule's name: a file's name on every system. It begins with a letter or a digit, so that none is hidden."""
_UNFIT = re.compile(r"[^\w .-]")
_HEAD = """\
**On-Demand Documentation (Stored as Variables):**
| Var | Description | When to Use |
|-----|-------------|-------------|"""
_FOOT = '*Access via: ReadVar({"name": "<VarName>"})*'
_UNSAID = "As needed"
"""When to use a rule that does not say."""


@dataclass(frozen=True, slots=True)
class SkillRule:
    """One rule: ``desc`` says in a sentence what it is, ``prompt`` is the whole of it in Markdown. One with ``always_load``
    stands in every system prompt."""

    name: str
    desc: str
    prompt: str
    when: str = ""
    always_load: bool = False

    def variable(self, group: str) -> WorkingVariable:
        """The rule as the variable by which models read it."""
        return WorkingVariable(
            rule_name(group, self.name),
            self.prompt,
            "RULE",
            created=0,
            updated=0,
            last_visited=0,
            desc=f"Skill rule for {group}: {self.desc}"[:MAX_DESC],
            keep=True,
            is_literal=True,
        )


RuleGroups = Mapping[str, Sequence[SkillRule]]
"""The rules of each group by its name."""


def check_rule(rule: SkillRule) -> None:
    """Raises InvalidVariable where a rule that a group declares is none: without a fitting name, a description or a text."""
    if RULE_PART.fullmatch(rule.name) is None:
        raise InvalidVariable("/name", "has 1 to 60 letters, digits, spaces, dots, _ and -, the first a letter or a digit.")
    for field, text, most in (("desc", rule.desc, MAX_DESC), ("when", rule.when, MAX_DESC), ("prompt", rule.prompt, MAX_RULE)):
        if "\0" in text or len(text.encode("utf-8", "surrogatepass")) > most or not (text.strip() or field == "when"):
            raise InvalidVariable(f"/{field}", f"A rule's {field} has 1 to {most} bytes without NUL.")


def declared_rules(declaring: Iterable[tuple[str, Sequence[SkillRule]]]) -> RuleGroups:
    """The rules that groups of tools declare, each once; what a rule's group cannot be named by is "_" in it."""
    found: dict[str, dict[str, SkillRule]] = {}
    for group, rules in declaring:
        for rule in rules:
            found.setdefault(_UNFIT.sub("_", group)[:60], {}).setdefault(rule.name, rule)
    return {group: tuple(rules.values()) for group, rules in found.items()}


def with_rules(groups: RuleGroups, more: RuleGroups) -> RuleGroups:
    """Both together; of two rules of one name the first one's."""
    return declared_rules((group, rules) for each in (groups, more) for group, rules in each.items())


def rule_name(group: str, name: str) -> str:
    """The variable of a rule."""
    return f"{RULE_PREFIX}{group}/{name}"


def rule_variables(groups: RuleGroups) -> list[WorkingVariable]:
    """The variables of all rules."""
    return [rule.variable(group) for group, rules in groups.items() for rule in rules]


def rules_prompt(groups: RuleGroups) -> str:
    """What a system prompt says of the rules: those that are always loaded, and a table of the others for each group."""
    return "\n\n".join(text for group, rules in groups.items() if (text := rule_index(group, rules)))


def rule_index(group: str, rules: Iterable[SkillRule]) -> str:
    """What a system prompt says of one group's rules; "" where it has none."""
    pinned, rows = [], []
    for rule in rules:
        if rule.always_load:
            pinned.append(rule.prompt)
        else:
            cells = (_cell(rule.desc), _cell(rule.when) or _UNSAID)
            rows.append(f"| `{rule_name(group, rule.name)}` | {cells[0]} | {cells[1]} |")
    table = ["\n".join((_HEAD, *rows, "", _FOOT))] if rows else []
    return "\n\n".join((*pinned, *table))


def _cell(text: str) -> str:
    """A text in one cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


VAR_REF = SkillRule(
    "VarRef",
    "How to pass a variable's value to a tool without writing it out",
    """# $VAR_REF: variables in arguments

Write a reference anywhere in the text of a tool's arguments. It is replaced before the tool is called.

| Reference | What it stands for |
|-----------|--------------------|
| `$VAR_REF{{name}}` | the whole value |
| `$VAR_REF{{name:start:length}}` | `length` characters from `start`; the first character is 0 |
| `$VAR_REF{{name:start}}` | all characters from `start` |

- Find names with `ListVars`. Every successful call leaves `{tool}_{id}_result` and `{tool}_{id}_args`.
- In a chat, what was said in a turn with tools is `Message_{turn}_user` and `Message_{turn}_assistant`.
- Pass long results on by reference; do not copy them. Read only the part that you need with `ReadVar`.
- References work in lists and objects at any depth, not in the names of arguments.
- A value is always text. For structured data read it and parse the JSON.
- References inside results of tools stay text.

Errors: `Variable 'x' not found` (check the name with `ListVars`), `Circular variable reference detected` (a value refers to
itself), `Cannot slice non-string variable`. A call with such an error was not made; mend it and call again.
""",
    "Before a tool gets a long text, or the result of another tool",
)
TODO = SkillRule(
    "TODO",
    "How to keep a list of what is to be done in variables",
    """# A TODO list in variables

Use it for work of three steps or more.

1. For each step `WriteVar` a variable named `TODO_{index}_{brief}`, such as `TODO_1_read_files`, with the tag `todo`. Its value
   is `pending: ` and what is to be done.
2. Before a step set its value to `doing: ...`; after it to `done: ...` with what came out, in a sentence.
3. When plans change write new steps, and remove those that are not needed with `RemoveVars`.
4. To see where you are: `ListVars({"filter": {"tag": "todo"}})`, then `ReadVar` what is open.
5. Answer when every step is done. Remove the list unless it will be needed again.
""",
    "When a task has several steps",
)
AGENT_RULES: RuleGroups = {AGENT_GROUP: (VAR_REF, TODO)}
"""The rules that come with the server."""


def shipped_rule(group: str, name: str) -> SkillRule | None:
    """The rule of this name that comes with the server; None where none does."""
    return next((rule for rule in AGENT_RULES.get(group, ()) if rule.name == name), None)
