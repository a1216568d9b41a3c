"""Files of HadTavern become documents; what could not be taken as it stood is told and kept."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.jsonio import Json, dumps_text, loads
from agentui.pipeline.hadtavern.convert import ConvertedPipeline, convert
from agentui.pipeline.hadtavern.report import MAX_NOTES
from agentui.pipeline.plans.compile import compile_plan
from tests.unit.pipeline.parts import catalog_of, execute

CATALOG = catalog_of()
TEMPLATE = '{"model": "{{ model }}", [[PROMPT]], "temperature": {{ params.temperature|default(0.7) }}}'


def drawn(*nodes: Json, **beside: Json) -> Json:
    """A file of HadTavern's editor."""
    return {"drawflow": {"Home": {"data": {str(node["id"]): node for node in nodes}}}, **beside}


def box(id: int, kind: str, data: Json, *following: int, **more: Json) -> Json:
    """A node as Drawflow writes it."""
    outputs = {"output_1": {"connections": [{"node": str(each), "output": "input_1"} for each in following]}}
    drawing = {"html": "<div></div>", "typenode": False, "inputs": {}, "pos_x": 10 * id, "pos_y": 5.5}
    return {"id": id, "name": kind, "class": kind, "data": data, "outputs": outputs, **drawing, **more}


def read(value: Json, name: str = "") -> ConvertedPipeline:
    return convert(value, name, CATALOG, FileLimits())


SEED = drawn(
    box(1, "SetVars", {"variables": [{"id": "v1", "name": "MAX_TOKENS", "mode": "expr", "value": "128 + 64"}]}, 2),
    box(
        2,
        "ProviderCall",
        {
            "provider": "openai",
            "base_url": "https://api.openai.com",
            "endpoint": "/v1/chat/completions",
            "headers": '{"Authorization": "Bearer [[VAR:incoming.headers.authorization]]"}',
            "template": TEMPLATE,
            "blocks": [
                {"id": "b1", "name": "Main", "role": "system", "prompt": "Be brief.", "enabled": True, "order": 0},
                {"id": "b2", "role": "user", "text": "{{ chat.last_user }}", "enabled": False, "order": 1},
            ],
        },
        3,
    ),
    box(3, "RawForward", {"base_url": "https://gw.example", "override_path": "[[VAR:incoming.path]]", "extra_headers": "{}"}),
)


def test_a_file_of_its_editor_becomes_a_pipeline_that_compiles() -> None:
    found = read(SEED, "From HadTavern")
    document = found.document
    assert (found.report.format, found.report.nodes, found.report.edges, found.report.notes) == ("drawflow", 3, 2, [])
    assert document["name"] == "From HadTavern"
    assert [(node["id"], node["type"], node["position"]["x"]) for node in document["nodes"]] == [
        ("n1", "SetVars", 10.0),
        ("n2", "ProviderCall", 20.0),
        ("n3", "RawForward", 30.0),
    ]
    assert document["edges"] == [{"from": "n1", "to": "n2"}, {"from": "n2", "to": "n3"}]
    call = document["nodes"][1]["config"]
    assert call["headers"] == {"Authorization": "Bearer [[VAR:incoming.headers.authorization]]"}
    assert call["template"] == TEMPLATE
    assert call["blocks"][0] == {"name": "Main", "role": "system", "text": "Be brief.", "enabled": True, "order": 0}
    assert compile_plan("x", document, CATALOG).warnings == ()


async def test_a_file_of_its_server_runs() -> None:
    found = read(
        {
            "name": "Dice",
            "nodes": [
                {"id": "n1", "type": "SetVars", "config": {"variables": [{"name": "A", "mode": "expr", "value": "2 * 3"}]}},
                {
                    "id": "n2",
                    "type": "SetVars",
                    "config": {"variables": {"SAY": "[[A]]!"}},
                    "in": {"depends": ["n1.done"], "vars": "n1.vars"},
                },
            ],
        }
    )
    assert found.document["edges"] == [{"from": "n1", "to": "n2"}]
    run = await execute(compile_plan("x", found.document, CATALOG))
    assert run.out["n2"] == {"vars": {"SAY": "6!"}}


