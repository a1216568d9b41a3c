"""Words, search, names, forms, tiers and estimates: what the views of the editor ask the core for."""

from typing import Any

import pytest

from agentui.chat.estimates import MESSAGE_OVERHEAD
from agentui.chat.messages import text_message
from agentui.chat.request import ChatRequest, Params, WireRequest
from agentui.pipeline.node import describe
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.tokens import estimate_tokens
from tests.browser.core import Evaluate

pytestmark = pytest.mark.browser


async def test_words_take_the_plural_of_their_language(core: Evaluate) -> None:
    said = await core(
        """
        const ru = i18n.createTranslator({"a.nodes.one": "{n} узел", "a.nodes.few": "{n} узла", "a.nodes.many": "{n} узлов",
          "a.hi": "Привет, {name}! {who}"}, "ru",
          {"a.only.one": "one thing", "a.only.other": "{n} things", "a.x": "English"});
        const zh = i18n.createTranslator({"a.nodes.other": "{n} 个"}, "zh");
        return [...[1, 3, 5, 21, 1234].map((n) => ru("a.nodes", {n})), ru("a.hi", {name: "<b>{who}", n: 5}), ru("a.only",
          {n: 5}), ru("a.x"), ru("a.missing", {n: 1}), zh("a.nodes", {n: 1}), zh("toString")];"""
    )
    assert said == [
        "1 узел", "3 узла", "5 узлов", "21 узел", "1\u00a0234 узла", "Привет, <b>{who}! {who}", "5 things", "English",
          "a.missing", "1 个", "toString",
    ]  # fmt: skip


async def test_search_finds_what_was_meant_first(core: Evaluate) -> None:
    result = await core(
        """
        const items = ["Set variables", "Provider call", "Raw forward", "Vararg tools", "Überschrift İstanbul"];
        const find = (query) => search.fuzzy(query, items, (item) => item);
        return {empty: find("").length, var: find("var"), letters: find("rf"), words: find("call prov"), none: find("zzz"),
          wide: find("istan"), order: find("a").length};"""
    )
    assert result["empty"] == 5
    assert result["var"][:2] == ["Vararg tools", "Set variables"]
    assert result["letters"][0] == "Raw forward"
    assert result["words"] == ["Provider call"]
    assert result["none"] == []
    assert result["wide"][0] == "Überschrift İstanbul"


async def test_every_text_of_a_document_is_searched(core: Evaluate) -> None:
    document: Any = {
        "format": 1,
        "name": "Gold",
        "nodes": [
            {
                "id": "gold",
                "type": "X",
                "title": "The GOLD",
                "config": {"a": [{"b": "x" * 50 + "gold\ngold" + "y" * 50}], "n": 5},
                "position": {"x": 0, "y": 0},
            }
        ],
        "edges": [],
        "view": {"notes": [{"id": "t1", "text": "gold*"}], "frames": [{"id": "f1", "title": "no"}]},
    }
    found = await core(
        "return arg.queries.map((query) => search.findInDocument(arg.document, query))",
        {"document": document, "queries": ["gold", "gold*", "(", ""]},
    )
    assert [(each["node"], each["field"], each["from"], each["to"]) for each in found[0]] == [
        (None, "name", 0, 4),
        ("gold", "id", 0, 4),
        ("gold", "title", 4, 8),
        ("gold", "a.0.b", 50, 54),
        ("gold", "a.0.b", 55, 59),
        (None, "notes.t1.text", 0, 4),
    ]
    inner = found[0][3]
    assert inner["excerpt"][inner["excerptFrom"] :].startswith("gold gold") and len(inner["excerpt"]) == 64
    assert [each["field"] for each in found[1]] == ["notes.t1.text"]
    assert found[2:] == [[], []]


