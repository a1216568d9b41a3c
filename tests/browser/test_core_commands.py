"""Documents, commands and undo: laws that hold for any order of commands, and what each command does."""

import json
from typing import Any

import pytest

from agentui.pipeline.nodes import BUILTIN
from tests.browser.core import Evaluate
from tests.conftest import ROOT

pytestmark = pytest.mark.browser

ANY_DOCUMENT = """
const samples = ["plain", "{{ OUT.n1.x }}", "[[OUT:n2.a.b]] and [[OUT1]]", "{{ OUT['n3'].q|default(OUT.n4) }}", "{{ broken",
  "[[OUT5]]{{ OUT5|upper }}"];
function anyDocument(random) {
  let d = {...doc.emptyDocument("Any"), later: {kept: [1, null]}};
  for (let count = random.below(7); count >= 0; count -= 1) d = anyCommand(random, d);
  return d;
}
const ids = ["n1", "n2", "n3", "n4", "n5", "n9", "plan", "-x-", "no such", ""];
const someIds = (random) => Array.from({length: random.below(4)}, () => random.pick(ids));
const somewhere = (random) => ({x: random.below(900), y: random.below(700)});
const c = commands;
const all = [
  (r, d) => c.addNode(d, r.pick(["SetVars", "ProviderCall", "Strange"]), somewhere(r), {config: {template: r.pick(samples),
    deep: [{text: r.pick(samples)}]}}).doc,
  (r, d) => c.addNode(d, "ProviderCall", somewhere(r), {id: r.pick(ids), config: {headers: {a: r.pick(samples)}}}).doc,
  (r, d) => c.addNode(d, "SetVars", somewhere(r), {config: {variables: [{name: "A", mode: r.pick(["string", "expr"]),
    value: r.pick(samples)}]}}).doc,
  (r, d) => c.removeNodes(d, someIds(r), {reconnect: r.next() < 0.5}),
  (r, d) => c.moveNodes(d, {[r.pick(ids)]: somewhere(r), [r.pick(ids)]: {x: NaN, y: 1}}),
  (r, d) => c.connect(d, {from: r.pick(ids), to: r.pick(ids)}),
  (r, d) => c.connect(d, {from: r.pick(ids), to: r.pick(ids), from_port: r.pick(["done", "error"])}),
  (r, d) => c.disconnect(d, [{from: r.pick(ids), to: r.pick(ids)}]),
  (r, d) => c.setNode(d, r.pick(ids), {title: r.pick(["", "T", undefined]), id: "stolen", extra: r.pick([1, undefined])}),
  (r, d) => c.setConfig(d, r.pick(ids), {template: r.pick([...samples, undefined]), other: {a: 1}}),
  (r, d) => c.setDocument(d, {description: r.pick(["d", undefined])}),
  (r, d) => c.renameNode(d, r.pick(ids), r.pick(ids)),
  (r, d) => c.duplicate(d, someIds(r), {x: 10, y: 10}).doc,
  (r, d) => c.setAnswer(d, r.pick([...ids, null])),
  (r, d) => c.toggleEnabled(d, someIds(r)),
  (r, d) => c.insertFragment(d, JSON.parse(clipboard.toFragment(d, someIds(r))), somewhere(r)).doc,
  (r, d) => c.addBox(d, "frames", {title: "F", ...somewhere(r), width: 300, height: 200}).doc,
  (r, d) => c.updateBox(d, "frames", r.pick(["f1", "f2", "f9"]), {title: r.pick(["a", "b"])}),
  (r, d) => c.removeBoxes(d, "frames", [r.pick(["f1", "f2"])]),
  (r, d) => c.addBox(d, "notes", {text: "N", ...somewhere(r), width: 100, height: 80}).doc,
  (r, d) => c.updateBox(d, "notes", "t1", {text: r.pick(["a", "b"])}),
  (r, d) => c.removeBoxes(d, "notes", [r.pick(["t1", "t2"])]),
];
const anyCommand = (random, d) => random.pick(all)(random, d);
const freeze = (value) => {
  if (typeof value === "object" && value !== null &&
    !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
};
"""


