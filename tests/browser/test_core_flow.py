"""Ports that follow the configuration, and nodes that stand in the bodies of others."""

import pytest

from tests.browser.core import Evaluate

pytestmark = pytest.mark.browser

SWITCH = """
const type = {type: "Switch", ports: ["else"], ports_from: "cases.*.name", error_port: true, defaults: {cases: [{name: "first"}]}};
const node = (id, more = {}) => ({id, type: "Switch", config: {}, position: {x: 0, y: 0}, ...more});
const cases = (...names) => ({cases: names.map((name) => ({name}))});
"""
BODIES = """
const node = (id, parent) => ({id, type: "Any", config: {text: "[[OUT:a.x]] {{ OUT.c.x }}"}, position: {x: 0, y: 0},
  ...(parent ? {parent} : {})});
const document = (edges, ...nodes) => ({format: 1, name: "B", nodes, edges: edges.map(([from, to, from_port]) => ({from, to,
  ...(from_port ? {from_port} : {})}))});
const wires = (d) => d.edges.map((edge) => `${edge.from}.${edge.from_port ?? "done"}>${edge.to}`).sort();
/** a -> loop[b -> c, inner[d]] -> e */
const loop = () => document([["a", "loop"], ["b", "c"], ["b", "inner"], ["loop", "e", "done"]], node("a"), node("loop"),
  node("b", "loop"), node("c", "loop"), node("inner", "loop"), node("d", "inner"), node("e"));
"""


async def test_ports_follow_the_configuration_and_wires_follow_a_name(core: Evaluate) -> None:
    result = await core(
        SWITCH
        + """
        const switches = (config) => ports.ownPorts(type, node("s", {config}));
        const d = {format: 1, name: "S", nodes: [node("s", {config: cases("a", "b")}), node("t")],
          edges: [{from: "s", to: "t", from_port: "a"}, {from: "s", to: "t", from_port: "gone"}, {from: "s", to: "t", from_port: "error"}]};
        const renamed = (before, after) => ports.renamedPort(type, cases(...before), cases(...after));
        return {
          named: [switches(cases("a", "", "a", "b")), switches({}), switches({cases: 3}), ports.ownPorts(undefined, node("x"))],
          error: [ports.hasPort(type, d.nodes[0], "error"), ports.hasPort({...type, error_port: false}, d.nodes[0], "error")],
          stray: ports.strayEdges(d, d.nodes[0], type).map((edge) => edge.from_port),
          renames: [renamed(["a", "b"], ["a", "c"]), renamed(["a", "b"], ["b", "b"]), renamed(["a", "b"], ["b", "a"]),
            renamed(["a"], ["a", "b"]), renamed(["a"], ["else"])],
          moved: ports.movePort(d, "s", "a", "c").edges.map((edge) => edge.from_port),
          merged: ports.movePort(d, "s", "a", "gone").edges.length,
          same: ports.movePort(d, "s", "nobody", "c") === d,
        };"""
    )
    assert result == {
        "named": [["a", "b", "else"], ["first", "else"], ["else"], ["done"]],
        "error": [True, False],
        "stray": ["gone"],
        "renames": [
            {"from": "b", "to": "c", "mayFollow": True},
            {"from": "a", "to": "b", "mayFollow": False},
            None,
            None,
            {"from": "a", "to": "else", "mayFollow": False},
        ],
        "moved": ["c", "gone", "error"],
        "merged": 2,
        "same": True,
    }


async def test_bodies_go_where_their_holders_go(core: Evaluate) -> None:
    result = await core(
        BODIES
        + """
        const d = loop();
        const copy = commands.duplicate(d, ["loop"], {x: 10, y: 10}).doc.nodes.slice(7);
        const pasted = commands.insertFragment(d, JSON.parse(clipboard.toFragment(d, ["loop"])), {x: 0, y: 0}).doc.nodes.slice(7);
        const alone = commands.insertFragment(d, JSON.parse(clipboard.toFragment(d, ["b"])), {x: 0, y: 0}).doc.nodes.at(-1);
        const family = (nodes) => nodes.map((one) => nodes.findIndex((other) => other.id === one.parent));
        const broken = document([], node("x", "y"), node("y", "x"), node("z", "nobody"), node("w", "w"));
        return {
          removed: commands.removeNodes(d, ["loop"]).nodes.map((one) => one.id),
          copies: [family(copy), family(pasted), "parent" in alone],
          renamed: commands.renameNode(d, "inner", "other").nodes.find((one) => one.id === "d").parent,
          outline: bodies.outline(d).map(({id, depth}) => "-".repeat(depth) + id),
          reads: [...graph.upstream(d, "d")].sort(),
          answers: graph.answersOf(d),
          refused: [commands.connect(d, {from: "a", to: "b"}) === d, commands.connect(d, {from: "c", to: "inner"}) !== d],
          broken: [...holders.parents(broken).keys()].length < 3 && bodies.outline(broken).length,
        };"""
    )
    assert result == {
        "removed": ["a", "e"],
        "copies": [[-1, 0, 0, 0, 3], [-1, 0, 0, 0, 3], False],
        "renamed": "other",
        "outline": ["a", "loop", "-b", "-c", "-inner", "--d", "e"],
        "reads": ["a", "b"],
        "answers": ["e"],
        "refused": [True, True],
        "broken": 4,
    }


async def test_wires_over_a_border_lead_around_it(core: Evaluate) -> None:
    result = await core(
        BODIES
        + """
        const chain = document([["a", "b", "x"], ["b", "c", "y"], ["c", "e"]], node("a"), node("b"), node("c"), node("e"), node("loop"));
        const into = bodies.setParent(chain, ["b"], "loop");
        const both = bodies.setParent(into, ["c"], "loop");
        return {
          into: wires(into),
          both: wires(both),
          out: wires(bodies.setParent(loop(), ["b"], null)),
          deep: wires(bodies.setParent(loop(), ["c"], "inner")),
          refused: [bodies.setParent(loop(), ["loop"], "inner"), bodies.setParent(loop(), ["a"], "nobody")].map((one) =>
            doc.isSame(one, loop())),
        };"""
    )
    assert result == {
        "into": ["a.x>loop", "c.done>e", "loop.done>c"],
        "both": ["a.x>loop", "loop.done>e"],
        "out": ["a.done>loop", "b.done>loop", "loop.done>e"],
        "deep": ["a.done>loop", "b.done>inner", "loop.done>e"],
        "refused": [True, True],
    }


async def test_a_layout_puts_bodies_into_their_holders(core: Evaluate) -> None:
    fits = await core(
        BODIES
        + """
        const d = loop();
        const places = graph.layout(d, {}, {loop: 64, inner: 64});
        const size = graph.DEFAULT_SIZE;
        const box = (id, inside) => ({x: places[id].x, y: places[id].y, right: Math.max(...inside.map((one) => places[one].x +
          size.width)), bottom: Math.max(...inside.map((one) => places[one].y + size.height))});
        const apart = (one, other) => places[one].x + size.width <= places[other].x || places[one].y + size.height <= places[other].y ||
          places[other].y + size.height <= places[one].y;
        const within = (inner, outer) => places[inner].x > places[outer].x && places[inner].y >= places[outer].y + 64;
        return [within("b", "loop"), within("c", "loop"), within("inner", "loop"), within("d", "inner"), apart("b", "c"),
          apart("c", "inner"), places.e.x >= box("loop", ["b", "c", "d"]).right];"""
    )
    assert fits == [True] * 7
