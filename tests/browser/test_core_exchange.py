"""Documents on their way elsewhere: fragments on the clipboard, keys that must not leave, differences and merges."""

from typing import Any

import pytest

from agentui.jsonio import Json
from agentui.pipeline.node import Catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.plans.compile import compile_plan
from tests.browser.core import Evaluate

pytestmark = pytest.mark.browser


def node(id: str, config: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "ProviderCall", "config": config or {}, "position": {"x": 0, "y": 0}, **more}


def document(*nodes: Any, edges: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    pairs = [edge.split(">") for edge in edges]
    return {"format": 1, "name": "D", "nodes": list(nodes), "edges": [{"from": a, "to": b} for a, b in pairs], **more}


async def test_fragments_hold_what_belongs_together_and_come_back(core: Evaluate) -> None:
    whole = document(node("a"), node("b", position={"x": 900, "y": 0}), node("c"), edges=("a>b", "b>c"))
    whole["view"] = {
        "frames": [
            {"id": "f1", "title": "around b", "x": 850, "y": -50, "width": 300, "height": 200},
            {"id": "f2", "title": "around all", "x": -9, "y": -9, "width": 9999, "height": 999},
        ],
        "notes": [{"id": "t1", "text": "n", "x": 0, "y": 0, "width": 10, "height": 10}],
    }
    result = await core(
        """
        const text = clipboard.toFragment(arg, ["a", "b", "t1"]);
        const {fragment} = clipboard.fromFragment(text);
        return {mark: JSON.parse(text).agentui, format: JSON.parse(text).format, nodes: fragment.nodes.map((each) =>
          each.id), edges: fragment.edges.length, frames: fragment.frames.map((each) => each.id),
          notes: fragment.notes.length, whole: clipboard.fromFragment(JSON.stringify(arg)).fragment.nodes.length};""",
        whole,
    )
    assert result == {
        "mark": "fragment",
        "format": 1,
        "nodes": ["a", "b"],
        "edges": 1,
        "frames": ["f1"],
        "notes": 1,
        "whole": 3,
    }


async def test_other_texts_are_refused_with_a_reason(core: Evaluate) -> None:
    texts = {
        " ": "empty",
        "hello": "not-json",
        "[1]": "not-object",
        '{"a": 1}': "not-ours",
        '{"nodes": [], "edges": []}': "not-ours",
        '{"agentui": "fragment", "format": 2, "nodes": []}': "newer-format",
        '{"agentui": "fragment", "format": "1"}': "not-ours",
        '{"agentui": "fragment", "format": 1}': "nothing",
        '{"agentui": "fragment", "format": 1, "nodes": [{"id": 5}, null, 7], "frames": [{"id": "f"}]}': "nothing",
        '{"agentui": "other", "format": 1, "nodes": [{"id": "a", "type": "b"}]}': "not-ours",
    }
    assert await core("return arg.map((text) => clipboard.fromFragment(text).reason)", list(texts)) == list(texts.values())


LEAKS = [
    ("headers", {"Authorization": "Bearer sk-proj-a8Jd72kLmPq0Zx91Yt4e"}, "openai", "Bearer [[SECRET:openai]]"),
    ("headers", {"x-api-key": "sk-ant-api03-Qx8dj2LmP0"}, "anthropic", "[[SECRET:anthropic]]"),
    ("headers", {"X-Goog-Api-Key": "AIzaSyA1234567890abcdefghijklmnopqrstuv"}, "google", "[[SECRET:google]]"),
    ("headers", {"Authorization": "Bearer 8f14e45fceea167a5a36dedd4bea2543"}, "bearer", "Bearer [[SECRET:key]]"),
    ("headers", {"X-Auth-Token": "q9Wz7RtY2uVb"}, "header", "[[SECRET:x-auth-token]]"),
    ("headers", {"Cookie": "session=4f2a9c; theme=dark"}, "header", "[[SECRET:cookie]]"),
    ("headers", {"X-Trace": "id gsk_abcdefGHIJKL0123456789 end"}, "groq", "id [[SECRET:groq]] end"),
    ("endpoint", "/v1/models?a=1&key=abcDEF123456&b=2", "query", "/v1/models?a=1&key=[[SECRET:key]]&b=2"),
    ("base_url", "https://user:hunter22pass@host.example/v1", "password", "https://[redacted]@host.example/v1"),
    ("template", '{"token": "hf_abcdefghijklmnopqrst"}', "huggingface", '{"token": "[redacted]"}'),
    ("model", "{{ model }} xai-abcdefghijklmnop1234", "xai", "{{ model }} [redacted]"),
]

HARMLESS = [
    {
        "headers": {
            "Authorization": "Bearer [[SECRET:openai]]",
            "x-api-key": "{{ incoming.headers.x-api-key|default('sk-aaaaaaaaaaaaaaaaaaaaaa') }}",
            "X-Title": "agentui 8f14e45fceea167a",
        }
    },
    {
        "headers": {
            "Authorization": "Bearer [[VAR:incoming.headers.authorization]]",
            "api-key": "not-needed",
            "X-Token": "",
            "Cookie": "{{ c }}",
        }
    },
    {
        "endpoint": "/v1/chat/completions?key=[[SECRET:gemini]]",
        "base_url": "https://api.example.com:8443/v1",
        "model": "claude-sonnet-4-5-20250929",
    },
    {
        "blocks": [{"text": "Say: a key looks like sk-... and Bearer means carrier. The tokenisation is key=value."}],
        "template": '{"model": "{{ model }}", "max_tokens": 256}',
    },
]


async def test_keys_are_found_and_replaced_where_they_stand(core: Evaluate) -> None:
    found = await core(
        "return arg.map((each) => redact.redactDocument(each))",
        [document(node("n1", {field: value})) for field, value, _, _ in LEAKS],
    )
    for (field, value, kind, after), result in zip(LEAKS, found, strict=True):
        assert [each["kind"] for each in result["report"]] == [kind], value
        report = result["report"][0]
        now = result["document"]["nodes"][0]["config"][field]
        if isinstance(value, dict):
            (header,) = value
            assert (report["header"], report["field"]) == (header, f"headers.{header}")
            now = now[header]
            value = value[header]
        assert now == after
        assert report["node"] == "n1" and "***" in report["masked"] and report["masked"] not in value
    again = await core(
        "return arg.map((each) => redact.findLiteralKeys(each).length)", [result["document"] for result in found]
    )
    assert again == [0] * len(LEAKS)


async def test_a_request_is_kept_without_its_keys(core: Evaluate) -> None:
    headers = {"Authorization": "Bearer sk-proj-0123456789abcdefXYZW", "x-session": "tavern", "X-Api-Key": "a-plain-word"}
    request = {
        "method": "POST",
        "path": "/v1beta/models/m:generateContent?key=AIza0123456789",
        "headers": headers,
        "body": {"a": 1},
    }
    kept = await core("return redact.withoutKeys(arg)", request)
    assert kept == {
        "method": "POST",
        "path": "/v1beta/models/m:generateContent?key=***",
        "headers": {"Authorization": "Bearer sk-***XYZW", "x-session": "tavern", "X-Api-Key": "***"},
        "body": {"a": 1},
    }


async def test_macros_and_common_words_are_no_keys(core: Evaluate) -> None:
    documents = [document(node("n1", config)) for config in HARMLESS]
    result = await core(
        """return arg.map((each) => {
          const {document, report} = redact.redactDocument(each);
          return [report, document === each];
        });""",
        documents,
    )
    assert result == [[[], True]] * len(HARMLESS)


async def test_a_redacted_document_still_compiles(core: Evaluate) -> None:
    leaks: dict[str, Any] = {"headers": {}}
    for field, value, _, _ in LEAKS:
        leaks[field] = {**leaks["headers"], **value} if isinstance(value, dict) else value
    raw = {
        "id": "r",
        "type": "RawForward",
        "config": {
            "extra_headers": '{"Authorization": "Bearer 8f14e45fceea167a5a36dedd4bea2543"}',
            "override_path": "/x?api_key=abcdef123456",
        },
        "position": {"x": 0, "y": 0},
    }
    redacted = (await core("return redact.redactDocument(arg)", document(node("n1", leaks), raw, edges=("n1>r",))))["document"]
    compile_plan("x", redacted, Catalog(BUILTIN))
    assert redacted["nodes"][1]["config"]["extra_headers"] == '{"Authorization": "Bearer [[SECRET:key]]"}'


async def test_differences_name_nodes_fields_and_edges(core: Evaluate) -> None:
    before = document(node("a", {"model": "x", "list": [1, 2]}), node("b"), node("gone"), edges=("a>b",), answer="a")
    after = document(
        node("a", {"model": "y", "list": [1, 3], "new": None}), node("b"), node("more"), edges=("b>a",), description="d"
    )
    after["edges"][0]["from_port"] = "done"
    found = await core("return compare.compareDocuments(arg.before, arg.after)", {"before": before, "after": after})
    assert [each["id"] for each in found["added"]] == ["more"] and [each["id"] for each in found["removed"]] == ["gone"]
    assert [
        (each["id"], [(field["path"], field.get("before"), field.get("after")) for field in each["fields"]])
        for each in found["changed"]
    ] == [("a", [("config.model", "x", "y"), ("config.list.1", 2, 3), ("config.new", None, None)])]
    assert len(found["edges"]["added"]) == len(found["edges"]["removed"]) == 1
    assert sorted(each["path"] for each in found["document"]) == ["answer", "description"]
    same = await core(
        """const edges = arg.edges.map((each) => ({...each, from_port: "done"}));
        return compare.compareDocuments(arg, {...structuredClone(arg), edges});""",
        before,
    )
    assert same == {"added": [], "removed": [], "changed": [], "edges": {"added": [], "removed": []}, "document": []}


async def test_changes_of_two_people_come_together(core: Evaluate) -> None:
    base = document(
        node("a", {"model": "x", "base_url": "u"}), node("b"), node("c"), node("d"), edges=("a>b", "b>c"), description="old"
    )
    mine = document(
        node("a", {"model": "mine", "base_url": "u"}),
        node("b", position={"x": 5, "y": 0}),
        node("d", {"t": 1}),
        node("new"),
        edges=("a>b", "b>new"),
        description="old",
        answer="b",
    )
    theirs = document(
        node("a", {"model": "theirs", "base_url": "v"}),
        node("b", position={"x": 0, "y": 7}),
        node("c", {"z": 1}),
        node("new", {"q": 2}),
        node("extra"),
        edges=("a>b", "b>c", "new>a", "extra>a"),
        description="new",
    )
    result = await core(
        "return compare.mergeDocuments(arg.base, arg.mine, arg.theirs)", {"base": base, "mine": mine, "theirs": theirs}
    )
    merged = result["document"]
    assert {each["id"]: each["config"] for each in merged["nodes"]} == {
        "a": {"model": "mine", "base_url": "v"},
        "b": {},
        "d": {"t": 1},
        "new": {},
        "extra": {},
    }
    assert merged["nodes"][1]["position"] == {"x": 5, "y": 0}
    assert (merged["description"], merged["answer"]) == ("new", "b")
    assert [each["from"] + each["to"] for each in merged["edges"]] == ["ab", "bnew", "extraa"]
    assert {(each["kind"], each["node"], each["path"]) for each in result["conflicts"]} == {
        ("field", "a", "config.model"),
        ("field", "b", "position"),
        ("removed", "c", ""),
        ("removed", "d", ""),
        ("added", "new", ""),
        ("cycle", "a", "new -> a"),
    }


async def test_a_wire_that_one_side_deleted_stays_deleted_whatever_the_other_changed(core: Evaluate) -> None:
    nodes = [{"id": id, "type": "SetVars", "config": {}} for id in "abc"]
    base = {"format": 1, "name": "n", "nodes": nodes, "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}]}
    cut = {**base, "edges": base["edges"][1:]}
    changed = {**base, "nodes": [{**nodes[0], "config": {"x": 1}}, *nodes[1:]]}
    for mine, theirs in ((cut, changed), (changed, cut)):
        result = await core(
            "return compare.mergeDocuments(arg.base, arg.mine, arg.theirs)", {"base": base, "mine": mine, "theirs": theirs}
        )
        assert result["document"]["edges"] == [{"from": "b", "to": "c"}]
        assert result["document"]["nodes"][0]["config"] == {"x": 1}


async def test_laws_of_merging(core: Evaluate) -> None:
    """One side alone is taken whole; both alike is that; a merge with nobody's change is the base; nothing dangles."""
    broken = await core(
        """
        const broken = [];
        const change = (random, d) => {
          const ids = d.nodes.map((each) => each.id);
          const id = random.pick([...ids, "n1"]);
          switch (random.below(6)) {
            case 0: return commands.addNode(d, "X", {x: random.below(9), y: 0}, {}).doc;
            case 1: return commands.removeNodes(d, [id]);
            case 2: return commands.connect(d, {from: random.pick([...ids, ""]), to: id});
            case 3: return commands.setConfig(d, id, {[random.pick("abc")]: random.below(3)});
            case 4: return commands.setDocument(d, {description: String(random.below(3))});
            default: return commands.moveNodes(d, {[id]: {x: random.below(5), y: random.below(5)}});
          }
        };
        const changed = (random, d) => { for (let count = random.below(8); count >= 0; count -= 1) d = change(random, d);
          return d; };
        for (let seed = 1; seed <= 200; seed += 1) {
          const random = randomFrom(seed);
          const base = changed(random, changed(random, doc.emptyDocument("B")));
          const [mine, theirs] = [changed(random, base), changed(random, base)];
          const merge = compare.mergeDocuments;
          const nothing = (d) => { const all = compare.compareDocuments(...d); return [all.added, all.removed, all.changed,
            all.edges.added, all.edges.removed, all.document].every((each) => each.length === 0); };
          const say = (what) => broken.push(`${what}, seed ${seed}`);
          for (const [name, merged, expected] of [["mine alone", merge(base, mine, base), mine], ["theirs alone", merge(base,
            base, theirs), theirs], ["alike", merge(base, mine, mine), mine]]) {
            if (merged.conflicts.length > 0 || !nothing([merged.document, expected])) say(name);
          }
          const both = merge(base, mine, theirs).document;
          const ids = new Set(both.nodes.map((each) => each.id));
          if (both.edges.some((edge) => !ids.has(edge.from) || !ids.has(edge.to))) say("dangling");
          if (graph.findCycle(both)) say("cycle");
          if (mine.nodes.some((each) => !ids.has(each.id) && theirs.nodes.some((other) => other.id === each.id))) say("lost");
        }
        return broken.slice(0, 5);"""
    )
    assert broken == []


async def test_a_value_reads_as_lines_in_the_order_of_the_alphabet(core: Evaluate) -> None:
    value: Json = {
        "name": "Sera",
        "depth": {"role": "system", "n": 4},
        "said": "one\ntwo",
        "none": [],
        "list": ["a", {"b": None}],
    }
    told = await core("return readable.readable(arg);", value)
    assert told.split("\n") == [
        "depth:",
        "  n: 4",
        "  role: system",
        "list:",
        "  - a",
        "  -",
        "    b: null",
        "name: Sera",
        "none: []",
        "said:",
        "  one",
        "  two",
    ]
