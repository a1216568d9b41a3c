"""JSON templates: every position, and what a mistake says."""

import pytest

from agentui.templating.core.language import Segment
from agentui.templating.core.problems import TemplateRenderError, TemplateSyntaxError
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.template import TextLanguage
from tests.unit.templating.scopes import Warnings, scope


def render(source, **changes):
    return JsonLanguage().compile(source).render(scope(**changes))


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1", 1),
        (' {"a": [1, -2.5e1, true, false, null, "x\\n\\u00e9\\ud83d\\ude00\\/"], "b": {}, "c": []} ', None),
        ("\ufeff{}", {}),
        ('{"a": {{ params }}}', {"a": {"temperature": 0.7, "max_tokens": None, "top_p": 1.0, "stop": None}}),
        ("{{ model }}", "gpt-4o-mini"),
        ('"{{ model }}"', "gpt-4o-mini"),
        ("[[model]]", "gpt-4o-mini"),
        ("[[[model]]]", ["gpt-4o-mini"]),
        ("[{{ model }}, [[model]]]", ["gpt-4o-mini", "gpt-4o-mini"]),
        ('{"{{ model }}": 1, "x-[[model]]": 2}', {"gpt-4o-mini": 1, "x-gpt-4o-mini": 2}),
        ('{"a": {{ nothing }}, "b": "{{ nothing }}", "c": [[VAR:nothing]]}', {"a": None, "b": "", "c": None}),
        ('{"a": [[NOBODY]], "b": "[[NOBODY]]"}', {"a": "[[NOBODY]]", "b": "[[NOBODY]]"}),
        ('{"a": [[true]], "b": [[1,2]], "c": [["a"]]}', {"a": [True], "b": [[1, 2]], "c": [["a"]]}),
        ('{"a": "[[true]] [[1,2]] {x} [y]"}', {"a": "[[true]] [[1,2]] {x} [y]"}),
        ('{"a": "{{ nothing|default("q") }}{{ nothing|default(\\"r\\") }}"}', {"a": "qr"}),
        ('{"a":{{ {"b":{}} }}}', {"a": {"b": {}}}),
        ('{"a":{"b":{{model}}}}', {"a": {"b": "gpt-4o-mini"}}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"t": "n={{ params.top_p }} {{ chat.messages }}"}', {"t": 'n=1.0 [{"role":"user","content":"Hi"}]'}),
    ],
)
def test_positions(source, value):
    if value is None:
        value = {"a": [1, -25.0, True, False, None, "x\né😀/"], "b": {}, "c": []}
    if "[[true]]," in source:
        value = value | {"a": [[True]]}
    assert render(source) == value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("{ [[PROMPT]] }", {"m": [1], "s": "x"}),
        ('{[[PROMPT]], "a": 1}', {"m": [1], "s": "x", "a": 1}),
        ('{"a": 1, [[PROMPT]]}', {"a": 1, "m": [1], "s": "x"}),
        ('{"a": {[[PROMPT]]}, "b": 2}', {"a": {"m": [1], "s": "x"}, "b": 2}),
        ('{"s": "early", [[PROMPT]]}', {"s": "x", "m": [1]}),
        ('{[[PROMPT]], "s": "late"}', {"m": [1], "s": "late"}),
        ('{"t": "<[[PROMPT]]>"}', {"t": '<"m":[1],"s":"x">'}),
    ],
)
def test_the_prompt_stands_for_members(source, value):
    rendered = render(source, prompt={"m": [1], "s": "x"})
    assert rendered == value
    assert list(rendered) == list(value)


def test_without_a_prompt_its_members_are_missing_and_it_warns():
    warnings = Warnings()
    assert render('{[[PROMPT]], "a": 1}', warn=warnings) == {"a": 1}
    assert len(warnings) == 1


def test_values_cannot_leave_their_place():
    evil = '"}], "model": "other", [[PROMPT]] {{ system }} \\ \u2028 \n'
    value = render('{"model": "m", "a": "<{{ x }}>", "b": {{ x }}, "c": [{{ x }}], "{{ x }}": 1}', run_vars={"x": evil})
    assert value == {"model": "m", "a": f"<{evil}>", "b": evil, "c": [evil], evil: 1}


def test_rendering_twice_gives_two_objects():
    template = JsonLanguage().compile('{"a": {"b": 1}}')
    first = template.render(scope())
    first["stream"] = True
    assert template.render(scope()) == {"a": {"b": 1}}
    given = scope(run_vars={"x": {"a": 1}})
    JsonLanguage().compile("{{ x }}").render(given)["b"] = 2
    assert given.run_vars == {"x": {"a": 1}}


@pytest.mark.parametrize(
    ("source", "line", "column", "says"),
    [
        ("", 1, 1, "too early"),
        ('{"a": }', 1, 7, "no JSON value"),
        ('{"a": 1,\n}', 2, 1, "','"),
        ("[1,]", 1, 4, "','"),
        ('{"a" 1}', 1, 6, "':'"),
        ('{"a": 1 "b": 2}', 1, 9, "','"),
        ("{a: 1}", 1, 2, "key"),
        ('{"a": "x\ny"}', 1, 9, "\\n"),
        ('{"a": "\\q"}', 1, 8, "escape"),
        ('{"a": "x', 1, 7, "not closed"),
        ('{"a": {{ x }}{{ y }}}', 1, 14, "double quotes"),
        ('{"a": 1{{ x }}}', 1, 8, "double quotes"),
        ('{"a": [[PROMPT]]}', 1, 7, "members"),
        ("[[PROMPT]]", 1, 1, "members"),
        ("{ {{ x }} }", 1, 3, "only [[PROMPT]]"),
        ("{ [[x]]: 1 }", 1, 3, "only [[PROMPT]]"),
        ('{"a": 1} x', 1, 10, "complete"),
        ('{"a": 01}', 1, 7, "no JSON value"),
        ('{"a": NaN}', 1, 7, "'NaN'"),
        ('{"a": 1e999}', 1, 7, "too large"),
        ('{"a": 1]', 1, 8, "','"),
        ("[" * 101, 1, 101, "100 levels"),
        ('{"a": "\\ud83d" }}x', 1, 17, "complete"),
    ],
)
def test_broken_json_is_named_with_its_place(source, line, column, says):
    with pytest.raises(TemplateSyntaxError) as caught:
        JsonLanguage().compile(source)
    [problem] = caught.value.problems
    assert (problem.line, problem.column, problem.code) == (line, column, "template.json")
    assert says in problem.message


