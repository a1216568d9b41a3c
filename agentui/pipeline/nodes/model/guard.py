"""Guard: what must not reach a model, or the caller, is blocked or rewritten."""

import time
from collections.abc import Mapping
from functools import partial

from pydantic import Field

from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.guard_rules import GUARD_SECONDS, Checked, GuardRule, apply_patterns, compiled
from agentui.pipeline.nodes.text.words import small
from agentui.threads import apart, in_search_thread

LAST_MESSAGE = "{{ chat.last_user }}"
"""What is checked where the node names nothing."""


class GuardParams(NodeParams):
    """What is checked, by which rules, and what is said where one blocks."""

    text: str = Field(
        "",
        description="What is checked, such as [[OUT:n1.response_text]]; empty: the caller's last message.",
        json_schema_extra={"ui": "macro"},
    )
    rules: list[GuardRule] = Field(default_factory=list, max_length=1000, description="The rules, applied in this order.")
    refusal: str = Field(
        "I cannot help with that.", description="What stands in place of a blocked text.", json_schema_extra={"ui": "macro"}
    )


@node("Guard")
class Guard(Node[GuardParams]):
    """Checks a text by rules: words, regular expressions and conditions block it, rewrite it or flag it.

    It leaves by ``pass`` or ``blocked``. Where it answers, it says the text as the rules left it, or the refusal, and nothing
    of what came before it has reached the caller. A rule that cannot be applied fails the node: nothing passes unchecked.
    OUT: ``text``, ``verdict`` (passed, rewritten or blocked), ``hits``.
    """

    Params = GuardParams
    title = "Guard"
    category = "control"
    icon = "lock"
    ports = ("pass", "blocked")
    summary = "{rules}"

    def prepare(self, build: Build) -> None:
        """Compile the text and the rules."""
        self._text = build.text("text", (self.params.text.strip() and self.params.text) or LAST_MESSAGE)
        self._refusal = build.text("refusal", self.params.refusal)
        found = [compiled(rule, number, build) for number, rule in enumerate(self.params.rules)]
        self._rules = [rule for rule in found if rule is not None]

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Check. Raises NodeFailed where a rule cannot be applied, TemplateProblem."""
        checked = await self._check(ctx)
        ctx.leave_by("pass" if checked.blocked_by is None else "blocked")
        for rule in checked.hits:
            if rule.action == "flag":
                ctx.warn(f"Guard: rule {rule.name!r} applies.")
        return await self._out(ctx, checked)

    async def rehearse(self, ctx: NodeContext) -> Mapping[str, Json]:
        """The same without a word to the run's watchers."""
        return await self._out(ctx, await self._check(ctx))

    async def preview(self, ctx: NodeContext) -> Json:
        """What it would find now."""
        return dict(await self.rehearse(ctx))

    async def _check(self, ctx: NodeContext) -> Checked:
        """The text after all rules, or as the one that blocks found it."""
        text = await ctx.compute(self._text)
        checked = Checked(text, await apart(len(text), partial(small, text)), 0, [])
        until = time.monotonic() + GUARD_SECONDS
        while checked.at < len(self._rules) and checked.blocked_by is None:
            rule = self._rules[checked.at]
            if rule.condition is None:
                await in_search_thread(partial(apply_patterns, self._rules, checked, until))
                continue
            checked.at += 1
            if await ctx.compute(rule.condition, ctx.scope(own={"text": checked.text})):
                checked.hit(rule, rule.replacement)
        return checked

    async def _out(self, ctx: NodeContext, checked: Checked) -> dict[str, Json]:
        hits = [{"rule": rule.name, "action": rule.action} for rule in checked.hits]
        if (rule := checked.blocked_by) is not None:
            said = rule.message or await ctx.compute(self._refusal)
            return {"text": said, "verdict": "blocked", "hits": hits}
        is_changed = any(rule.action == "rewrite" for rule in checked.hits)
        return {"text": checked.text, "verdict": "rewritten" if is_changed else "passed", "hits": hits}
