"""Merge: several branches become one."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from pydantic import Field

from agentui.jsonio import Json
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.walk.reach import is_failure
from agentui.pipeline.walk.said import said_in

CANDIDATE = "candidate"
"""What the formula calls one branch."""


class MergeParams(NodeParams):
    """How."""

    mode: Literal["first", "all", "best"] = Field(
        "all",
        description="first: whoever comes first; all: everything, in order; best: the one with the highest score.",
        json_schema_extra={"enumDescriptions": ["The first to come", "All of them", "The best"]},
    )
    separator: str = Field(
        "\n\n",
        description="Mode all: what stands between the texts.",
        max_length=1000,
        json_schema_extra={"when": {"mode": ["all"]}},
    )
    score: str = Field(
        "",
        max_length=65536,
        description="Mode best: a formula that gives a number, e.g. len(candidate.text).",
        json_schema_extra={"when": {"mode": ["best"]}, "ui": "condition"},
    )


@node("Merge")
class Merge(Node[MergeParams]):
    """Brings several branches together: the first that comes, all of them, or the best.

    Branches that were not reached do not count; one that failed and goes on is only chosen where all did. ``first`` does not
    wait for the others: those that lead nowhere else are cancelled. ``best`` computes its formula for each, which sees
    ``candidate.text``, ``candidate.out`` and ``candidate.id``; the highest number wins, the first of equals. Where the branches
    exclude each other and the Merge is to answer, they answer themselves. OUT: ``text``, and ``from``, the id of the branch's
    last node, with its ``out``, its ``tool_calls`` if there are some, and ``scores``; of ``all`` the lists ``texts``, ``all``
    and ``from``.
    """

    Params = MergeParams
    title = "Merge"
    category = "control"
    icon = "merge"
    summary = "{mode}"
    passes_answer = True

    def prepare(self, build: Build) -> None:
        """Compile the formula."""
        mode = self.params.mode
        self.starts_on_first = mode == "first"
        self._score = build.value("score", self.params.score or "0", own=frozenset({CANDIDATE}))
        if mode == "best" and not self.params.score.strip():
            build.problem("merge.score", "Which one is the best? Write a formula that gives a number.", "score")

    def hands_on(self, before: Sequence[str]) -> Collection[str]:
        """The branches, of which one is chosen; what they say together is nobody's answer."""
        return () if self.params.mode == "all" else before

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """OUT as the class says. Raises TemplateProblem where the formula cannot be computed."""
        outs = {id: ctx.frame.out[id] for id in ctx.came_from if id in ctx.frame.out}
        texts = {id: said_in(out) for id, out in outs.items()}
        if self.params.mode == "all":
            joined = self.params.separator.join(texts.values())
            return {"all": list(outs.values()), "texts": list(texts.values()), "text": joined, "from": list(outs)}
        outs = {id: out for id, out in outs.items() if not is_failure(out)} or outs
        if not outs:
            return {"text": "", "from": None, "out": None}
        if self.params.mode == "first":
            first = next(iter(outs))
            return {"text": texts[first], "from": first, "out": outs[first], **_calls_in(outs[first])}
        scores: dict[str, Json] = {}
        for id, out in outs.items():
            own = {CANDIDATE: {"id": id, "text": texts[id], "out": out}}
            score = await ctx.compute(self._score, ctx.scope(own))
            scores[id] = score if isinstance(score, int | float) and not isinstance(score, bool) else None
        best = max(outs, key=lambda id: float("-inf") if scores[id] is None else scores[id])
        return {"text": texts[best], "from": best, "out": outs[best], "scores": scores, **_calls_in(outs[best])}

    async def preview(self, ctx: NodeContext) -> Json:
        """What it would give on with the branches that are known."""
        return dict(await self.run(ctx))


def _calls_in(out: Mapping[str, Json]) -> dict[str, Json]:
    """The tools that the chosen branch's model wants to call, which go on with its words."""
    calls = out.get("tool_calls")
    return {"tool_calls": calls} if calls else {}
