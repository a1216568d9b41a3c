"""What comes before what, who reads whom, who answers, and where nodes stand."""

from typing import Any

import pytest

from agentui.errors import InvalidPipeline
from agentui.jsonio import Json
from agentui.pipeline.node import Catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.plans.compile import compile_plan
from tests.browser.core import Evaluate

pytestmark = pytest.mark.browser

CATALOG = Catalog(BUILTIN)

ANY_GRAPH = """
const node = (id, more = {}) => ({id, type: "ProviderCall", config: {}, position: {x: 0, y: 0}, ...more});
function anyGraph(random, count, chance, backwards = false) {
  const nodes = Array.from({length: count}, (_, index) => node(`m${index}`));
  const edges = [];
  for (let from = 0; from < count; from += 1) {
    for (let to = backwards ? 0 : from + 1; to < count; to += 1) if (random.next() < chance) edges.push({from: `m${from}`,
      to: `m${to}`});
  }
  return {format: 1, name: "G", nodes, edges};
}
"""


async def test_orders_reaches_and_cycles_agree_with_walking_every_way(core: Evaluate) -> None:
    broken = await core(
        ANY_GRAPH
        + """
        const broken = [];
        for (let seed = 1; seed <= 150; seed += 1) {
          const random = randomFrom(seed);
          const d = anyGraph(random, 2 + random.below(8), 0.3, seed % 2 === 0);
          const walk = (id, from, to, seen = new Set()) => {
            for (const edge of d.edges) if (edge[from] === id && !seen.has(edge[to])) { seen.add(edge[to]); walk(edge[to],
              from, to, seen); }
            return seen;
          };
          const cyclic = d.nodes.some(({id}) => walk(id, "from", "to").has(id));
          const say = (what) => broken.push(`${what}, seed ${seed}`);
          for (const {id} of d.nodes) {
            if (!doc.isSame([...graph.downstream(d, id)].sort(), [...walk(id, "from", "to")].sort())) say("downstream");
            if (!doc.isSame([...graph.upstream(d, id)].sort(), [...walk(id, "to", "from")].sort())) say("upstream");
          }
          const order = graph.order(d);
          if (order.length !== d.nodes.length || new Set(order).size !== order.length) say("not everybody once");
          if (!cyclic && d.edges.some((edge) => order.indexOf(edge.from) >= order.indexOf(edge.to))) say("order");
          const isEdge = (from, to) => d.edges.some((edge) => edge.from === from && edge.to === to);
          const cycle = graph.findCycle(d);
          if ((cycle !== null) !== cyclic) say("cycle");
          if (cycle && !cycle.every((id, index) => isEdge(id, cycle[(index + 1) % cycle.length]))) say(`no cycle: ${cycle}`);
          const [a, b] = [random.pick(d.nodes).id, random.pick(d.nodes).id];
          const path = graph.wouldCycle(d, {from: a, to: b});
          if ((path !== null) !== (a === b || walk(b, "from", "to").has(a))) say("would");
          if (path && (path[0] !== a || path.at(-1) !== a || path[1] !== b || !path.slice(1, -1).every((id, index) =>
            isEdge(id, path[index + 2])))) say(`path ${path}`);
        }
        return broken;"""
    )
    assert broken == []


async def test_the_order_is_the_servers(core: Evaluate) -> None:
    documents: list[Any] = await core(
        ANY_GRAPH
        + "return Array.from({length: 30}, (_, seed) => ({...anyGraph(randomFrom(seed + 1), 12, 0.15), answer: 'm11'}));"
    )
    for document in documents:
        document["nodes"].reverse()
    orders = await core("return arg.map((each) => graph.order(each))", documents)
    assert orders == [[node.id for node in compile_plan("x", document, CATALOG).nodes] for document in documents]


async def test_a_layout_goes_from_left_to_right_and_nothing_overlaps(core: Evaluate) -> None:
    result = await core(
        ANY_GRAPH
        + """
        const broken = [];
        for (let seed = 1; seed <= 60; seed += 1) {
          const random = randomFrom(seed);
          const d = anyGraph(random, 1 + random.below(40), 0.08, seed % 10 === 0);
          d.nodes[0].position = {x: -30, y: 70};
          const sizes = Object.fromEntries(d.nodes.map(({id}) => [id, random.next() < 0.3 ? undefined
            : {width: 80 + random.below(400), height: 40 + random.below(300)}]));
          const places = graph.layout(d, sizes);
          const box = (id) => ({...places[id], ...(sizes[id] ?? graph.DEFAULT_SIZE)});
          const cyclic = graph.findCycle(d) !== null;
          if (Object.keys(places).length !== d.nodes.length) broken.push(`not all, seed ${seed}`);
          for (const edge of cyclic ? []
            : d.edges) if (box(edge.from).x + box(edge.from).width >= box(edge.to).x) broken.push(`backwards, seed ${seed}`);
          for (const {id: a} of d.nodes) for (const {id: b} of d.nodes) {
            const [p, q] = [box(a), box(b)];
            if (a < b && p.x < q.x + q.width && q.x < p.x + p.width && p.y < q.y + q.height &&
              q.y < p.y + p.height) broken.push(`${a} on ${b}, seed ${seed}`);
          }
          const corner = [Math.min(...Object.values(places).map((each) => each.x)),
            Math.min(...Object.values(places).map((each) => each.y))];
          const was = [Math.min(...d.nodes.map((each) => each.position.x)), Math.min(...d.nodes.map((each) =>
            each.position.y))];
          if (String(corner) !== String(was)) broken.push(`corner ${corner}, seed ${seed}`);
        }
        // Two chains that were drawn crosswise come apart.
        const crossed = {format: 1, name: "x", nodes: ["a1", "b1", "b2", "a2"].map((id) => node(id)), edges: [{from: "a1",
          to: "a2"}, {from: "b1", to: "b2"}]};
        const places = graph.layout(crossed);
        return {broken, apart: places.a1.y < places.b1.y && places.a2.y < places.b2.y};"""
    )
    assert result == {"broken": [], "apart": True}


