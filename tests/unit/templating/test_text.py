"""Text templates: what is a macro, what a name means, what goes wrong and where."""

from types import MappingProxyType

import pytest

from agentui.templating.core.language import Segment
from agentui.templating.core.problems import TemplateRenderError, TemplateSyntaxError
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.template import TextLanguage
from tests.unit.templating.scopes import CONTEXT, Warnings, scope


def render(source, **changes):
    return TextLanguage().compile(source).render(scope(**changes))


@pytest.mark.parametrize(
    "source",
    [
        "",
        "plain",
        "[[true]] [[false]] [[null]] [[none]]",
        "[[1,2]] [[1]] [[[1]]]",
        '[["a"]] [[]]',
        "[[two words]] [[a.b]] [[ä]] [[1a]]",
        "{ } }} ]] [x] {%",
        "{# lone",
        "[[NAME",
        "}}{",
    ],
)
def test_text_that_holds_no_macro_stays(source):
    template = TextLanguage().compile(source)
    assert template.is_constant
    assert template.render(scope()) == source


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ '{{' }} {{ '[[NAME]]' }} {{ '{%' }}", "{{ [[NAME]] {%"),
        ("[[[model]]]", "[gpt-4o-mini]"),
        ("{{model}}}", "gpt-4o-mini}"),
        ("[[ model ]] [[ VAR : model ]]", "gpt-4o-mini gpt-4o-mini"),
        ("{{\n  model\n}}", "gpt-4o-mini"),
        ('{{ incoming.headers["dots.in"] }}[[VAR:incoming.headers["dots.in"]]]', "yesyes"),
        ("{{ chat.messages[0].role }} {{ chat['messages'][-1]['role'] }} {{ chat.messages.0.role }}", "user user user"),
        ("{{ chat.messages.1.role }}{{ chat.messages.role }}{{ model.0 }}{{ model[0] }}", ""),
        ("{{ true }} {{ none }} {{ null }} {{ -1.5e2 }} {{ 'é\\u00e9\\n' }}", "true   -150.0 éé\n"),
        ("{{ [1, model, nothing, {'a': [true]}] }}", '[1,"gpt-4o-mini",null,{"a":[true]}]'),
        ("{{ (nothing|default(chat)).last_user }}", "Hi"),
        ("{{ nothing|default(also.nothing|default(params.stop|default('x'))) }}", "x"),
        ("{{ incoming.json.max_tokens|default(1) }} {{ params.max_tokens|default(1) }}", "128 1"),
    ],
)
def test_macros_become_text(source, text):
    assert render(source) == text


@pytest.mark.parametrize("value", [0, False, "", []])
def test_default_leaves_values_that_are_merely_empty(value):
    assert JsonLanguage().compile("{{ x|default(5) }}").render(scope(run_vars={"x": value})) == value


def test_null_and_missing_are_empty_in_text():
    assert render("<{{ x }}{{ y.z }}[[VAR:y]][[OUT:n1.x]][[OUT1]]{{ OUT.n9 }}[[x]]>", run_vars={"x": None}) == "<>"


def test_what_is_inserted_is_not_read_again():
    text = "[[VAR:model]] {{ model }} [[OUT1]] [[SECRET:k]] {% x %}"
    assert render("{{ x }}[[x]][[VAR:x]]", run_vars={"x": text}) == text * 3


def test_unknown_bare_names_stay_and_warn():
    warnings = Warnings()
    assert render("[[NOBODY]] [[ Nobody ]]", warn=warnings) == "[[NOBODY]] [[ Nobody ]]"
    assert len(warnings) == 2


def test_names_are_searched_from_near_to_far():
    names = {"own": {"a": 1}, "run_vars": {"a": 2, "b": 2}, "variables": {"a": 3, "b": 3, "c": 3}}
    context = {"a": 4, "b": 4, "c": 4, "d": 4}
    assert render("{{ a }}{{ b }}{{ c }}{{ d }}[[a]][[b]][[c]][[d]]", context=context, **names) == "12341234"
    assert render("[[VAR:a]][[VAR:b]]", context={"b": 4}, **names) == "14"


def test_a_lazy_context_is_only_asked_for_what_is_read():
    class Lazy(dict):
        def __getitem__(self, key):
            raise AssertionError("not asked for")

        def get(self, key, default=None):
            asked.append(key)
            return default

    asked: list[str] = []
    assert render("{{ x }} [[VAR:model]]", context=Lazy(), run_vars={"x": 1}) == "1 "
    assert asked == ["model"]


@pytest.mark.parametrize("key", ["items", "keys", "__class__", "get", "__len__", "0"])
def test_keys_are_data_and_never_attributes(key):
    assert render(f"{{{{ d.{key} }}}}[[VAR:d.{key}]]", run_vars={"d": {}}) == ""
    assert render(f"{{{{ d.{key} }}}}", run_vars={"d": {key: "mine"}}) == "mine"
    assert render(f"{{{{ s.{key} }}}}{{{{ l.{key} }}}}", run_vars={"s": "text", "l": []}) == ""


def test_read_only_values_are_written_as_json():
    frozen = MappingProxyType({"a": ({"b": MappingProxyType({})},)})
    assert render("{{ x }} {{ x.a.0 }}", run_vars={"x": frozen}) == '{"a":[{"b":{}}]} {"b":{}}'
    assert JsonLanguage().compile("{{ x }}").render(scope(run_vars={"x": frozen})) == {"a": [{"b": {}}]}


def test_lone_surrogates_and_huge_integers_pass():
    text = render("{{ x }}{{ y }}", run_vars={"x": "\ud800", "y": ["\ud800", 2**200]})
    assert text.startswith("\ud800[")
    assert text.endswith(f"{2**200}]")
    assert JsonLanguage().compile('{"{{ x }}": "{{ x }}"}').render(scope(run_vars={"x": "\ud800"})) == {"\ud800": "\ud800"}


def test_macros_are_listed_for_the_editor():
    template = TextLanguage(secrets=True, prompt=True).compile(
        "a\n{{ model }}é[[OUT:n1]][[OUT1]]\n[[x]][[VAR:y.z]][[PROMPT]][[SECRET:k]]"
    )
    assert [(macro.text, macro.kind, macro.line, macro.column) for macro in template.macros] == [
        ("{{ model }}", "expression", 2, 1),
        ("[[OUT:n1]]", "out", 2, 13),
        ("[[OUT1]]", "best", 2, 23),
        ("[[x]]", "name", 3, 1),
        ("[[VAR:y.z]]", "var", 3, 6),
        ("[[PROMPT]]", "prompt", 3, 17),
        ("[[SECRET:k]]", "secret", 3, 27),
    ]
    assert all(template.source[macro.start : macro.end] == macro.text for macro in template.macros)
    assert template.reads.names == {"model", "x", "y"}
    assert not template.is_constant


def test_a_template_tells_what_it_reads_of_a_tier():
    one = TextLanguage().compile('{{ vars.chat.gold }} [[VAR:vars.page["a.b"].c]] {{ vars.run.hp }} {{ vars.mood }}')
    assert (one.reads.names, one.reads.tier_names) == (set(), {"gold", "a.b"})
    whole = TextLanguage().compile("{{ vars.chat|json }} {{ vars.floor.x }}")
    assert (whole.reads.names, whole.reads.tier_names) == ({"vars"}, {"x"})


def test_a_trace_tells_where_text_came_from_and_hides_secrets():
    template = TextLanguage(secrets=True).compile("Bearer [[SECRET:k]] {{ model }}")
    given = scope(secret={"k": "sk-9"}.__getitem__)
    assert template.render(given) == "Bearer sk-9 gpt-4o-mini"
    [(pointer, segments)] = template.trace(given)
    assert pointer is None
    assert segments == [
        Segment("Bearer ", None),
        Segment("***", "[[SECRET:k]]"),
        Segment(" ", None),
        Segment("gpt-4o-mini", "{{ model }}"),
    ]


def test_a_secret_without_secrets_is_an_error():
    with pytest.raises(TemplateRenderError) as caught:
        TextLanguage(secrets=True).compile("a\n [[SECRET:k]]").render(scope())
    assert (caught.value.line, caught.value.column) == (2, 2)


@pytest.mark.parametrize(
    ("source", "line", "column", "code", "says"),
    [
        ("\n x {% if a %}", 2, 4, "template.syntax", "no statements"),
        ("{# note #}", 1, 1, "template.syntax", "no comments"),
        ("{{ a + 1 }}", 1, 6, "template.syntax", "'+'"),
        ("{{ a|nope }}", 1, 6, "template.unknown_filter", "truncate"),
        ("{{ a.b() }}", 1, 1, "template.syntax", "called"),
        ("{{ a", 1, 1, "template.syntax", "not closed"),
        ("{{ 'a }}", 1, 4, "template.syntax", "same quote"),
        ("{{ }}", 1, 1, "template.syntax", "nothing"),
        ("{{ a if b else c }}", 1, 6, "template.syntax", "'if'"),
        ("{{ a[b] }}", 1, 1, "template.syntax", "brackets"),
        ("{{ a b }}", 1, 1, "template.syntax", "understood"),
        ("{{ .a }}", 1, 4, "template.syntax", "no name"),
        ("{{ [1) }}", 1, 6, "template.syntax", "closes nothing"),
        ("{{ {1: 2} }}", 1, 1, "template.syntax", "keys"),
        ("{{ (1, 2) }}", 1, 1, "template.syntax", "square brackets"),
        ("{{ x|default }}", 1, 6, "template.syntax", "one argument"),
        ("{{ x|replace('a') }}", 1, 6, "template.syntax", "two arguments"),
        ("{{ x|default(value=1) }}", 1, 19, "template.syntax", "'='"),
        ("{{ 1e999 }}", 1, 4, "template.syntax", "too large"),
        ("{{ PROMPT }}", 1, 4, "template.syntax", "[[PROMPT]]"),
        ("{{ SECRET.k }}", 1, 4, "template.syntax", "[[SECRET:name]]"),
        ("{{ OUT1.x }}", 1, 4, "template.syntax", "OUT.n1"),
        ("{{ " + "[" * 31, 1, 34, "template.syntax", "30"),
        ("{{ x" + "|trim" * 51 + " }}", 1, 1, "template.syntax", "50 filters"),
        ("{{ x" + ".a" * 101 + " }}", 1, 4, "template.syntax", "100 steps"),
        ("{{ x|1 }}", 1, 1, "template.syntax", "filter's name"),
        ("[[VAR:x" + ".a" * 100 + "]]", 1, 1, "template.syntax", "100 steps"),
        ("[[VAR:a|default(1)]]", 1, 1, "template.syntax", "{{ path|default(1) }}"),
        ("[[VAR:a", 1, 1, "template.syntax", "not closed"),
        ("[[VAR:]]", 1, 1, "template.syntax", "no path"),
        ("[[VAR:a..b]]", 1, 1, "template.syntax", "no path"),
        ("[[VAR]]", 1, 1, "template.syntax", "which one"),
        ("[[SECRET:k]]", 1, 1, "template.secret_not_allowed", "headers"),
        ("[[SECRET: ]]", 1, 1, "template.syntax", "name"),
        ("[[PROMPT]]", 1, 1, "template.prompt_not_allowed", "ProviderCall"),
    ],
)
def test_mistakes_are_named_with_their_place(source, line, column, code, says):
    with pytest.raises(TemplateSyntaxError) as caught:
        TextLanguage().compile(source)
    [problem] = caught.value.problems
    assert (problem.line, problem.column, problem.code, problem.severity) == (line, column, code, "error")
    assert says in problem.message


def test_all_mistakes_are_found_at_once():
    with pytest.raises(TemplateSyntaxError) as caught:
        TextLanguage().compile("{{ a|x }}\n[[SECRET:k]] {% if %} {{ a + b }} [[VAR:]]")
    assert [(problem.line, problem.column) for problem in caught.value.problems] == [(1, 6), (2, 1), (2, 14), (2, 28), (2, 35)]


@pytest.mark.parametrize(
    "source",
    [
        "x" * (1024 * 1024 + 1),
        "[[a]]" * 10_001,
        "{{" * 200_000,
        "{%" * 200_000 + "%}",
        "[[VAR:" * 100_000,
        "{{ '" * 100_000,
        "{{ [" + "1," * 101_000 + "] }}",
        ("{{ [" + "1," * 20_000 + "] }}") * 6,
    ],
)
def test_sources_beyond_the_limits_are_refused(source):
    with pytest.raises(TemplateSyntaxError):
        TextLanguage().compile(source)


@pytest.mark.parametrize("source", ["{%" * 300_000, "[[" * 300_000, "[[ " * 300_000, "{#" * 300_000])
def test_long_sources_of_half_macros_are_text(source):
    assert TextLanguage().compile(source).render(scope()) == source


@pytest.mark.parametrize(
    "source",
    [
        "{{ big }}" * 9,
        "{{ big|upper }}" * 9,
        "{{ list|join(big) }}",
        "{{ big|replace('x', 'yyyyyyyyyy') }}",
        "{{ big|upper|length }}" * 40,
        "{{ tree|json|length }}" * 40,
        "{{ deep }}",
    ],
)
def test_results_beyond_the_limits_are_refused_at_their_macro(source):
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    big = "x" * 1_000_000
    with pytest.raises(TemplateRenderError) as caught:
        render(source, run_vars={"big": big, "list": [1] * 20, "tree": [big], "deep": deep})
    assert caught.value.line == 1


def test_the_scope_is_left_as_it_was():
    given = scope()
    before = repr(given)
    render("{{ chat }} {{ incoming.headers }} {{ params|json }}")
    assert repr(given) == before
    assert given.context is CONTEXT
