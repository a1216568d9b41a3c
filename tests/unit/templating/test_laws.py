"""Laws: whatever the values and the sources, templates keep their promises."""

import ast
import json
import math
import warnings
from random import Random

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from agentui.jsonio import dumps, loads
from agentui.templating.core.problems import TemplateRenderError, TemplateSyntaxError
from agentui.templating.hadtavern.expressions import compile_expression
from agentui.templating.hadtavern.formulas.tokens import ExpressionError
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.template import TextLanguage
from tests.unit.templating.scopes import scope

NASTY = st.sampled_from(
    [
        "[[x]]",
        "[[VAR:model]]",
        "{{ model }}",
        "[[PROMPT]]",
        "[[SECRET:k]]",
        "{% x %}",
        '"',
        "\\",
        "\n",
        "\u2028",
        "}",
        "\0",
        "[[OUT1]]",
    ]
)
TEXT = st.one_of(st.text(), st.lists(st.one_of(NASTY, st.text(max_size=4)), max_size=6).map("".join))
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)


def as_text(value):
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps(value).decode()


@given(VALUES)
def test_a_value_stands_in_its_place_and_the_result_is_json(value):
    source = """{"v": {{ x }}, "b": [[x]], "w": [[VAR:x]], "s": "<{{ x }}>", "l": [0, {{ x.y|default(x) }}, [[OUT:n1]]],
        "n": "{{ x|json }}", [[PROMPT]], "k-{{ x }}": true}"""
    given = scope(run_vars={"x": value}, out={"n1": value}, prompt={"p": value}, context={})
    default = value
    if isinstance(value, dict) and value.get("y") is not None:
        default = value["y"]
    text = as_text(value)
    result = JsonLanguage().compile(source).render(given)
    assert result == {
        "v": value,
        "b": value,
        "w": value,
        "s": f"<{text}>",
        "l": [0, default, value],
        "n": dumps(value).decode(),
        "p": value,
        f"k-{text}": True,
    }
    # orjson reads integers beyond 64 bits as floats, so the standard library reads this back.
    assert json.loads(dumps(result)) == json.loads(json.dumps(result))


@given(VALUES)
def test_text_takes_values_letter_for_letter_and_never_reads_them_again(value):
    given = scope(run_vars={"x": value}, own={"pm": {"system": value}}, out={"n1": {"response_text": value}})
    text = as_text(value)
    assert TextLanguage().compile("{{ x }}|[[x]]|[[VAR:x]]|{{ pm.system }}|[[OUT:n1.response_text]]").render(given) == "|".join(
        [text] * 5
    )
    assert JsonLanguage().compile('{"{{ x }}": ["{{ x }}"]}').render(given) == {text: [text]}
    [(_, segments)] = TextLanguage().compile("a{{ x }}b").trace(given)
    assert "".join(segment.text for segment in segments) == f"a{text}b"


MARKS = (
    "{{ }} [[ ]] {% %} {# #} [[VAR: [[OUT: [[OUT1]] [[SECRET: [[PROMPT]] [[x]] x model . | default ( ) [ ] { } , : ' \" \\ "
    "\\\" 1 -1 1e9 true null if + - ~ == a.b x-y |upper |replace('a','b') |join \n \u2028 é \ud800 \0 \\u00e9 \\ud83d"
)
PIECES = st.sampled_from(MARKS.split(" ")) | st.just(" ")
SOURCES = st.one_of(st.text(), st.lists(PIECES, max_size=25).map("".join))


@given(SOURCES)
@settings(max_examples=400)
@example("{{ 'a" + "\\" * 5)
@example("{{ x|1 }}")
@example("{{ x|true }}")
@example("{{ x|'upper' }}")
@example("{{ x|upper|[0] }}")
@example("{{ 1." + "9" * 5000 + " }}")
@example("{{ x[" + "9" * 5000 + "] }}")
@example("[[VAR:x[" + "9" * 5000 + "]]]")
def test_any_text_source_compiles_or_is_a_syntax_error(source):
    try:
        template = TextLanguage(secrets=True, prompt=True).compile(source)
    except TemplateSyntaxError as error:
        assert error.problems
        assert all(problem.line and problem.column and problem.severity == "error" for problem in error.problems)
        return
    try:
        rendered = template.render(scope(run_vars={"x": [1]}, secret=str))
    except TemplateRenderError:
        return
    if template.is_constant:
        assert rendered == source


