"""Every example of the user's VARIABLES.md (HadTavern), part by part."""

from random import Random

import pytest

from agentui.templating.hadtavern.expressions import compile_expression
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.template import TextLanguage
from tests.unit.templating.scopes import CONTEXT, Warnings, scope
from tests.unit.templating.seed import CLAUDE_TEMPLATE, GEMINI_TEMPLATE, OPENAI_TEMPLATE

SURPLUS = f"{GEMINI_TEMPLATE}\n}}"
"""As the guide has it: with one closing brace too many."""

OUT = {
    "n1": {"result": {"choices": [{"message": {"content": "from openai"}}]}, "response_text": "from openai"},
    "n2": {"result": {"candidates": [{"content": {"parts": [{"text": "from gemini"}]}}]}},
    "n3": {"result": {"content": [{"type": "text", "text": "from "}, {"type": "text", "text": "claude"}]}},
    "n4": {"result": {"answer": {"deep": [{"text": "from afar"}]}}},
}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("[[VAR:incoming.api_keys.key]]", "gem-1"),
        ("[[VAR:incoming.headers.x-api-key]]", "ant-1"),
        ("{{ params.temperature|default(0.7) }}", "0.7"),
        ("{{ model }} {{ vendor_format }} {{ system }}", "gpt-4o-mini openai Be kind."),
        ("{{ chat.last_user }} {{ chat.messages }}", 'Hi [{"role":"user","content":"Hi"}]'),
        ("[[VAR:incoming.json.max_tokens]]", "128"),
        ("[[VAR:incoming.api_keys.authorization]]", "Bearer sk-1"),
        ("[[VAR:incoming.headers.authorization]]", "Bearer sk-1"),
        ("[[VAR:incoming.path]]", "/v1/chat/completions"),
        ("…?key=[[VAR:incoming.api_keys.key]]", "…?key=gem-1"),
        ("https://generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com"),
        ("{{ incoming.json.stop|default([]) }}", "[]"),
        ("{{ anthropic_version|default('2023-06-01') }}", "2023-06-01"),
    ],
)
def test_parts_1_3_and_9_context_paths(source, text):
    assert TextLanguage().compile(source).render(scope()) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("[[OUT:n1.result.choices.0.message.content]]", "from openai"),
        ("{{ OUT.n1.result.choices.0.message.content }}", "from openai"),
        ("[[OUT1]] / [[OUT2]] / [[OUT3]] / [[OUT4]]", "from openai / from gemini / from claude / from afar"),
        ("{{ OUT.n4.result }}", '{"answer":{"deep":[{"text":"from afar"}]}}'),
        ("[[OUT:n1.response_text]]", "from openai"),
        ("[[VAR:OUT.n1.response_text]]", "from openai"),
    ],
)
def test_part_2_results_of_nodes(source, text):
    assert TextLanguage().compile(source).render(scope(out=OUT)) == text


def test_part_2_reads_are_known_before_anything_runs():
    template = TextLanguage().compile("[[OUT:n1.result]] {{ OUT.n2.result|default(OUT['n-3'].x) }} [[OUT4]] [[VAR:OUT.n5]]")
    assert template.reads.nodes == {"n1", "n2", "n-3", "n4", "n5"}
    assert template.reads.numbers == {"4"}


@pytest.mark.parametrize(
    ("pm", "sources"),
    [
        (
            {"messages": [{"role": "user", "content": "Hi", "name": "a"}], "system_text": "S"},
            ["pm.messages", "pm.system_text"],
        ),
        (
            {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "systemInstruction": {}, "system_text": "S"},
            ["pm.contents", "pm.systemInstruction", "pm.system_text"],
        ),
        (
            {"system_text": "S", "system": "S", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]},
            ["pm.system", "pm.system_text", "pm.messages"],
        ),
    ],
)
def test_part_4_pm_is_inserted_as_real_json(pm, sources):
    for source in sources:
        template = JsonLanguage().compile(f'{{"x": {{{{ {source} }}}}}}')
        assert template.render(scope(own={"pm": pm})) == {"x": pm[source.removeprefix("pm.")]}


def test_part_5_the_openai_body():
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": 'quote " and [[NAME]]'}]
    body = JsonLanguage().compile(OPENAI_TEMPLATE).render(scope(prompt={"messages": messages}))
    assert list(body.items()) == [
        ("model", "gpt-4o-mini"),
        ("messages", messages),
        ("temperature", 0.25),
        ("top_p", 1.0),
        ("max_tokens", 128),
        ("stop", []),
    ]


def test_part_5_the_gemini_body_with_its_surplus_brace():
    template = JsonLanguage().compile(SURPLUS)
    prompt = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "systemInstruction": {"parts": [{"text": "S"}]}}
    config = {"temperature": 0.1, "stopSequences": ["x"]}
    incoming = CONTEXT["incoming"] | {"json": {"generationConfig": config}}
    assert template.render(scope(prompt=prompt, context=CONTEXT | {"incoming": incoming})) == {
        "model": "gpt-4o-mini",
        **prompt,
        "safetySettings": [],
        "generationConfig": {"temperature": 0.1, "topP": 1.0, "maxOutputTokens": 256, "stopSequences": ["x"]},
    }
    [warning] = template.warnings
    assert (warning.severity, warning.code, warning.line, warning.column) == (
        "warning",
        "template.surplus_brackets",
        12,
        1,
    )