async def test_laws_of_all_commands(core: Evaluate) -> None:
    """No dangling edge, no cycle, no id twice, unknown fields kept; undo gives every earlier document back, redo the later."""
    broken = await core(
        ANY_DOCUMENT
        + """
        const broken = [];
        let changes = 0;
        for (let seed = 1; seed <= arg; seed += 1) {
          const random = randomFrom(seed);
          const start = freeze(anyDocument(random));
          let past = history.startHistory(start);
          const seen = [start];
          for (let step = 0; step < 25; step += 1) {
            const next = freeze(anyCommand(random, past.present));
            past = history.push(past, next, "label");
            if (next !== seen.at(-1)) seen.push(next);
            const known = new Set(next.nodes.map((node) => node.id));
            const say = (what) => broken.push(`${what}, seed ${seed}, step ${step}`);
            if (known.size !== next.nodes.length) say("an id twice");
            if (next.edges.some((edge) => !known.has(edge.from) || !known.has(edge.to))) say("a dangling edge");
            if (graph.findCycle(next)) say("a cycle");
            if (next.answer != null && !known.has(next.answer)) say("an answer that is not there");
            if (next.later !== start.later) say("an unknown field lost");
            const parsed = doc.parseDocument(doc.serialise(next));
            if (!doc.isSame(parsed.document, next)) say("not read as written");
          }
          changes += seen.length;
          for (let at = seen.length - 1; at >= 0; at -= 1) {
            if (past.present !== seen[at]) broken.push(`undo, seed ${seed}`);
            past = history.undo(past);
          }
          if (history.canUndo(past) || past.present !== start) broken.push(`not all undone, seed ${seed}`);
          for (const each of seen.slice(1)) {
            past = history.redo(past);
            if (past.present !== each) broken.push(`redo, seed ${seed}`);
          }
          if (history.canRedo(past)) broken.push(`too much to redo, seed ${seed}`);
        }
        return {broken: broken.slice(0, 5), changes};""",
        300,
    )
    assert broken["broken"] == []
    assert broken["changes"] > 3000


async def test_commands_on_documents_that_lack_everything_change_nothing_and_never_throw(core: Evaluate) -> None:
    thrown = await core(
        ANY_DOCUMENT
        + """
        const thrown = [];
        const hostile = [
          {}, {nodes: null, edges: 7}, {nodes: [null, 3, {}], edges: [null, {}]}, {format: 1, nodes: [{id: "n1"}],
            edges: [{from: "n1", to: "n8"}]},
          {nodes: [{id: "n1", type: "X", config: "no", position: null}, {id: "n1", type: "X"}], edges: "x", view: 5},
          {nodes: [{id: "n1", config: {a: [[["{{ OUT.n1 }}"]]]}}, {id: "n2"}], edges: [{from: "n1", to: "n2"}, {from: "n2",
            to: "n1"}], view: {frames: [null], notes: {}}},
        ];
        for (const document of hostile) {
          const random = randomFrom(5);
          for (const command of all) {
            for (let turn = 0; turn < 20; turn += 1) {
              try { command(random, freeze(structuredClone(document)));
                } catch (error) { thrown.push(`${command}: ${error.message}`); }
            }
          }
          const readers = [
            (d) => graph.order(d), (d) => graph.layout(d), (d) => graph.references(d), (d) => graph.answerOf(d), (d) =>
              graph.align(d, ["n1", "n2"], "left"),
            (d) => redact.redactDocument(d), (d) => compare.compareDocuments(d, {}),
              (d) => compare.mergeDocuments(d, {}, d),
            (d) => search.findInDocument(d, "n"), (d) => names.visibleNames(d, "n2", {contextNames: {names: [], paths: []}}),
              (d) => doc.completeDocument(d),
          ];
          for (const read of readers) {
            try { read(freeze(structuredClone(document)));
              } catch (error) { thrown.push(`${read} of ${JSON.stringify(document)}: ${error.message}`); }
          }
        }
        const d = {...doc.emptyDocument("x"), nodes: [{id: "n1", type: "X", config: {}, position: {x: 0, y: 0}}]};
        const same = [
          c.removeNodes(d, ["no"]), c.moveNodes(d, {no: {x: 1, y: 1}}), c.moveNodes(d, {n1: {x: 0, y: 0}}), c.connect(d,
            {from: "n1", to: "no"}), c.connect(d, {from: "n1", to: "n1"}),
          c.disconnect(d, [{from: "n1", to: "no"}]), c.setNode(d, "no", {title: "t"}), c.setConfig(d, "n1", {a: undefined}),
            c.setDocument(d, {name: "x"}),
          c.renameNode(d, "n1", "a b"), c.renameNode(d, "no", "n2"), c.duplicate(d, ["no"], {x: 1, y: 1}).doc, c.setAnswer(d,
            "no"), c.setAnswer(d, null), c.toggleEnabled(d, []),
          c.insertFragment(d, null, {x: 1, y: 1}).doc, c.insertFragment(d, {nodes: [5], edges: null}, null).doc,
            c.updateBox(d, "frames", "f1", {title: "t"}), c.removeBoxes(d, "notes", ["t1"]),
        ];
        return {thrown, changed: same.map((each, index) => (each === d ? null : index)).filter((each) => each !== null)};"""
    )
    assert thrown == {"thrown": [], "changed": []}


