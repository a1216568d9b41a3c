"""What the server speaks of: editor, rules."""

from __future__ import annotations

from typing import TypedDict


class NewRule(TypedDict):
    """A skill rule's file: fields between two lines of ---, then the rule in Markdown."""

    text: str


class RuleLine(TypedDict):
    """A skill rule: what it is and when it is of use, whether every system prompt holds it, and whether it comes with
    the server. A file that is no rule has a problem.
    """

    group: str
    name: str
    desc: str
    when: str
    always_load: bool
    shipped: bool
    problem: str | None


class RuleText(TypedDict):
    """A skill rule as its file holds it, with the hash that ``If-Match`` takes."""

    group: str
    name: str
    text: str
    version: str
    shipped: bool