async def test_names_are_those_that_a_node_can_read(core: Evaluate) -> None:
    document = {
        "format": 1,
        "name": "N",
        "nodes": [
            {
                "id": "n1",
                "type": "SetVars",
                "title": "First",
                "config": {"variables": [{"name": "A", "value": ""}, {"name": "gold", "tier": "chat", "value": ""}]},
            },
            {"id": "n2", "type": "ProviderCall", "config": {}},
            {"id": "n3", "type": "SetVars", "title": "Second", "config": {"variables": [{"name": "A", "value": ""}]}},
            {"id": "off", "type": "SetVars", "enabled": False, "config": {"variables": [{"name": "HIDDEN", "value": ""}]}},
            {"id": "here", "type": "ProviderCall", "config": {"provider": "claude"}},
            {"id": "later", "type": "SetVars", "config": {"variables": [{"name": "LATER", "value": ""}]}},
        ],
        "edges": [
            {"from": a, "to": b} for a, b in (("n1", "n2"), ("n2", "n3"), ("n3", "off"), ("off", "here"), ("here", "later"))
        ],
    }
    known = {
        "contextNames": {"names": ["model", "A"], "paths": ["chat.last_user"]},
        "lastOut": {"n2": {"response_text": "Hi", "usage": {"total tokens": 3}}},
        "lastVars": {"A": 5},
        "stored": [
            {"name": "mood", "tier": "global", "value": "g"},
            {"name": "mood", "tier": "page", "value": "p"},
            {"name": "a b", "tier": "chat", "value": None},
        ],
    }
    names = {
        each["name"]: each
        for each in await core(
            "return names.visibleNames(arg.document, 'here', arg.known)", {"document": document, "known": known}
        )
    }
    assert names["A"] == {"name": "A", "insert": "{{ A }}", "kind": "variable", "origin": "n3", "detail": "Second", "value": 5}
    assert names["OUT2"] == {
        "name": "OUT2",
        "insert": "[[OUT2]]",
        "kind": "short-out",
        "origin": "n2",
        "detail": "ProviderCall",
        "value": "Hi",
    }
    assert names['OUT.n2.usage["total tokens"]']["value"] == 3
    assert names["OUT.n1.vars.A"]["kind"] == "out" and names["OUT.n1.stored.chat.gold"]["origin"] == "n1"
    assert names["mood"]["value"] == "p" and names["vars.global.mood"]["value"] == "g"
    assert names['vars.chat["a b"]']["value"] is None and "a b" not in names
    assert names["gold"]["origin"] == "chat"
    assert names["model"]["kind"] == "context" and names["chat.last_user"]["insert"] == "{{ chat.last_user }}"
    assert names["pm.system"]["kind"] == "own" and names["PROMPT"]["insert"] == "[[PROMPT]]"
    assert not {"HIDDEN", "LATER", "OUT.off", "OUT.here", "OUT.later"} & set(names)
    # Every macro that is offered can be read.
    read = await core(
        "return arg.map((text) => macros.tokenise(text).map((token) => token.kind))",
        [each["insert"] for each in names.values()],
    )
    assert all(len(kinds) == 1 and kinds[0] not in ("text", "error") for kinds in read)


async def test_forms_of_the_shipped_types_begin_valid(core: Evaluate) -> None:
    types = [describe(kind) for kind in BUILTIN.values()]
    forms = await core(
        """
        const read = schema;
        const short = (field) => [field.name, field.kind, field.nullable, field.required, field.ui, field.item &&
          short(field.item), field.fields.map(short), field.alternatives.map(short)];
        return arg.map(({type, schema, defaults}) => {
          const fields = read.resolveSchema(schema);
          return {type, fields: fields.map(short), wrong: fields.map((field) => read.validateValue(field,
            read.defaultOf(field))).filter(Boolean),
            defaults: fields.map((field) => read.validateValue(field, defaults[field.name])).filter(Boolean)};
        });""",
        types,
    )
    by_type = {form["type"]: {field[0]: field for field in form["fields"]} for form in forms}
    assert all(form["wrong"] == [] and form["defaults"] == [] for form in forms)
    call = by_type["ProviderCall"]
    fields = "provider base_url endpoint headers proxy model blocks session_model ignore_profiles capabilities prompt_cache tools template"
    answer = "response_schema validate_retries extract extract_expression"
    routing = "targets strategy on_errors at_once sticky cooldown_s cache_s cache_for cache_tool_calls"
    assert list(call) == fields.split() + answer.split() + routing.split()
    assert {field[0] for field in call["targets"][5][6]} >= {"preset", "secret", "weight", "timeout_s"}
    assert call["provider"][1] == "choice" and call["headers"][1] == "map" and call["headers"][5][1] == "text"
    block = {field[0]: field for field in call["blocks"][5][6]}
    assert block["last"][1:3] == ["integer", True] and block["enabled"][1] == "boolean" and block["text"][4] == "macro"
    assert [each[1] for each in by_type["RawForward"]["extra_headers"][7]] == ["map", "text"]
    assert by_type["SetVars"]["variables"][5][6][0][:4] == ["name", "text", False, True]


