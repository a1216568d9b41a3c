"""Formulas of SetVars: what they are, and everything that they are not."""

from random import Random

import pytest

from agentui.templating.hadtavern.expressions import compile_expression
from agentui.templating.hadtavern.formulas.tokens import ExpressionError


def evaluate(source):
    return compile_expression(source).evaluate(Random(1))


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("7 / 2", 3.5),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7.5 % 2", 1.5),
        ("2 + 3 * 4 - 1", 13),
        ("+1 - -1", 2),
        ("10 - 3 - 2", 5),
        ("[1] + [2, 'a']", [1, 2, "a"]),
        ("(1, 2)", [1, 2]),
        ("1, 2", [1, 2]),
        ("()", []),
        ("null or 'x'", "x"),
        ("0 and 1 / 0", 0),
        ("1 or 1 / 0", 1),
        ("'' or [] or 'last'", "last"),
        ("not 0", True),
        ("not not 'a'", True),
        ("true and not false", True),
        ("'a' < 'b' <= 'b' != 'c'", True),
        ("2 > 1 > 1", False),
        ("2 < 1 < 1 / 0", False),
        ("[1, 2] == [1, 2]", True),
        ("null == null", True),
        ('{"a": 1 + 1, "b": (1,)}', {"a": 2, "b": [1]}),
        ('"\\u00e9\\n\\t\\"\\x41" + "\\ud83d\\ude00"', 'é\n\t"A😀'),
        ("'it\\'s'", "it's"),
        ("1\n + 2\n", 3),
        ("  [1,\n 2] ", [1, 2]),
        (str(2**255), 2**255),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1e3", 1000.0),
        (".5 + 1.", 1.5),
        ('"[[NAME]] {{ x }}"', "[[NAME]] {{ x }}"),
        ("(" * 30 + "1" + ")" * 30, 1),
        ("-" * 30 + "1", 1),
        ("+".join(["1"] * 257), 257),
        ("randint(3, 3)", 3),
        ("choice([[1]])", [1]),
        ("choice((5,)) + 1", 6),
    ],
)
def test_values(source, value):
    result = evaluate(source)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("source", "line", "column", "says"),
    [
        ("", 1, 1, "empty"),
        (" \n", 1, 1, "empty"),
        ("model", 1, 1, "'model'"),
        ("1 + model", 1, 5, "no variables"),
        ("[[NAME]]", 1, 3, "mode string"),
        ("{{ x }}", 1, 4, "mode string"),
        ("1 / 0", 1, 5, "by zero"),
        ("1 // 0", 1, 6, "by zero"),
        ("1 % 0.0", 1, 5, "by zero"),
        ("2 ** 3", 1, 3, "**"),
        ("'a' * 3", 1, 7, "*"),
        ("3 * 'a'", 1, 5, "*"),
        ("[1] * 3", 1, 7, "*"),
        ("'%s' % 1", 1, 8, "%"),
        ("'a' + 1", 1, 7, "a text and a number"),
        ("true + 1", 1, 8, "a boolean and a number"),
        ("-true", 1, 1, "a boolean"),
        ("- 'a'", 1, 1, "a text"),
        ("{} + {}", 1, 6, "an object"),
        ("1 < 'a'", 1, 5, "a number and a text"),
        ("1 == '1'", 1, 6, "=="),
        ("true == 1", 1, 9, "a boolean"),
        ("{} < {}", 1, 6, "these values"),
        ("[1] < ['a']", 1, 7, "these values"),
        ("1e999", 1, 1, "too large"),
        ("1 + 1e999", 1, 5, "not finite"),
        ("1e308 * 10", 1, 9, "not finite"),
        ("NaN", 1, 1, "NaN"),
        ("[-Infinity]", 1, 1, "Infinity"),
        (str(2**256 + 1), 1, 1, "2^256"),
        (f"{2**256} + 1", 1, 82, "2^256"),
        (f"{2**255} * {2**255}", 1, 81, "2^256"),
        ("f'{1}'", 1, 1, "'f'"),
        ("b'x'", 1, 1, "'b'"),
        ("'a' 'b'", 1, 5, "operator is missing"),
        ("'''a'''", 1, 3, "operator is missing"),
        ("'a", 1, 1, "not closed"),
        ("'\\d'", 1, 2, "escape"),
        ("'\\N{DIGIT ONE}'", 1, 2, "escape"),
        ("'\\ud800' + ''", 1, 1, "half"),
        ("1 if 2 else 3", 1, 3, "'if'"),
        ("lambda: 1", 1, 1, "'lambda'"),
        ("[x for x in [1]]", 1, 2, "'x'"),
        ("[1][0]", 1, 1, "not possible"),
        ("'a'.upper()", 1, 4, "attributes"),
        ("(1).real", 1, 4, "attributes"),
        ("{1}", 1, 1, "not possible"),
        ("{1: 2}", 1, 2, "keys"),
        ("{'a' + 'b': 2}", 1, 2, "keys"),
        ("[*[1]]", 1, 2, "not possible"),
        ("1 in [1]", 1, 3, "'in'"),
        ("1 is 1", 1, 3, "'is'"),
        ("~1", 1, 1, "'~'"),
        ("1 | 2", 1, 3, "'|'"),
        ("1 << 2", 1, 3, "<<"),
        ("1 >> 2", 1, 3, ">>"),
        ("1 <> 2", 1, 3, "<>"),
        ("x := 1", 1, 1, "'x'"),
        ("1 # two", 1, 3, "'#'"),
        ("1 +", 1, 4, "understood"),
        ("1) + (2", 1, 2, "closes nothing"),
        ("(1]", 1, 3, "closes nothing"),
        ("[1", 1, 1, "not closed"),
        ("0x1F", 1, 1, "no number"),
        ("1_000", 1, 1, "no number"),
        ("1j", 1, 1, "no number"),
        ("012", 1, 1, "understood"),
        ("rand", 1, 1, "rand(..)"),
        ("rand(1)", 1, 1, "Write rand()"),
        ("randint(1)", 1, 1, "Write rand()"),
        ("randint(2, 1)", 1, 1, "two whole numbers"),
        ("randint(1.0, 2)", 1, 1, "two whole numbers"),
        ("randint(true, 2)", 1, 1, "two whole numbers"),
        ("choice([])", 1, 1, "something in it"),
        ("choice('abc')", 1, 1, "something in it"),
        ("rand()()", 1, 1, "can be called"),
        ("1\n + 'é' +\n  model", 3, 3, "'model'"),
        ("'é' +\n (1)", 2, 3, "a text and a number"),
        ("'é' + 1", 1, 7, "a text and a number"),
        ("1 +\r'a'", 1, 5, "a number and a text"),
        ("1 +\r\n'a'", 2, 1, "a number and a text"),
        ("'é\\n' + ('😀' +\r 1)", 1, 17, "a text and a number"),
        ("(" * 31, 1, 31, "30 levels"),
        ("[" * 4000, 1, 31, "30 levels"),
        ("-" * 4000 + "1", 1, 31, "30 levels"),
        ("not " * 1000 + "1", 1, 121, "30 levels"),
        ("+".join(["1"] * 258), 1, 514, "256 operators"),
        ("'" + "a" * 4096 + "'", 1, 1, "4096 bytes"),
        ("'" + "é" * 2048 + "'", 1, 1, "4096 bytes"),
        ("'\ud800'", 1, 1, "half"),
        ('"\\ud800"', 1, 1, "half"),
        ("\0", 1, 1, "not possible"),
    ],
)
def test_everything_else_is_an_error_with_its_place(source, line, column, says):
    with pytest.raises(ExpressionError) as caught:
        evaluate(source)
    assert says in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


def test_each_evaluation_gives_a_value_of_its_own():
    for source in ('{"a": [1]}', "{'a': [1,]}"):
        expression = compile_expression(source)
        expression.evaluate(Random(1))["a"].append(2)
        assert expression.evaluate(Random(1)) == {"a": [1]}


def test_the_same_chance_gives_the_same_values():
    expression = compile_expression("[rand(), randint(1, 1000), choice(['a', 'b', 'c'])]")
    assert expression.evaluate(Random(5)) == expression.evaluate(Random(5))


@pytest.mark.parametrize("escape", ["\\/", "\\x2f", "\\u002f"])
def test_a_text_says_the_same_in_a_formula_as_in_json(escape):
    assert evaluate(f'"a{escape}b" + "c"') == "a/bc"
    assert evaluate(f"{{'{escape}': '{escape}'}}") == {"/": "/"}
    assert evaluate('"\\ud83d\\ude00" + "\\\\/"') == "😀\\/"
