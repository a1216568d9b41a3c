"""Which nodes of a pipeline may answer."""

from collections.abc import Mapping
from typing import Any

import networkx as nx

from agentui.errors import Problem
from agentui.pipeline.node import Node
from agentui.pipeline.plans.branches import Branches
from agentui.pipeline.plans.plan import ERROR_PORT
from agentui.pipeline.plans.spec import NodeSpec


class Answers:
    """Finds the nodes that may answer: the one named, else those that nothing follows; and all that end the run.

    Where one of them only passes on what came before it, and what feeds it excludes each other, that answers in its place.
    """

    def __init__(
        self,
        named: str | None,
        specs: Mapping[str, NodeSpec],
        graph: "nx.DiGraph[str]",
        nodes: Mapping[str, Node[Any]],
        branches: Branches | None,
    ) -> None:
        """``branches`` is None where the nodes wait for each other, which is told already."""
        self._named = named
        self._specs = specs
        self._graph = graph
        self._nodes = nodes
        self._branches = branches

    def find(self, problems: list[Problem]) -> frozenset[str]:
        """The nodes; none, and a problem more, where nobody knows them."""
        ends = [name for name, node in self._nodes.items() if node.ends_run and self._specs[name].enabled]
        speak = self._last(ends) if self._named is None else [self._named]
        problem = self._named_badly(self._named) if self._named is not None else self._problem_of(speak, ends)
        if problem is not None:
            problems.append(problem)
            if problem.code != "answer.disabled":
                return frozenset()
        answers = frozenset(speaker for name in speak for speaker in self._speakers(name)) | frozenset(ends)
        is_sound = all(problem.severity != "error" for problem in problems)
        silence = self._branches.silence(answers) if self._branches is not None and is_sound else None
        if silence is not None:
            node, port = silence
            text = f"No node answers when {node} leaves by its port {port!r}: let that lead to one that answers."
            problems.append(Problem("answer.missing", text, "warning", node=node, facts={"node": node, "port": port}))
        return answers

    def _last(self, ends: list[str]) -> list[str]:
        """The enabled nodes that nothing follows when they succeed."""
        return [
            name
            for name, spec in self._specs.items()
            if spec.enabled and name not in ends and all(edge["ports"] == {ERROR_PORT} for edge in self._graph[name].values())
        ]

    def _named_badly(self, named: str) -> Problem | None:
        if named not in self._specs:
            text = f"answer names {named!r}, but there is no such node."
            return Problem("answer.unknown", text, facts={"name": named})
        if not self._specs[named].enabled:
            text = "This node answers, but it is disabled. Enable it, or let another node answer."
            return Problem("answer.disabled", text, node=named, facts={"node": named})
        return None

    def _problem_of(self, last: list[str], ends: list[str]) -> Problem | None:
        """Why nobody knows which of the last nodes answers; None where one does, or in no run more than one."""
        if self._branches is None:
            return None
        if not last and not ends:
            return Problem("answer.none", "The node that nothing follows is disabled: name an enabled one in answer.")
        pair = self._branches.together(last)
        if pair is None:
            return None
        names = sorted(pair)
        text = (
            f"Which node answers? Nothing follows {', '.join(names)}, and one run may reach both. Join them with a Merge, let "
            "one follow the other, or name one in answer."
        )
        return Problem("answer.ambiguous", text, node=names[0], facts={"nodes": names})

    def _speakers(self, name: str) -> list[str]:
        """Who speaks where this node answers: itself, or those that feed it where it passes on what one of them says.

        A node whose failure leads on speaks itself: others would have spoken by then, and what it leads to speaks too.
        """
        node = self._nodes.get(name)
        leads_on = any(ERROR_PORT in edge["ports"] for edge in self._graph[name].values())
        if node is None or not node.passes_answer or leads_on or self._branches is None:
            return [name]
        before = list(self._graph.pred[name])
        can_speak = all(self._can_speak(source, name) for source in before)
        if not before or not can_speak or self._branches.together(before) is not None:
            return [name]
        return [speaker for source in before for speaker in self._speakers(source)]

    def _can_speak(self, source: str, target: str) -> bool:
        """Whether a node's own words may be the answer that another would pass on."""
        node = self._nodes.get(source)
        return (
            node is not None
            and self._specs[source].enabled
            and self._specs[source].on_error == "fail"
            and len(node.ports) == 1
            and not node.ends_run
            and ERROR_PORT not in self._graph.edges[source, target]["ports"]
        )