async def test_nodes_are_put_into_lines(core: Evaluate) -> None:
    result = await core(
        ANY_GRAPH
        + """
        const nodes = [[0, 0], [100, 50], [500, 20]].map(([x, y], index) => node("abc"[index], {position: {x, y}}));
        const sizes = {a: {width: 10, height: 10}, b: {width: 20, height: 30}, c: {width: 40, height: 20}};
        const ways = ["left", "right", "top", "bottom", "center", "middle", "distribute-x", "distribute-y"];
        const put = (ids, way) => Object.entries(graph.align({nodes, edges: []}, ids, way, sizes)).map(([id, {x, y}]) =>
          `${id} ${x} ${y}`).join(", ");
        return [...ways.map((way) => put(["a", "b", "c"], way)), put(["a"], "left"), put(["a", "c", "no"], "distribute-x")];"""
    )
    assert result == [
        "a 0 0, b 0 50, c 0 20",
        "a 530 0, b 520 50, c 500 20",
        "a 0 0, b 100 0, c 500 0",
        "a 0 70, b 100 50, c 500 60",
        "a 265 0, b 260 50, c 250 20",
        "a 0 35, b 100 25, c 500 30",
        "a 0 0, b 245 50, c 500 20",
        "a 0 0, c 500 20, b 100 50",
        "",
        "",
    ]


def node(id: str, config: Json = None, **more: Json) -> dict[str, Json]:
    return {"id": id, "type": "ProviderCall", "config": config or {}, **more}


def document(*nodes: Json, edges: tuple[str, ...] = (), **more: Json) -> Json:
    """Edges are written ``n1>n2``."""
    pairs = [edge.split(">") for edge in edges]
    return {"format": 1, "name": "D", "nodes": list(nodes), "edges": [{"from": a, "to": b} for a, b in pairs], **more}


DOCUMENTS: list[Json] = [
    document(node("n1")),
    document(node("n1"), node("n1")),
    document(node("n1"), node("n2")),
    document(node("n1"), node("n2", enabled=False), edges=("n1>n2",)),
    document(node("n1"), node("n2"), edges=("n1>n2", "n2>n1")),
    document(node("n1"), node("n2"), edges=("n1>n2", "n2>n1"), answer="n1"),
    document(node("n1"), edges=("n1>n7", "n6>n1")),
    document({"id": "n1", "type": "Nothing", "config": {"a": "{{ OUT.x }}"}}, node("n2"), edges=("n1>n2",)),
    document(node("n1"), answer="n2"),
    document(node("n1", enabled=False), answer="n1"),
    document(node("n1", {"model": "{{ OUT.n2.x }}"}), node("n2"), edges=("n1>n2",)),
    document(node("n1", {"model": "{{ OUT.n1.x }}{{ OUT.n9 }}{{ OUT.a.b }}[[OUT4]]"})),
    document(node("n1", enabled=False), node("n2", {"model": "[[OUT1]]"}), edges=("n1>n2",)),
    document(node("1"), node("n2", {"model": "[[OUT1]]"}), edges=("1>n2",)),
]


async def test_references_name_reader_node_and_field(core: Evaluate) -> None:
    found = await core(
        "return graph.references(arg)",
        document(
            node("1"),
            node("n2", {"model": "[[OUT1]] {{ OUT.n9.x|default(OUT.1) }}", "blocks": [{"text": "[[OUT:n2.a]]"}]}),
            {"id": "p", "type": "Mine", "config": {"deep": [{"x": "{{ OUT.n2 }}"}]}},
        ),
    )
    assert found == [
        {"from": "1", "to": "n2", "field": "model"},
        {"from": "n9", "to": "n2", "field": "model"},
        {"from": "n2", "to": "n2", "field": "blocks.0.text"},
        {"from": "n2", "to": "p", "field": "deep.0.x"},
    ]


async def test_the_answer_is_who_the_server_says(core: Evaluate) -> None:
    answers = await core("return arg.map((each) => graph.answerOf(each))", DOCUMENTS)
    for each, answer in zip(DOCUMENTS, answers, strict=True):
        try:
            plan = compile_plan("x", each, CATALOG)
        except InvalidPipeline:
            continue
        assert [answer] == [plan.nodes[position].id for position in plan.answers]