@given(st.one_of(SOURCES, SOURCES.map(lambda inside: f'{{"a": {inside}}}'), SOURCES.map(lambda inside: f'{{"a": "{inside}"}}')))
@settings(max_examples=400)
@example("[" * 100_000)
@example('{"a":' * 1000)
@example("9" * 5000)
def test_any_json_source_compiles_or_is_a_syntax_error(source):
    try:
        template = JsonLanguage(secrets=True).compile(source)
    except TemplateSyntaxError as error:
        assert error.problems
        return
    try:
        rendered = template.render(scope(run_vars={"x": [1]}, secret=str))
    except TemplateRenderError:
        return
    json.dumps(rendered, allow_nan=False)


@given(VALUES)
def test_json_without_macros_is_read_as_json(value):
    source = dumps(value).decode()
    assume(not any(mark in source for mark in ("[[", "{{", "{%", "{#")))
    template = JsonLanguage().compile(source)
    assert template.is_constant
    assert template.render(scope()) == json.loads(source)
    assert dumps(template.render(scope())) == dumps(json.loads(source))


@given(st.text())
@example("20000000000000000001")
def test_broken_json_is_broken_for_us_too(source):
    assume(not any(mark in source for mark in ("[[", "{{", "{%", "{#")))
    try:
        loads(source)
    except ValueError:
        expected = None
        is_json = False
    else:
        # By the standard library, whose integers have any length; the fast parser rounds those beyond 64 bits.
        expected = json.loads(source)
        is_json = True
    try:
        assert JsonLanguage().compile(source).render(scope()) == expected
    except TemplateSyntaxError:
        assert not is_json


EXPRESSION_MARKS = (
    "1 2.5 0 -1 'a' \"b\" true null None ( ) [ ] { } , : + - * / // % ** < == != and or not rand() randint( choice( x if else "
    "lambda . ' \" \\ # \n é \ud800 1e999 0x 9e99 f'' __import__ := @ ; = ~ | & ^ << in is for"
)
EXPRESSION_PIECES = st.sampled_from(EXPRESSION_MARKS.split(" ")) | st.just(" ")
OPERANDS = st.sampled_from(
    ["1", "2.5", "'a'", "[1]", "{}", "null", "true", "rand()", "(1, 'b')", "- 3", "not 1", "choice([1])"]
)
SIGNS = "+ - * / // % ** < <= > >= == != << >> <> & | ^ @ and or not in is if else , : . := ;"
OPERATORS = st.sampled_from(SIGNS.split(" "))
ROWS = st.lists(st.tuples(OPERANDS, OPERATORS), max_size=5).map(lambda row: " ".join(f"{a} {b}" for a, b in row) + " 1")


@given(
    st.one_of(
        st.text(),
        ROWS,
        ROWS.map(lambda row: row.replace(" ", "")),
        st.lists(EXPRESSION_PIECES, max_size=20).map("".join),
        st.lists(EXPRESSION_PIECES, max_size=20).map(" ".join),
    )
)
@settings(max_examples=600)
@example("-" * 5000 + "1")
@example("(" * 4096)
@example("[" * 2048 + "]" * 2048)
@example("not " * 1000)
@example("1" * 4096)
@example("1+" * 2000 + "1")
@example("\ud800")
def test_any_formula_has_a_json_value_or_is_an_expression_error(source):
    try:
        value = compile_expression(source).evaluate(Random(0))
    except ExpressionError as error:
        assert error.line >= 1
        assert error.column >= 1
        return
    assert len(json.dumps(value, allow_nan=False)) <= 6 * 64 * 1024


LEAVES = st.integers(0, 10**6).map(str) | st.floats(0, 1e6).map(repr)
FORMULAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner).map(" ".join),
        inner.map("({})".format),
        inner.map("- {}".format),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        st.tuples(inner, inner).map("[{0[0]}, {0[1]}]".format),
    ),
    max_leaves=8,
)


@given(FORMULAS)
@settings(max_examples=400)
def test_arithmetic_agrees_with_python(source):
    try:
        value = compile_expression(source).evaluate(Random(0))
    except ExpressionError:
        assume(False)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        # The reference: Python itself, on text that this test wrote.
        expected = eval(compile(ast.parse(source, mode="eval"), "formula", "eval"), {"__builtins__": {}})  # noqa: S307  # Python's own evaluation of numbers is what ours is compared to
    assert value == expected or (math.isclose(value, expected) and type(value) is type(expected))
    assert type(value) is type(expected)


@given(VALUES)
def test_pure_json_is_itself(value):
    source = json.dumps(value)
    assume(len(source) <= 4096)
    assume(not any("\ud800" <= letter <= "\udfff" for letter in json.dumps(value, ensure_ascii=False)))
    result = compile_expression(source).evaluate(Random(0))
    assert result == value
    assert json.dumps(result) == source
