"""The rules of a Guard: what they look for in a text, and what becomes of it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentui.errors import NodeFailed
from agentui.pipeline.node import Build
from agentui.pipeline.node_context import TemplateField
from agentui.pipeline.nodes.text.words import places, small
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import MAX_TEXT, JsPattern, compile_js
from agentui.regexes.replacing import replace_js

GUARD_SECONDS: Final = 10.0
"""What all rules together may take on one text."""
SEARCH_SECONDS: Final = 0.5
"""What one search may take: a rule goes over a megabyte."""
OWN: Final = frozenset({"text"})
"""The name that conditions have beside those of every template: the text as the rules above left it."""

Action = Literal["block", "rewrite", "flag"]


class GuardRule(BaseModel):
    """What is looked for, and what happens where it is found."""

    model_config = ConfigDict(extra="allow", strict=True, title="Rule")

    name: str = Field("", max_length=100, description="What the rule is called in OUT; empty: its number.")
    kind: Literal["words", "regex", "condition"] = Field(
        "words",
        description="words: any of these words, whole, whatever their case; regex: a regular expression; condition.",
        json_schema_extra={"enumDescriptions": ["Words", "Regular expression", "Condition"]},
    )
    pattern: str = Field(
        "",
        max_length=65536,
        description="Words between commas or on lines; an expression of JavaScript's; or a condition, which also reads text.",
    )
    flags: str = Field(
        "i",
        max_length=8,
        description="regex: its flags; i: whatever the case.",
        json_schema_extra={"when": {"kind": ["regex"]}},
    )
    action: Action = Field(
        "block",
        description="block: refuse; rewrite: put the replacement in its place; flag: go on, and say so in OUT.",
        json_schema_extra={"enumDescriptions": ["Block", "Rewrite", "Flag"]},
    )
    replacement: str = Field(
        "",
        max_length=10000,
        description="rewrite: what stands there instead; of a condition, the whole text.",
        json_schema_extra={"when": {"action": ["rewrite"]}},
    )
    message: str = Field(
        "",
        max_length=10000,
        description="block: the refusal; empty: that of the node.",
        json_schema_extra={"when": {"action": ["block"]}},
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, compiled: it has a condition, an expression or words."""

    name: str
    field: str
    action: Action
    replacement: str
    message: str
    condition: TemplateField[bool] | None = None
    pattern: JsPattern | None = None
    words: tuple[str, ...] = ()

    def applied(self, text: str, small_text: str, left: float) -> str | None:
        """The text as this rule leaves it, None where it does not apply. Raises TimeoutError after ``left`` seconds,
        RegexError for a text that is too long or becomes so."""
        if self.pattern is None:
            return self._found_words(text, small_text, left)
        limit = min(SEARCH_SECONDS, left)
        if self.action != "rewrite":
            return None if self.pattern.search(text, limit) is None else text
        rewritten, count = replace_js(text, self.pattern, self.replacement, limit=limit, in_all=left)
        return rewritten if count else None

    def _found_words(self, text: str, small_text: str, left: float) -> str | None:
        found = places(self.words, small_text, time.monotonic() + left)
        if self.action != "rewrite":
            return None if next(found, None) is None else text
        pieces: list[str] = []
        at = size = 0
        for begin, end in found:
            pieces += (text[at:begin], self.replacement)
            at = end
            size += len(self.replacement)
            if size > MAX_TEXT:
                raise RegexError(f"more than {MAX_TEXT} characters come of it", 0)
        return "".join((*pieces, text[at:])) if pieces else None


@dataclass(slots=True)
class Checked:
    """A text on its way through the rules, also in small letters. ``at`` is the rule that comes next, ``hits`` those that
    applied."""

    text: str
    small: str
    at: int
    hits: list[Rule]
    blocked_by: Rule | None = None

    def hit(self, rule: Rule, rewritten: str) -> None:
        """A rule applies; a rewritten text is what the rules below see."""
        self.hits.append(rule)
        if rule.action == "block":
            self.blocked_by = rule
        elif rule.action == "rewrite":
            self.text, self.small = rewritten, small(rewritten)


def compiled(rule: GuardRule, number: int, build: Build) -> Rule | None:
    """A rule as the node applies it; None (and a problem) for a broken one."""
    field = f"rules.{number}"
    name = rule.name.strip() or str(number + 1)
    made = (name, field, rule.action, rule.replacement, rule.message)
    if not rule.pattern.strip():
        build.problem(
            "guard.pattern", "This rule looks for nothing: write what it looks for.", f"{field}.pattern", facts={"rule": name}
        )
        return None
    if rule.kind == "condition":
        return Rule(*made, condition=build.condition(f"{field}.pattern", rule.pattern, own=OWN))
    if rule.kind == "words":
        words = _words(rule.pattern)
        if not words:
            build.problem("guard.pattern", "This rule names no word.", f"{field}.pattern", facts={"rule": name})
            return None
        return Rule(*made, words=words)
    try:
        return Rule(*made, pattern=compile_js(rule.pattern, "".join(dict.fromkeys(f"g{rule.flags}"))))
    except RegexError as error:
        build.problem("regex.syntax", f"The regular expression cannot be used, {error}.", f"{field}.pattern")
        return None


def _words(text: str) -> tuple[str, ...]:
    """The words between commas and on lines, once each, in small letters."""
    parts = (" ".join(part.split()) for line in text.splitlines() for part in line.split(","))
    return tuple(dict.fromkeys(small(part) for part in parts if part))


def apply_patterns(rules: Sequence[Rule], checked: Checked, until: float) -> None:
    """Apply rules from ``checked.at`` on, until one blocks or a condition comes; ``until`` is on the monotonic clock.

    Takes long: for a thread. Raises NodeFailed where it takes longer, or the text is too long.
    """
    while checked.at < len(rules) and checked.blocked_by is None:
        rule = rules[checked.at]
        if rule.condition is not None:
            return
        checked.at += 1
        try:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            rewritten = rule.applied(checked.text, checked.small, left)
        except TimeoutError:
            text = f"Rule {rule.name!r} takes too long on this text, so nothing of it passes. Write it simpler."
            raise NodeFailed(text, field=f"{rule.field}.pattern") from None
        except RegexError as error:
            text = f"Rule {rule.name!r} cannot be applied to this text, so nothing of it passes: {error.reason}."
            raise NodeFailed(text, field=f"{rule.field}.pattern") from None
        if rewritten is not None:
            checked.hit(rule, rewritten)