GRAPH = """
const node = (id, config = {}, more = {}) => ({id, type: "ProviderCall", config, position: {x: 0, y: 0}, ...more});
const chain = (...all) => all.slice(1).map((to, index) => ({from: all[index], to, from_port: "done"}));
const made = (nodes, edges, more = {}) => ({format: 1, name: "D", nodes, edges, ...more});
"""


async def test_removing_with_reconnection_leads_around_what_is_gone(core: Evaluate) -> None:
    edges = await core(
        GRAPH
        + """
        const d = made(["a", "b", "c", "d", "e"].map((id) => node(id)), [...chain("a", "b", "c", "d"), ...chain("e", "c")],
          {answer: "c"});
        const gone = commands.removeNodes(d, ["b", "c"], {reconnect: true});
        return {edges: gone.edges.map((edge) => edge.from + edge.to).sort(), plain: commands.removeNodes(d, ["b",
          "c"]).edges.length, hasAnswer: "answer" in gone};"""
    )
    assert edges == {"edges": ["ad", "ed"], "plain": 0, "hasAnswer": False}


async def test_renaming_a_node_renames_it_everywhere(core: Evaluate) -> None:
    renamed = await core(
        GRAPH
        + """
        const reader = node("n2", {
          template: '{"a": "{{ OUT.n1.x|default(\\\\"y\\\\") }}", "b": [[OUT1]]}', headers: {X: "[[OUT:n1.z]]"},
          blocks: [{text: "{{ OUT.n1 }}", name: "{{ OUT.n1 }} is a title"}], mine: "[[OUT1]]",
        });
        const vars = node("n3", {variables: [{name: "A", mode: "expr", value: "'[[OUT1]]'"}, {name: "B",
          value: "[[OUT1]]"}]}, {type: "SetVars"});
        const plug = node("n4", {any: ["{{ OUT.n1.q }}"]}, {type: "Mine"});
        const d = made([node("n1"), reader, vars, plug], chain("n1", "n2", "n3", "n4"), {answer: "n1"});
        const r = commands.renameNode(d, "n1", "plan");
        return {configs: r.nodes.map((each) => each.config), edges: r.edges[0], answer: r.answer, ids: r.nodes.map((each) =>
          each.id),
          shares: r.nodes[0].config === d.nodes[0].config && r.edges[1] === d.edges[1],
            back: doc.isSame(commands.renameNode(commands.renameNode(d, "n1", "n8"), "n8", "n1"), d)};"""
    )
    call = renamed["configs"][1]
    assert call["template"] == '{"a": "{{ OUT.plan.x|default(\\"y\\") }}", "b": [[OUT:plan.response_text]]}'
    assert call["headers"] == {"X": "[[OUT:plan.z]]"}
    # Fields that are no templates are texts of people, and stay.
    assert call["blocks"] == [{"text": "{{ OUT.plan }}", "name": "{{ OUT.n1 }} is a title"}]
    assert call["mine"] == "[[OUT1]]"
    assert [row["value"] for row in renamed["configs"][2]["variables"]] == ["'[[OUT1]]'", "[[OUT:plan.response_text]]"]
    assert renamed["configs"][3] == {"any": ["{{ OUT.plan.q }}"]}
    assert renamed["edges"] == {"from": "plan", "to": "n2", "from_port": "done"}
    assert renamed["answer"] == "plan"
    assert renamed["ids"] == ["plan", "n2", "n3", "n4"]
    assert renamed["shares"] and renamed["back"]