def test_what_has_no_counterpart_is_kept_and_told() -> None:
    value = drawn(
        box(1, "Teleport", {"to": "moon"}, 2, 9),
        box(
            2, "ProviderCall", {"provider": "gemini", "retries": 3, "base_url": None, "endpoint": ["x"], "headers": "{"}, zoom=2
        ),
        box(3, "setvars", {"variables": [5, {"name": 7, "mode": "magic", "value": [1]}]}),
        theme="dark",
    )
    value["drawflow"]["Other"] = {"data": {"1": {"id": 1}}}
    value["drawflow"]["Home"]["data"]["4"] = "no node"
    found = read(value)
    first, second, third = found.document["nodes"]
    assert first["config"] == {"to": "moon"}
    assert second["config"] == {"provider": "gemini", "retries": 3, "endpoint": '["x"]'}
    assert second["x_hadtavern"] == {"zoom": 2, "headers": "{"}
    assert third["type"] == "SetVars"
    assert third["config"]["variables"] == [{"name": "7", "mode": "json", "value": "[1]"}]
    assert third["x_hadtavern"] == {"variables.0": 5, "variables.1.mode": "magic"}
    assert found.document["x_hadtavern"] == {
        "theme": "dark",
        "drawflow": {"Other": {"data": {"1": {"id": 1}}}},
        "nodes": {"4": "no node"},
    }
    told = {(note.node, note.field) for note in found.report.notes}
    assert told == {
        ("n1", "type"),
        ("n1", None),
        ("n2", "zoom"),
        ("n2", "retries"),
        ("n2", "endpoint"),
        ("n2", "headers"),
        ("n3", "variables.0"),
        ("n3", "variables.1.name"),
        ("n3", "variables.1.mode"),
        ("n3", "variables.1.value"),
        ("n3", "answer"),
        (None, "theme"),
        (None, "drawflow"),
        (None, "nodes.4"),
    }


def test_the_settings_of_the_chosen_provider_count() -> None:
    configs = {"claude": {"base_url": "https://a.example"}, "openai": {"base_url": "https://o.example", "template": ""}}
    found = read(drawn(box(1, "ProviderCall", {"provider": "Claude", "base_url": "old", "provider_configs": configs})))
    (node,) = found.document["nodes"]
    assert node["config"] == {"provider": "claude", "base_url": "https://a.example"}
    assert node["x_hadtavern"] == {"provider_configs": {"openai": configs["openai"]}}


def test_ids_are_those_that_templates_name() -> None:
    nodes = [{"id": id, "type": "SetVars"} for id in (3, "n3", "a b", "a_b", "", "x" * 80)]
    found = read({"nodes": nodes, "edges": [{"source": "a b", "target": 3}, {"from": "n3", "to": "nobody"}]})
    ids = [node["id"] for node in found.document["nodes"]]
    assert ids[0] == "n3" and len(set(ids)) == len(ids) == 6
    assert found.document["edges"] == [{"from": ids[2], "to": "n3"}]
    compile_plan("x", {**found.document, "answer": "n3"}, CATALOG)


def test_the_sides_of_a_condition_are_its_ports() -> None:
    outputs = {name: {"connections": [{"node": target}]} for name, target in (("output_1", "2"), ("output_2", "3"))}
    value = drawn(
        box(1, "if", {"condition": "gold > 1", "expr": "old"}, outputs=outputs), box(2, "SetVars", {}), box(3, "SetVars", {})
    )
    found = read(value)
    assert found.document["edges"] == [
        {"from": "n1", "to": "n2", "from_port": "then"},
        {"from": "n1", "to": "n3", "from_port": "else"},
    ]
    assert ("n1", "expr") in {(note.node, note.field) for note in found.report.notes}


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("gold > 1", "gold > 1"),
        ("[[GOLD]] > 3 && [[OUT:n1.x]] === 5", "GOLD > 3 and OUT.n1.x == 5"),
        ("'{{ chat.last_user }}' contains 'x' || [[VAR:model]] in ['a']", "chat.last_user contains 'x' or model in ['a']"),
        (False, "false"),
        ({"left": "gold", "op": ">=", "right": 5}, "gold >= 5"),
        ({"variable": "[[OUT3]]", "operator": "Not Contains", "value": 'a"b'}, 'OUT3 not contains "a\\"b"'),
        ({"left": "x", "op": "regex", "right": "^\\d"}, 'x matches "^\\d"'),
        (
            {"logic": "ANY", "rules": [{"left": "a", "op": "exists"}, {"left": "b", "op": "isEmpty"}]},
            "(a is not missing) or (b is empty)",
        ),
        ([{"left": "a", "op": "==", "right": None}, "b"], "(a == null) and (b)"),
    ],
)
def test_conditions_become_those_of_the_same_meaning(there: Json, here: str) -> None:
    found = read(drawn(box(1, "If", {"expression": there})))
    (node,) = found.document["nodes"]
    assert node["config"] == {"condition": here}
    assert ("x_hadtavern" in node) == (there != here)


