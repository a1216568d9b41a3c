"""Filters: the doctests beside them, and what they do in a macro."""

import doctest

import pytest

from agentui.templating.core import values
from agentui.templating.core.problems import TemplateRenderError, TemplateSyntaxError
from agentui.templating.hadtavern import filters
from agentui.templating.hadtavern.filters import FILTERS
from agentui.templating.hadtavern.template import TextLanguage
from tests.unit.templating.scopes import scope


def test_every_filter_shows_itself_in_a_doctest():
    finder = doctest.DocTestFinder()
    shown = {test.name.rsplit(".", 1)[-1] for test in finder.find(filters) if test.examples}
    assert {listed.function.__name__ for listed in FILTERS.values()} <= shown
    assert doctest.testmod(filters).failed == doctest.testmod(values).failed == 0


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ nothing|upper|default('x') }}{{ null|trim|default('y') }}", "xy"),
        ("{{ nothing|length }}{{ 'abc'|length }}{{ [1]|length }}{{ {'a': 1}|length }}", "0311"),
        ("{{ nothing|json }} {{ 'a\"b'|json }} {{ nothing|string }}", 'null "a\\"b" '),
        ("{{ [1, null, 'a', [2]]|join('-') }} {{ ['a', 'b']|join }}", "1--a-[2] ab"),
        ("{{ []|first|default('none') }} {{ [1, 2]|last }} {{ 'ab'|first }}", "none 2 a"),
        ("{{ 'x'|int|default(3) }} {{ ' 7 '|int }} {{ '2.9'|int }} {{ -2.9|int }} {{ [1]|int|default('l') }}", "3 7 2 -2 l"),
        ("{{ '1e5'|float }} {{ 'nan'|float|default(0) }} {{ true|float }}", "100000.0 0 1.0"),
        ("{{ 'a.b'|replace('.', '')|upper|lower|trim }} {{ 'ab'|replace('', 'x') }}", "ab ab"),
        ("{{ 'abcdef'|truncate(3) }} {{ 'abcdef'|truncate(4, '...') }} {{ 'ab'|truncate(0) }}", "abc a... "),
        ("{{ 5|upper }} {{ true|upper }}", "5 TRUE"),
    ],
)
def test_filters_in_macros(source, text):
    assert TextLanguage().compile(source).render(scope()) == text


@pytest.mark.parametrize("size", ["'a'", "-1", "1.5", "true", "nothing"])
def test_truncate_wants_a_size(size):
    with pytest.raises(TemplateRenderError, match="whole number"):
        TextLanguage().compile(f"{{{{ 'abc'|truncate({size}) }}}}").render(scope())


def test_numbers_of_many_digits_are_no_numbers():
    assert TextLanguage().compile("{{ x|int|default('long') }}").render(scope(run_vars={"x": "9" * 10_000})) == "long"
    assert TextLanguage().compile("{{ x|float|default('big') }}").render(scope(run_vars={"x": 10**399})) == "big"


@pytest.mark.parametrize("source", ["{{ x|add(x) }}", "{{ x|add(0.5) }}", "{{ 1|add(x) }}"])
@pytest.mark.parametrize("value", ["9" * 310, int("9" * 310), 9 * 10**307 * 2, 1.7e308, "1e999"])
def test_a_sum_that_json_cannot_hold_is_an_error_of_its_macro(source, value):
    try:
        result = TextLanguage().compile(source).render(scope(run_vars={"x": value}))
    except TemplateRenderError as error:
        assert error.column == 1
    else:
        assert float(result) < 1.8e308


def test_a_number_that_json_cannot_hold_is_none():
    assert TextLanguage().compile("{{ x|int|default('-') }}").render(scope(run_vars={"x": "9" * 310})) == "-"
    with pytest.raises(TemplateSyntaxError, match="too large"):
        TextLanguage().compile("{{ " + "9" * 310 + " }}")
