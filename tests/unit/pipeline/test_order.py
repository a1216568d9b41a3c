"""Who waits for whom, held against networkx, which is asked only for cycles."""

import subprocess
import sys
from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.pipeline.order import Order


def test_a_line_is_in_its_own_order() -> None:
    """Whatever the document's order is."""
    order = Order(("c", "a", "b"), (("a", "b"), ("b", "c"), ("a", "b")))
    assert order.cycle() == []
    assert order.sorted() == ["a", "b", "c"]
    assert order.is_chain
    assert order.ancestors("c") == {"a", "b"}
    assert order.ancestors("a") == set()
    assert list(order.followers("a")) == ["b"]
    assert [order.waits_for(node) for node in "abc"] == [0, 1, 1]


def test_a_merge_keeps_the_documents_order() -> None:
    """Two that are ready at once make no chain."""
    order = Order(("z", "y", "end"), (("z", "end"), ("y", "end")))
    assert order.sorted() == ["z", "y", "end"]
    assert not order.is_chain
    assert order.ancestors("end") == {"z", "y"}
    assert order.waits_for("end") == 2


def test_an_edge_past_a_node_leaves_a_chain() -> None:
    """Never two are ready at once, though it is no line."""
    order = Order(("a", "b", "c"), (("a", "b"), ("b", "c"), ("a", "c")))
    assert order.is_chain
    assert order.sorted() == ["a", "b", "c"]
    assert order.waits_for("c") == 2


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        ((("a", "a"),), ["a"]),
        ((("a", "b"), ("b", "a")), ["a", "b"]),
        ((("c", "a"), ("a", "b"), ("b", "a")), ["a", "b"]),
    ],
)
def test_a_cycle_is_told(edges: tuple[tuple[str, str], ...], cycle: list[str]) -> None:
    """Node by node."""
    assert sorted(Order(("a", "b", "c"), edges).cycle()) == cycle


def test_nodes_without_edges_are_no_chain() -> None:
    """Two of them; one alone is a line, and none are an empty order."""
    assert not Order(("a", "b"), ()).is_chain
    assert Order(("a",), ()).is_chain
    assert Order((), ()).sorted() == []


@given(st.permutations("abcdefg"), st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=14))
def test_any_graph_is_understood_as_networkx_does(nodes: list[str], edges: list[tuple[str, str]]) -> None:
    """Whatever is drawn, cycles included."""
    graph: nx.DiGraph[str] = nx.DiGraph(edges)
    graph.add_nodes_from(nodes)
    order = Order(nodes, edges)
    assert {node: order.ancestors(node) for node in nodes} == {node: nx.ancestors(graph, node) for node in nodes}
    if not nx.is_directed_acyclic_graph(graph):
        cycle = order.cycle()
        assert cycle and all(graph.has_edge(source, target) for source, target in pairwise([*cycle, cycle[0]]))
        return
    assert order.cycle() == []
    assert order.sorted() == list(nx.lexicographical_topological_sort(graph, key=nodes.index))
    assert order.is_chain == all(len(generation) == 1 for generation in nx.topological_generations(graph))


def test_only_a_cycle_loads_networkx() -> None:
    """A server without one keeps its 10 MB."""
    program = (
        "import sys, agentui.cli\n"
        "from agentui.pipeline.order import Order\n"
        "order = Order(('a', 'b', 'c'), (('a', 'c'), ('b', 'c')))\n"
        "assert order.cycle() == [] and order.sorted() == ['a', 'b', 'c'] and not order.is_chain\n"
        "assert 'networkx' not in sys.modules\n"
        "assert Order(('a',), (('a', 'a'),)).cycle() == ['a']\n"
        "assert 'networkx' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