async def test_the_short_form_keeps_meaning_the_same_node(core: Evaluate) -> None:
    """``[[OUT1]]`` means node 1 where there is no n1, and no new n1 may take its place."""
    texts = await core(
        GRAPH
        + """
        const reader = node("r", {model: "[[OUT1]]"});
        const d = made([node("1"), node("x"), reader], chain("1", "x", "r"));
        const text = (each) => doc.nodeById(each, "r").config.model;
        return [text(commands.renameNode(d, "1", "n1")), text(commands.renameNode(d, "1", "2")), text(commands.renameNode(d,
          "x", "n1"))];"""
    )
    assert texts == ["[[OUT1]]", "[[OUT2]]", "[[OUT:1.response_text]]"]


async def test_fragments_come_in_with_new_ids_and_the_references_between_them(core: Evaluate) -> None:
    result = await core(
        GRAPH
        + """
        const d = made([node("n1"), node("n2", {model: "[[OUT1]] {{ OUT.n1.x }} {{ OUT.n9.x }}"}, {position: {x: 50,
          y: 20}}), node("own", {model: "{{ OUT.n2.y }}"})], chain("n1", "n2"));
        const pasted = commands.insertFragment(d, clipboard.fromFragment(clipboard.toFragment(d, ["n1", "n2"])).fragment,
          {x: 500, y: 400});
        const copies = pasted.ids.map((id) => doc.nodeById(pasted.doc, id));
        const doubled = commands.duplicate(d, ["n2"], {x: 10, y: 10});
        const elsewhere = commands.insertFragment(doc.emptyDocument("e"), clipboard.fromFragment(clipboard.toFragment(d,
          ["n1", "own"])).fragment, {x: 0, y: 0});
        return {ids: pasted.ids, model: copies[1].config.model, places: copies.map((each) => each.position),
          edge: pasted.doc.edges.at(-1),
          untouched: pasted.doc.nodes[1] === d.nodes[1], doubled: doc.nodeById(doubled.doc, doubled.ids[0]).config.model,
            edges: doubled.doc.edges.map((each) => each.from + each.to),
          elsewhere: elsewhere.ids};"""
    )
    assert result == {
        "ids": ["n3", "n4"],
        "model": "[[OUT3]] {{ OUT.n3.x }} {{ OUT.n9.x }}",
        "places": [{"x": 500, "y": 400}, {"x": 550, "y": 420}],
        "edge": {"from": "n3", "to": "n4", "from_port": "done"},
        "untouched": True,
        "doubled": "[[OUT1]] {{ OUT.n1.x }} {{ OUT.n9.x }}",
        "edges": ["n1n2", "n1n3"],
        "elsewhere": ["n1", "own"],
    }


async def test_typing_is_one_step_of_undo(core: Evaluate) -> None:
    result = await core(
        """
        let h = history.startHistory(doc.emptyDocument(""));
        const shown = (now) => ({undo: history.canUndo(now) ? now.label : null, redo: now.future.at(-1)?.label ?? null});
        for (const name of ["H", "He", "Hey"]) h = history.push(h, commands.setDocument(h.present, {name}), "rename", "name");
        h = history.push(h, commands.setDocument(h.present, {description: "d"}), "describe");
        const labels = [shown(h)];
        h = history.undo(h); labels.push(shown(h));
        const typed = h.present.name;
        h = history.undo(h); labels.push(shown(h));
        const first = h.present.name;
        h = history.push(history.redo(h), commands.setDocument(h.present, {name: "New"}), "rename", "name");
        return {labels, typed, first, steps: h.past.length, canRedo: history.canRedo(h), nothing: history.push(h, h.present,
          "x") === h};"""
    )
    assert result == {
        "labels": [
            {"undo": "describe", "redo": None},
            {"undo": "rename", "redo": "describe"},
            {"undo": None, "redo": "rename"},
        ],
        "typed": "Hey",
        "first": "",
        "steps": 2,
        "canRedo": False,
        "nothing": True,
    }