def test_part_5_the_claude_body_says_system_twice_and_the_last_wins():
    prompt = {"system": "from blocks", "messages": [{"role": "user", "content": "Hi"}]}
    template = JsonLanguage().compile(CLAUDE_TEMPLATE)
    body = template.render(scope(prompt=prompt, own={"pm": {"system": "from pm"}}))
    assert body["system"] == "from pm"
    assert body["messages"] == prompt["messages"]
    assert template.render(scope(prompt=prompt))["system"] == ""


@pytest.mark.parametrize(("query", "trace"), [({"session": "s-1"}, "req-s-1"), ({}, "req-no-session")])
def test_part_5_extra_headers_of_raw_forward(query, trace):
    source = """{"X-Trace":"req-{{ incoming.query_params.session|default('no-session') }}"}"""
    given = scope(context={"incoming": {"query_params": query}})
    assert JsonLanguage().compile(source).render(given) == {"X-Trace": trace}
    header = "req-{{ incoming.query_params.session|default('no-session') }}"
    assert TextLanguage().compile(header).render(given) == trace


def test_part_7_curly_forms_insert_what_the_value_is():
    contents = [{"role": "user", "parts": []}]
    body = JsonLanguage().compile('{"contents": {{ pm.contents }}, "t": {{ params.temperature|default(0.7) }}}')
    assert body.render(scope(own={"pm": {"contents": contents}})) == {"contents": contents, "t": 0.7}


def test_set_vars_use_in_strings_and_in_json():
    run_vars = {"AUTH": "Bearer Bearer sk-1", "MAX_TOKENS": 192, "GEN_CFG": {"topP": 0.9}, "MY_KEY": "k", "MY_LIST": [0.1]}
    given = scope(run_vars=run_vars)
    assert TextLanguage().compile("Bearer [[VAR:incoming.headers.authorization]]").render(given) == run_vars["AUTH"]
    assert TextLanguage().compile("[[AUTH]]").render(given) == run_vars["AUTH"]
    body = JsonLanguage().compile(
        '{"max_tokens": {{ MAX_TOKENS }}, "generationConfig": {{ GEN_CFG }}, "k": "[[MY_KEY]]", "numbers": {{ MY_LIST }}}'
    )
    assert body.render(given) == {"max_tokens": 192, "generationConfig": {"topP": 0.9}, "k": "k", "numbers": [0.1]}


def test_set_vars_strings_may_hold_the_prompt():
    messages = [{"role": "user", "content": 'a "b"'}]
    warnings = Warnings()
    template = TextLanguage(prompt=True).compile("<[[PROMPT]]>")
    assert template.render(scope(prompt={"messages": messages})) == r'<"messages":[{"role":"user","content":"a \"b\""}]>'
    assert template.render(scope(warn=warnings)) == "<>"
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("128 + 64", 192),
        ("(5 * 60) + 30", 330),
        ("42 % 2", 0),
        ("-5", -5),
        ("23 // 10", 2),
        ('"eu" + "-central"', "eu-central"),
        ("(2 < 3) and (10 % 2 == 0)", True),
        ("1 < 2 < 5", True),
        ('["fast", "safe"]', ["fast", "safe"]),
        ('{"temperature": 0.3, "topP": 0.9, "safe": true}', {"temperature": 0.3, "topP": 0.9, "safe": True}),
        ("true", True),
        ("false", False),
        ("null", None),
        ('[true, null, {"a": false}]', [True, None, {"a": False}]),
    ],
)
def test_set_vars_formulas(source, value):
    result = compile_expression(source).evaluate(Random(1))
    assert result == value
    assert type(result) is type(value)


def test_set_vars_chance():
    random = Random(7)
    rand, dice = compile_expression("rand()"), compile_expression("randint(1, 6)")
    pick = compile_expression('choice(["gpt-4o-mini", "gpt-4o", "o3-mini"])')
    numbers = compile_expression("[rand(), rand(), rand()]").evaluate(random)
    assert all(0 <= rand.evaluate(random) < 1 for _ in range(100))
    assert {dice.evaluate(random) for _ in range(300)} == {1, 2, 3, 4, 5, 6}
    assert {pick.evaluate(random) for _ in range(100)} == {"gpt-4o-mini", "gpt-4o", "o3-mini"}
    assert len(set(numbers)) == 3


def test_the_vars_of_the_context():
    given = scope(
        run_vars={"gold": 1, "chat": "shadow"},
        variables={"gold": 2, "silver": 3},
        tiers={"global": {"gold": 4}, "chat": {"gold": 5}, "floor": {"bag": {"gold": 6}}},
    )
    source = "{{ vars.gold }} {{ vars.global.gold }} {{ vars.chat.gold }} {{ vars.floor.bag.gold }} {{ vars.run.gold }}"
    assert TextLanguage().compile(source).render(given) == "1 4 5 6 1"
    assert TextLanguage().compile("[[VAR:vars.gold]]{{ vars.page.gold }}{{ vars.silver }}|{{ silver }}").render(given) == "1|3"
    assert JsonLanguage().compile("{{ vars }}").render(given) == {"gold": 1, "chat": "shadow"}