async def test_values_that_do_not_fit_are_told_with_code_and_place(core: Evaluate) -> None:
    form = {
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "next": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}},
                "required": ["name"],
            }
        },
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^[a-z😀]*$"},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "share": {"type": "number", "exclusiveMaximum": 1, "multipleOf": 0.1},
            "kind": {"enum": ["a", 2, None]},
            "tree": {"allOf": [{"$ref": "#/$defs/Tree"}], "title": "The tree"},
            "trees": {"type": "array", "items": {"$ref": "#/$defs/Tree"}, "maxItems": 2},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "types": {"type": ["string", "null"]},
            "lost": {"$ref": "#/$defs/Nobody"},
        },
        "required": ["text"],
    }
    values: list[list[Any]] = [
        ["text", "ab"], ["text", "😀😀😀"], ["text", ""], ["text", "abcd"], ["text", "A"], ["text", 5],
        ["count", 5], ["count", 0], ["count", 10], ["count", 1.5], ["share", 0.3], ["share", 1], ["share", 0.35], ["kind",
          2], ["kind", "2"], ["kind", None],
        ["tree", {"name": "a", "next": {"name": "b", "next": None}}], ["tree", {"name": "a", "next": {"next": None}}],
          ["trees", [{"name": "a"}, {}]], ["trees", [{"name": "a"}] * 3],
        ["either", 5], ["either", False], ["types", None], ["types", 5], ["lost", {"any": 1}], ["tree", None],
    ]  # fmt: skip
    result = await core(
        """
        const fields = schema.resolveSchema(arg.form);
        const field = (name) => fields.find((each) => each.name === name);
        return {misfits: arg.values.map(([name, value]) => { const wrong = schema.validateValue(field(name), value);
          return wrong && [wrong.code, ...wrong.path]; }),
          missing: schema.validateValue(field("text"), undefined), optional: schema.validateValue(field("count"), undefined),
            title: field("tree").title,
          defaults: fields.map((each) => schema.defaultOf(each)), empty: schema.resolveSchema({})};""",
        {"form": form, "values": values},
    )
    assert result["misfits"] == [
        None, None, ["minLength"], ["maxLength"], ["pattern"], ["type"],
        None, ["minimum"], ["maximum"], ["type"], None, ["exclusiveMaximum"], ["multipleOf"], None, ["choice"], None,
        None, ["required", "next", "name"], ["required", 1, "name"], ["maxItems"],
        None, ["type"], None, ["type"], None, ["type"],
    ]  # fmt: skip
    assert result["missing"] == {"code": "required", "params": {}, "path": []}
    assert result["optional"] is None and result["title"] == "The tree" and result["empty"] == []
    assert result["defaults"] == ["", 1, 0, "a", {"name": ""}, [], "", None, None]


async def test_the_nearest_tier_wins_even_with_null(core: Evaluate) -> None:
    rows = await core(
        "return tiers.table(arg)",
        [
            {"name": "b10", "tier": "global", "value": 1},
            {"name": "b2", "tier": "branch", "value": None, "version": 7},
            {"name": "b2", "tier": "chat", "value": 1},
            {"name": "b2", "tier": "chat", "value": 2},
            {"name": "b2", "tier": "moon", "value": 3},
            {"key": "a", "tier": "page", "value": {"x": 1}},
        ],
    )
    assert [row["key"] for row in rows] == ["a", "b2", "b10"]
    assert (
        rows[1]["winner"] == "branch" and rows[1]["branch"] == {"value": None, "version": 7} and rows[1]["chat"] == {"value": 2}
    )
    assert "global" not in rows[1] or rows[1]["global"] is None
    assert rows[2]["winner"] == "global" and rows[0]["winner"] == "page"


async def test_tokens_are_estimated_as_the_server_estimates_them(core: Evaluate) -> None:
    texts = [
        "a",
        "Hello, world!",
        "Привет, мир",
        "漢字かな交じり文",
        "😀 ok 🎲🎲",
        "é" * 7,
        "a" * 1000 + "漢" * 10,
        "\u2e7f\u2e80",
        "line\nline\t",
    ]
    counted = await core("return arg.map((text) => estimate.estimateTokens(text))", ["", *texts])
    assert counted == [0, *(estimate_tokens(asked(text)) - MESSAGE_OVERHEAD for text in texts)]


def asked(text: str) -> ChatRequest:
    """A request of one message."""
    wire = WireRequest(vendor="openai", operation="chat", model="m", stream=False, path="/", body={})
    return ChatRequest(vendor="openai", model="m", messages=(text_message("user", text),), params=Params(), wire=wire)