async def test_documents_are_read_with_what_is_unknown_and_mended_where_something_lacks(core: Evaluate) -> None:
    gallery = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "pipelines").glob("*.json"))]
    result = await core(
        """
        const read = arg.gallery.map((text) => doc.parseDocument(text).document);
        const {document: poor} = doc.parseDocument(
          '{"nodes": [{"id": "n1", "type": "X", "odd": 1}, 5], "edges": null, "view": [], "mine": true}');
        const whole = {...doc.emptyDocument("x"), nodes: [{id: "n1", type: "X", config: {}, position: {x: 1, y: 2}}]};
        return {read, poor, same: doc.completeDocument(whole) === whole, error: doc.parseDocument('{\\n  "a": ,\\n}').error,
          early: doc.parseDocument('{"a": [').error, list: doc.parseDocument("[1]").error};""",
        {"gallery": gallery},
    )
    for text, document in zip(gallery, result["read"], strict=True):
        original = json.loads(text)
        for node in document["nodes"]:
            node.pop("position")
        for node in original["nodes"]:
            node.setdefault("config", {})
            node.pop("position", None)
        original.setdefault("edges", [])
        assert document == original
    assert result["poor"] == {
        "nodes": [{"id": "n1", "type": "X", "odd": 1, "config": {}, "position": {"x": 0, "y": 0}}],
        "edges": [],
        "mine": True,
    }
    assert result["same"]
    assert (result["error"]["line"], result["error"]["column"]) == (2, 8)
    assert (result["early"]["line"], result["early"]["column"]) == (1, 8)
    assert result["list"] == {"message": "This is JSON, but no object.", "line": 1, "column": 1}


async def test_the_place_where_json_breaks_is_found(core: Evaluate) -> None:
    good = ["{}", ' [1, -0.5e3, true, null, "a\\u00e9", {"a": [[]]}]\n', '"x"', "0"]
    bad = [
        ("", 0),
        ("{a: 1}", 1),
        ('{"a" 1}', 5),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("[01]", 2),
        ("{} {}", 3),
        ('["a\nb"]', 1),
        ("[tru]", 1),
        ("[[1]", 4),
        ("[1}", 2),
        ('{"a":1,}', 7),
    ]
    result = await core("return arg.map((text) => jsontext.brokenAt(text))", [*good, *(text for text, _ in bad)])
    assert result == [*(None for _ in good), *(at for _, at in bad)]


async def test_texts_of_the_shipped_types_are_those_that_the_server_reads(core: Evaluate) -> None:
    """Each string of a full configuration gets its own node to read; who is read must be the same on both sides."""
    from agentui.pipeline.node import Build, Catalog, make_node

    configs: dict[str, Any] = {
        "ProviderCall": {
            "provider": "openai",
            "base_url": "{{ OUT.a1 }}",
            "endpoint": "{{ OUT.a2 }}",
            "headers": {"{{ OUT.no1 }}": "{{ OUT.a3 }}"},
            "model": "{{ OUT.a4 }}",
            "blocks": [
                {"text": "{{ OUT.a5 }}", "name": "{{ OUT.no2 }}"},
                {"kind": "history", "text": "{{ OUT.a6 }}"},
                {"text": "{{ OUT.a7 }}", "enabled": False},
            ],
            "template": '{"x": "{{ OUT.a8|default(\\"y\\") }}"}',
            "unknown": "{{ OUT.no3 }}",
        },
        "RawForward": {
            "base_url": "{{ OUT.b1 }}",
            "override_path": "{{ OUT.b2 }}",
            "extra_headers": '{"a": "{{ OUT.b3|default(\\"y\\") }}"}',
        },
        "SetVars": {
            "variables": [
                {"name": "A", "value": "{{ OUT.c1 }}"},
                {"name": "B", "mode": "expr", "value": "'{{ OUT.no4 }}'"},
                {"name": "C", "mode": "json", "value": '{"a": "{{ OUT.c2|default(\\"y\\") }}"}'},
                {"name": "{{ OUT.no5 }}", "tier": "chat", "value": "{{ OUT.c3 }}"},
            ]
        },
    }
    catalog = Catalog(BUILTIN)
    expected = {}
    for kind, config in configs.items():
        build = Build("n1")
        assert make_node(catalog[kind], config, build) is not None
        expected[kind] = sorted(build.reads.nodes_among(set()))
    found = await core(
        """
        const read = ([type, config]) => texts.textsOf({id: "n1", type, config, position: {x: 0, y: 0}})
          .flatMap(({text, language}) => {
            const tokens = macros.tokenise(text, language);
            if (tokens.some((token) => token.kind === "error")) throw new Error(text);
            return tokens.flatMap((token) => token.node ?? []);
          });
        return Object.fromEntries(Object.entries(arg).map((each) => [each[0], read(each).sort()]));""",
        configs,
    )
    assert found == expected
    assert sum(map(len, expected.values())) == 14