def test_mistakes_in_macros_are_found_beside_broken_json():
    with pytest.raises(TemplateSyntaxError) as caught:
        JsonLanguage().compile('{"a": {{ x|nope }},\n b: {{ y|never }},\n "c": [[SECRET:k]]}')
    assert [(problem.line, problem.code) for problem in caught.value.problems] == [
        (1, "template.unknown_filter"),
        (2, "template.json"),
        (2, "template.unknown_filter"),
        (3, "template.secret_not_allowed"),
    ]


def test_a_trace_lists_the_leaves_with_macros():
    template = JsonLanguage(secrets=True).compile(
        '{"m/~": "a {{ model }}", [[PROMPT]], "l": [1, {{ params.stop }}], "k": "[[SECRET:k]]"}'
    )
    assert template.trace(scope(prompt={"messages": []}, secret=str)) == [
        ("/m~1~0", [Segment("a ", None), Segment("gpt-4o-mini", "{{ model }}")]),
        ("", [Segment('"messages":[]', "[[PROMPT]]")]),
        ("/l/1", [Segment("null", "{{ params.stop }}")]),
        ("/k", [Segment("***", "[[SECRET:k]]")]),
    ]


def test_facts_cover_the_whole_document():
    template = JsonLanguage().compile('{"{{ a.x }}": "[[OUT1]]", "b": [{"c": {{ OUT.n2.x|default(d) }}}]}')
    assert (template.reads.nodes, template.reads.numbers, template.reads.names) == ({"n1", "n2"}, {"1"}, {"a", "d"})
    assert [macro.text for macro in template.macros] == ["{{ a.x }}", "[[OUT1]]", "{{ OUT.n2.x|default(d) }}"]
    assert JsonLanguage().compile('{"a": "b"}').is_constant


def test_a_large_chat_is_fine_once_and_refused_many_times():
    large = {"chat": [{"content": "x" * 3_000_000}] * 4}
    assert render('{"m": {{ chat }}, "n": 1}', run_vars=large) == {"m": large["chat"], "n": 1}
    source = "[" + ",".join(["{{ chat }}"] * 40) + "]"
    with pytest.raises(TemplateRenderError, match="Insert less"):
        render(source, run_vars=large)
    assert len(render(source.replace("chat", "model"))) == 40


def test_strings_are_counted_over_the_whole_document():
    source = "[" + ",".join(['"<{{ big }}>"'] * 9) + "]"
    with pytest.raises(TemplateRenderError, match="longer than"):
        render(source, run_vars={"big": "x" * 1_000_000})


def laughs(levels: int, source: str = "[{{ x }},{{ x }}]"):
    """What ``levels`` nodes in a row make of it: each writes the one before it twice."""
    value = "ha"
    for _ in range(levels):
        value = render(source, run_vars={"x": value})
    return value


@pytest.mark.parametrize("source", ["[{{ x }},{{ x }}]", '{"a": {{ x }}, "b": {"c": {{ x }}}}', "{{ [x, x] }}"])
def test_a_value_that_repeats_itself_is_refused_before_it_is_written(source):
    laughs(12, source)
    with pytest.raises(TemplateRenderError, match="repeat"):
        laughs(30, source)


@pytest.mark.parametrize(
    "use", ["{{ x|json|length }}", "{{ x }}", "{{ x|truncate(1) }}", '{{ "a"|replace("a", x) }}', "{{ [x, x]|join }}"]
)
def test_what_would_be_long_as_text_is_refused_before_it_is_written(use):
    value = "ha"
    for _ in range(40):
        value = [value, value]
    with pytest.raises(TemplateRenderError, match="Insert"):
        TextLanguage().compile(use).render(scope(run_vars={"x": value}))


def test_filters_that_read_much_and_write_little_count_too():
    value = ["x" * 1000] * 1000
    source = "{{ x|truncate(1) }}" * 200
    with pytest.raises(TemplateRenderError, match="filters"):
        TextLanguage().compile(source).render(scope(run_vars={"x": value}))


def test_the_prompt_counts_as_often_as_it_stands_there():
    source = "[" + ",".join(["{[[PROMPT]]}"] * 100) + "]"
    with pytest.raises(TemplateRenderError, match="repeat"):
        render(source, prompt={"messages": [{"content": "x" * 1_000_000}]})


def test_what_nests_too_deep_to_be_written_is_refused():
    with pytest.raises(TemplateRenderError, match="nests deeper"):
        laughs(500, "[{{ x }}]")


def test_all_results_are_those_of_the_moment():
    out = {"n1": 1}
    result = render("[{{ OUT }}]", out=out)
    out["n2"] = result
    assert result == [{"n1": 1}]
