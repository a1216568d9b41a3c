"""Who waits for whom: lines, which need no graph, and everything else, which does."""

import subprocess
import sys

import pytest

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


def test_a_line_loads_no_networkx() -> None:
    """A server with such pipelines only keeps its 10 MB."""
    program = (
        "import sys, agentui.cli\n"
        "from agentui.pipeline.order import Order\n"
        "assert Order(('a', 'b'), (('a', 'b'),)).sorted() == ['a', 'b']\n"
        "assert 'networkx' not in sys.modules\n"
        "assert Order(('a', 'b'), ()).sorted() == ['a', 'b']\n"
        "assert 'networkx' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
