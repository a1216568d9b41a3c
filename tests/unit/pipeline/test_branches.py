"""Who meets whom in one run: the answers about random graphs against a plain list of everything that can happen in them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from agentui.pipeline.plans.branches import Branches, Exits
from tests.unit.work import assert_doubling

PORTS = (("done",), ("left", "right"), ("one", "two", "three"))


@dataclass(frozen=True)
class Drawn:
    """A graph whose nodes are numbered in an order of running. ``wires`` are its edges as source, port and target."""

    exits: Mapping[str, Exits]
    wires: tuple[tuple[str, str, str], ...]

    def branches(self) -> Branches:
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.exits)
        for source, port, target in self.wires:
            if not graph.has_edge(source, target):
                graph.add_edge(source, target, ports=set())
            graph.edges[source, target]["ports"].add(port)
        return Branches(graph, self.exits.__getitem__)

    def runs(self) -> Iterator[dict[str, str]]:
        """Every run that may be, as the ports by which its nodes were left; those that it did not reach are not in it."""
        for ports in product(*(self.choices(exits) for exits in self.exits.values())):
            chosen = dict(zip(self.exits, ports, strict=True))
            left: dict[str, str] = {}
            for name in self.exits:
                before = [wire for wire in self.wires if wire[2] == name]
                if not before or any(source in left and self.is_taken(left[source], port) for source, port, _ in before):
                    left[name] = chosen[name]
            yield left

    @staticmethod
    def choices(exits: Exits) -> tuple[str, ...]:
        return ("",) if exits.passes else (*exits.ports, *(exits.used & {"error"}))

    @staticmethod
    def is_taken(left: str, port: str) -> bool:
        return port != "error" if left == "" else port == left


@st.composite
def graphs(draw: st.DrawFn) -> Drawn:
    size = draw(st.integers(1, 7))
    ports = [draw(st.sampled_from(PORTS[: 3 if size < 6 else 2])) for _ in range(size)]
    wires: list[tuple[str, str, str]] = []
    for number in range(1, size):
        for source in draw(st.lists(st.integers(0, number - 1), max_size=3, unique=True)):
            for port in draw(st.lists(st.sampled_from([*ports[source], "error"]), min_size=1, max_size=2, unique=True)):
                wires.append((f"n{source}", port, f"n{number}"))
    exits = {
        f"n{number}": Exits(
            own, frozenset(port for source, port, _ in wires if source == f"n{number}"), draw(st.integers(0, 7)) == 0
        )
        for number, own in enumerate(ports)
    }
    return Drawn(exits, tuple(wires))


@settings(max_examples=250, deadline=None)
@given(graphs(), st.data())
def test_what_meets_and_what_is_skipped_is_what_every_run_says(drawn: Drawn, data: st.DataObject) -> None:
    branches = drawn.branches()
    runs = list(drawn.runs())
    names = data.draw(st.lists(st.sampled_from(list(drawn.exits)), min_size=1, unique=True))
    meeting = {
        pair for left in runs for pair in combinations(names, 2) if all(left.get(name, "error") != "error" for name in pair)
    }
    assert branches.together(names) == min(meeting, key=lambda pair: (names.index(pair[1]), names.index(pair[0])), default=None)
    for pair in combinations(names, 2):
        assert branches.exclude(*pair) is (pair not in meeting)
    reader, read = data.draw(st.sampled_from(list(drawn.exits))), data.draw(st.sampled_from(list(drawn.exits)))
    assert branches.may_lack(reader, read) is any(reader in left and read not in left for left in runs)
    silent = [left for left in runs if not any(left.get(name, "error") != "error" for name in names)]
    found = branches.silence(names)
    if found is None:
        assert silent in ([], runs)
    else:
        node, port = found
        assert any(left.get(node) == port for left in silent)
        assert any(left.get(node, port) != port for left in runs if left not in silent)


def diamonds(size: int) -> Drawn:
    """Diamonds in a row, and one node behind the failure of any node in them: ways beyond counting."""
    wires: list[tuple[str, str, str]] = []
    exits: dict[str, Exits] = {}
    for number in range(size):
        wires += [(f"c{number}", "left", f"a{number}"), (f"c{number}", "right", f"b{number}")]
        wires += [
            (f"{side}{number}", port, to) for side in "ab" for port, to in (("done", f"c{number + 1}"), ("error", "failed"))
        ]
        exits[f"c{number}"] = Exits(("left", "right"), frozenset(("left", "right")), False)
        exits |= {f"{side}{number}": Exits(("done",), frozenset(("done", "error")), False) for side in "ab"}
    exits |= {name: Exits(("done",), frozenset(), False) for name in (f"c{size}", "failed")}
    return Drawn(exits, tuple(wires))


def test_twice_the_nodes_are_twice_the_work() -> None:
    def asking(size: int) -> Callable[[], object]:
        drawn = diamonds(size)

        def ask() -> None:
            branches, last = drawn.branches(), f"c{size}"
            assert branches.together((last, "failed")) is None
            assert branches.silence((last, "failed")) is None
            found = branches.silence((last,))
            assert found is not None and found.port == "error"
            assert branches.may_lack("failed", "a0") and not branches.may_lack(last, "c0")

        return ask

    assert_doubling(asking, 40)