@pytest.mark.parametrize(
    ("there", "here"),
    [("a" + " " * 500_000 + "&& b", "a and b"), ("'" + "\\'" * 250_000, None)],
    ids=["blanks", "a text without an end"],
)
def test_a_long_condition_is_looked_through_once(there: str, here: str | None) -> None:
    """Looked through once for each of its signs it would take hours."""
    (node,) = read(drawn(box(1, "If", {"expression": there}))).document["nodes"]
    assert node["config"].get("condition") == here


@pytest.mark.parametrize(
    ("there", "why"),
    [
        ("'a [[B]]' == 'a x'", "mixes words and macros"),
        ("{{ x|default(3) }} > 1", "has a filter"),
        ("[[SECRET:x]] == 1", "has no value in a condition"),
        ("int(x) > 1", "no function 'int'"),
        ("", "The condition is empty"),
        (5, "neither a text nor a row"),
        ([], "no conditions"),
        ({"left": "a", "op": "~", "right": 1}, "no operator '~'"),
        ({"op": "=="}, "nothing on its left side"),
        ({"logic": "xor", "conditions": ["a", "b"]}, "'xor' joins its conditions"),
        (loads('{"conditions": [' * 25 + "true" + "]}" * 25), "deeper in each other"),
    ],
)
def test_a_condition_without_an_equal_is_kept_and_told(there: Json, why: str) -> None:
    found = read(drawn(box(1, "If", {"condition": there})))
    (node,) = found.document["nodes"]
    (note,) = [note for note in found.report.notes if note.field == "condition"]
    assert (node["config"], node["x_hadtavern"], note.kind) == ({}, {"condition": there}, "kept")
    assert note.node == "n1" and why in note.message


