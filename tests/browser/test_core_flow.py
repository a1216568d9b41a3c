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


async def test_iterations_and_calls_are_folded(core: Evaluate) -> None:
    result = await core(
        """
        let seq = -1;
        const at = (at_ms, type, node, data) => ({seq: (seq += 1), type, at_ms, ...(node ? {node} : {}), ...(data ? {data} : {})});
        const ran = (from, id, out) => [at(from, "node.started", id), at(from + 1, "node.finished", id, out)];
        const events = [at(0, "run.started"), at(1, "node.started", "loop"), ...ran(2, "loop#1/a", {n: 1}), ...ran(4, "loop#2/a", {n: 2}),
          at(6, "node.started", "loop#2/in"), ...ran(7, "loop#2/in#1/b", {n: 21}), at(9, "node.finished", "loop#2/in", {}),
          at(10, "node.finished", "loop", {}), at(11, "node.started", "sub"), ...ran(12, "sub/a", {n: 9}), at(14, "node.finished", "sub", {}),
          at(15, "node.skipped", "x", {reason: "not reached", node: "if", port: "then"}),
          at(16, "run.finished", null, {state: "finished", answered_by: "sub"})];
        const run = runlog.reduceAll(runlog.emptyRun({id: "r", pipeline: "p"}), events);
        const single = events.reduce((all, event) => runlog.reduce(all, event), runlog.emptyRun({id: "r", pipeline: "p"}));
        const n = (scope, id, chosen) => walks.nodeIn(run, scope, id, chosen)?.out?.n ?? null;
        const rows = (open, chosen = {}) => runlog.waterfall(run, {}, {open: new Set(open), chosen}).map((row) =>
          `${"-".repeat(row.depth)}${row.node}`);
        return {
          same: doc.isSame(run, single),
          last: [n("", "a"), n("", "a", {loop: 1}), n("", "a", {loop: 7}), n("", "b"), n("sub/", "a"), n("", "nobody")],
          times: [walks.timesIn(run, "", "a"), walks.timesIn(run, "", "b"), walks.timesIn(run, "sub/", "a"), walks.timesIn(run, "", "z")],
          folded: rows([]),
          open: rows(["loop", "loop#2/in", "sub"]),
          first: rows(["loop"], {loop: 1}),
          labels: runlog.waterfall(run, {a: "Outer", loop: "Loop", "sub/a": "Inner"}, {open: new Set(["loop", "sub"]), chosen: {}})
            .map((row) => row.label),
          answered: run.answeredBy,
          by: run.nodes.x.by,
          outs: Object.keys(runlog.outsOf(run)),
        };"""
    )
    assert result == {
        "same": True,
        "last": [2, 1, None, 21, 9, None],
        "times": [2, 1, 1, 0],
        "folded": ["loop", "sub"],
        "open": ["loop", "-loop#2/a", "-loop#2/in", "--loop#2/in#1/b", "sub", "-sub/a"],
        "first": ["loop", "-loop#1/a", "sub"],
        "labels": ["Loop", "Outer", "in", "sub", "Inner"],
        "answered": "sub",
        "by": {"node": "if", "port": "then"},
        "outs": ["loop", "sub"],
    }


async def test_conditions_have_paths_and_names_follow(core: Evaluate) -> None:
    result = await core(
        """
        const text = 'chat.last_user contains "OUT.a.x" and len(OUT.a.list) > 3 or OUT["a"].y matches "x" and not gold';
        const of = (source) => macros.tokenise(source, "condition").filter(({kind}) => kind !== "text").map(({from, to}) => source.slice(from, to));
        const d = {format: 1, name: "C", edges: [], nodes: [{id: "a", type: "X", config: {}, position: {x: 0, y: 0}},
          {id: "b", type: "Y", config: {condition: text, text: "[[OUT:a.x]] is OUT.a"}, position: {x: 0, y: 0}},
          {id: "c", type: "Loop", config: {result: "a", join: "a"}, position: {x: 0, y: 0}},
          {id: "e", type: "Return", config: {node: "a", text: "a"}, position: {x: 0, y: 0}}]};
        const [, {config: renamed}, ...naming] = commands.renameNode(d, "a", "a-1").nodes;
        return {paths: of(text), renamed, naming: naming.map((one) => one.config), reads: graph.references(d).map(({from, field}) => `${from}>${field}`)};"""
    )
    assert result == {
        "paths": ["chat.last_user", "OUT.a.list", 'OUT["a"].y', "gold"],
        "renamed": {
            "condition": 'chat.last_user contains "OUT.a.x" and len(OUT["a-1"].list) > 3 or OUT["a-1"].y matches "x" and not gold',
            "text": '[[OUT:a-1.x]] is OUT["a-1"]',
        },
        "naming": [{"result": "a-1", "join": "a"}, {"node": "a-1", "text": "a"}],
        "reads": ["a>condition", "a>text"],
    }