async def test_a_while_becomes_a_loop_with_its_nodes_in_it() -> None:
    def sides(**ends: str) -> Json:
        return {name: {"connections": [{"node": end}]} for name, end in ends.items()}

    rows = [{"name": "n", "mode": "json", "value": "{{ n|add(1) }}"}]
    value = drawn(
        box(1, "SetVars", {"variables": [{"name": "n", "mode": "expr", "value": "0"}]}, 2),
        box(2, "while", {"condition": "[[n]] < 3", "max_loops": 20_000}, outputs=sides(output_1="3", output_2="5")),
        box(3, "SetVars", {"variables": rows}, 4),
        box(4, "SetVars", {"variables": [{"name": "SEEN", "value": "{{ n }}"}]}, 2),
        box(5, "SetVars", {"variables": [{"name": "SAY", "value": "{{ n }}"}]}),
    )
    found = read(value)
    assert [node.get("parent") for node in found.document["nodes"]] == [None, None, "n2", "n2", None]
    assert found.document["nodes"][1]["config"] == {"condition": "n < 3", "max_iterations": 10_000, "mode": "while"}
    assert [(edge["from"], edge["to"]) for edge in found.document["edges"]] == [("n1", "n2"), ("n2", "n5"), ("n3", "n4")]
    assert "answer" not in found.document
    assert {(note.node, note.field) for note in found.report.notes} == {("n2", "condition"), ("n2", "max_loops")}
    run = await execute(compile_plan("x", found.document, CATALOG))
    assert run.out["n5"] == {"vars": {"SAY": "3"}}
    value["drawflow"]["Home"]["data"]["1"]["outputs"] = sides(output_1="3", output_2="2")
    crossed = read(value).report.notes
    assert ("n1", "The connection to 'n3' leads over the border of a loop: join it to the loop itself.") in [
        (note.node, note.message) for note in crossed
    ]
    value["drawflow"]["Home"]["data"]["2"]["outputs"] = sides(output_2="5")
    assert (
        "Nothing follows the body of this while" in [note.message for note in read(value).report.notes if note.node == "n2"][-1]
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([], "no object"),
        ({}, "neither drawflow"),
        ({"drawflow": {}}, "neither drawflow"),
        ({"drawflow": {"Home": 5}}, "neither drawflow"),
        ({"nodes": []}, "no nodes"),
        ({"nodes": ["a", 5]}, "no nodes"),
        ({"nodes": [{"type": "SetVars"}] * 501}, "at most 500"),
        ({"nodes": [{"id": 1, "in": ["2"] * 20_001}]}, "more than 10000 edges"),
        ({"nodes": [{"id": 1, "type": "SetVars", "config": {"x": ["y" * 900_000] * 3}}]}, "more than 2097152 bytes"),
        ({"nodes": [{"x": loads("[" * 70 + "]" * 70)}]}, "nested deeper"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_such_file_is_refused(value: Json, reason: str) -> None:
    with pytest.raises(InvalidFile, match=reason):
        read(value)


def test_notes_are_counted_where_they_are_too_many() -> None:
    found = read({"nodes": [{"id": 1, "type": "SetVars", "config": {"variables": [5] * 900}}]})
    assert len(found.report.notes) == MAX_NOTES
    assert found.report.more == 900 - MAX_NOTES
    assert len(found.document["nodes"][0]["x_hadtavern"]) == 900


def test_a_name_of_megabytes_costs_its_length_once() -> None:
    name = "n" + "a" * 8_000_000
    ends = [{"node": str(number)} for number in range(15_000)]
    report = read(
        {"drawflow": {"Home": {"data": {name: {"class": "SetVars", "outputs": {"o": {"connections": ends}}}}}}}
    ).report
    assert (report.nodes, report.edges, len(report.notes) + report.more) == (1, 0, 15_001)


def leaves(value: Json) -> list[str]:
    """Every text in a value that the test below put there."""
    if isinstance(value, dict):
        return [text for each in value.values() for text in leaves(each)]
    if isinstance(value, list):
        return [text for each in value for text in leaves(each)]
    return [value] if isinstance(value, str) and value.startswith("kept-") else []


WORDS = """condition conditions left op right max
variables provider headers blocks template base_url extra_headers provider_configs in enabled
name mode value role text order type id class data config outputs openai other"""
NAMES = st.sampled_from(WORDS.split())
TEXTS = st.integers(0, 10**6).map(lambda number: f"kept-{number}")
ANY: Any = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(-3, 3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=12,
)
CONFIGS = st.dictionaries(NAMES, ANY, max_size=6)
FILES = st.lists(
    st.tuples(st.sampled_from(["SetVars", "ProviderCall", "RawForward", "If", "while", "Return"]), CONFIGS),
    min_size=1,
    max_size=3,
)


@given(FILES, st.booleans())
def test_whatever_settings_hold_nothing_is_lost(nodes: list[tuple[str, dict[str, Json]]], is_drawn: bool) -> None:
    boxes = [box(number, kind, config) for number, (kind, config) in enumerate(nodes, 1)]
    plain = {"nodes": [{"id": number, "type": kind, "config": config} for number, (kind, config) in enumerate(nodes, 1)]}
    found = read(drawn(*boxes) if is_drawn else plain)
    written = dumps_text(found.document)
    for _, config in nodes:
        named = {name: value for name, value in config.items() if name not in ("id", "type", "class")}
        assert [text for text in leaves(named) if text not in written and text.lower() not in written] == []
    loads(written)


@given(ANY)
def test_whatever_a_file_holds_it_is_read_or_refused(value: Json) -> None:
    for file in (value, {"nodes": value}, {"drawflow": value}, {"drawflow": {"Home": {"data": value}}}):
        try:
            found = read(file)
        except InvalidFile:
            continue
        assert found.document["format"] == 1 and found.document["nodes"]
