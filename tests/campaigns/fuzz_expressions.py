"""Formulas made from their own grammar, each with the value that it must have; what is outside the grammar must be refused.

The reference is the few lines of ``Formula`` below, which compute with Python's own operators and know the rules that seed 003
and ``docs/templates.md`` add: booleans are no numbers, unlike things are not compared, integers end at 2^256.
"""

import asyncio
import json
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from agentui.jsonio import Json
from agentui.templating.hadtavern.expressions import compile_expression
from agentui.templating.hadtavern.formulas.tokens import ExpressionError
from tests.campaigns.audit import Watch, parsing
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.fuzz import Fuzz, same_json
from tests.campaigns.fuzz_words import CANARIES, HOSTILE_NAMES, HUGE_NUMBERS, ODD_TEXTS, mutate_text

LARGEST = 2**256
MOST_BYTES = 64 * 1024


class Wrong(Exception):
    """The formula has no value."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula's text, and what gives its value (raising Wrong where it has none)."""

    text: str
    value: Callable[[], Json]


def _checked(value: Json) -> Json:
    """A number within the bounds."""
    if isinstance(value, float) and not math.isfinite(value):
        raise Wrong
    if isinstance(value, int) and abs(value) > LARGEST:
        raise Wrong
    return value


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_SIGNS: Final[dict[str, Callable[[Json, Json], Json]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
_COMPARED: Final[dict[str, Callable[[Json, Json], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _calculated(sign: str, left: Json, right: Json) -> Json:
    if not (_is_number(left) and _is_number(right)):
        if sign == "+" and type(left) is type(right) and isinstance(left, str | list):
            return left + right
        raise Wrong
    try:
        return _checked(_SIGNS[sign](left, right))
    except (ZeroDivisionError, OverflowError) as error:
        raise Wrong from error


def _kind(value: Json) -> type:
    return float if _is_number(value) else type(value)


def _holds(sign: str, left: Json, right: Json) -> bool:
    if _kind(left) is not _kind(right):
        raise Wrong
    try:
        return bool(_COMPARED[sign](left, right))
    except TypeError as error:
        raise Wrong from error


class Grammar:
    """Writes formulas."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def formula(self, depth: int) -> Formula:
        """Any formula; what is inside another one stands in parentheses or needs none."""
        random = self.random
        if not depth:
            return self._leaf()
        match random.randrange(12):
            case 0 | 1:
                return self._leaf()
            case 2 | 3 | 4:
                return self._row(depth - 1)
            case 5:
                return self._signed(depth - 1)
            case 6:
                return self._compared(depth - 1)
            case 7:
                return self._logic(depth - 1)
            case 8:
                return self._list(depth - 1)
            case 9:
                return self._object(depth - 1)
            case 10:
                return self._chance(depth - 1)
            case _:
                inner = self.formula(depth - 1)
                return Formula(f"({self._space()}{inner.text}{self._space()})", inner.value)

    def _space(self) -> str:
        return self.random.choice(("", "", "", " ", "  ", "\n", "\t", "\r\n", "\r"))

    def _operand(self, depth: int) -> Formula:
        """A formula that may stand beside any operator."""
        inner = self.formula(depth)
        return Formula(f"({inner.text})", inner.value)

    def _leaf(self) -> Formula:
        random = self.random
        match random.randrange(10):
            case 0 | 1 | 2:
                number = random.choice((0, 1, 2, 7, 10, 255, 2**31, 2**63, 2**64, 2**255, LARGEST, LARGEST + 1))
                return Formula(str(number), lambda: _checked(number))
            case 3 | 4:
                text, value = random.choice(
                    (("0.5", 0.5), ("2.", 2.0), (".25", 0.25), ("1e3", 1e3), ("1e308", 1e308), ("0.0", 0.0))
                )
                return Formula(text, lambda: value)
            case 5:
                word, constant = random.choice(
                    (
                        ("true", True),
                        ("True", True),
                        ("false", False),
                        ("False", False),
                        ("null", None),
                        ("none", None),
                        ("None", None),
                    )
                )
                return Formula(word, lambda: constant)
            case _:
                return self._text()

    def _text(self) -> Formula:
        pieces = [
            self.random.choice((*CANARIES, *ODD_TEXTS, *HOSTILE_NAMES, "a", "ü\u2028")) for _ in range(self.random.randrange(3))
        ]
        value = "".join(pieces)
        return Formula(self._quoted(value), lambda: value)

    def _quoted(self, value: str) -> str:
        """The text in quotes, with escapes where it needs them and in some places where it does not."""
        quote = self.random.choice("'\"")
        written = [self._letter(each, quote) for each in value]
        return quote + "".join(written) + quote

    def _letter(self, letter: str, quote: str) -> str:
        code = ord(letter)
        short = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f", "\\": "\\\\", quote: f"\\{quote}"}
        if letter in short:
            return short[letter]
        if letter == "/" and self.random.random() < 0.5:
            return "\\/"
        if code < 0x20 or (code < 0x100 and self.random.random() < 0.05):
            return self.random.choice((f"\\u{code:04x}", f"\\x{code:02X}"))
        if self.random.random() < 0.02:
            pair = letter.encode("utf-16-be")
            return "".join(f"\\u{pair[at : at + 2].hex()}" for at in range(0, len(pair), 2))
        return letter

    def _row(self, depth: int) -> Formula:
        first = self._operand(depth)
        # Signs of one strength, so that the row is read from left to right.
        signs = self.random.choice((("+", "-"), ("*", "/", "//", "%")))
        rest = [(self.random.choice(signs), self._operand(depth)) for _ in range(self.random.choice((1, 1, 2)))]

        def value() -> Json:
            total = first.value()
            for sign, operand in rest:
                total = _calculated(sign, total, operand.value())
            return total

        return Formula(first.text + "".join(f"{self._space()}{sign}{self._space()}{each.text}" for sign, each in rest), value)

    def _signed(self, depth: int) -> Formula:
        inner, sign = self._operand(depth), self.random.choice(("-", "+", "not "))

        def value() -> Json:
            operand = inner.value()
            if sign == "not ":
                return not operand
            if not _is_number(operand):
                raise Wrong
            return -operand if sign == "-" else operand

        return Formula(f"{sign}{inner.text}", value)

    def _compared(self, depth: int) -> Formula:
        first = self._operand(depth)
        rest = [(self.random.choice(tuple(_COMPARED)), self._operand(depth)) for _ in range(self.random.choice((1, 1, 2)))]

        def value() -> Json:
            left = first.value()
            for sign, operand in rest:
                right = operand.value()
                if not _holds(sign, left, right):
                    return False
                left = right
            return True

        return Formula(first.text + "".join(f" {sign} {each.text}" for sign, each in rest), value)

    def _logic(self, depth: int) -> Formula:
        word = self.random.choice(("and", "or"))
        operands = [self._operand(depth) for _ in range(self.random.choice((2, 2, 3)))]

        def value() -> Json:
            said: Json = None
            for operand in operands:
                said = operand.value()
                if bool(said) is (word == "or"):
                    break
            return said

        return Formula(f" {word} ".join(each.text for each in operands), value)

    def _list(self, depth: int) -> Formula:
        items = [self._operand(depth) for _ in range(self.random.randrange(4))]
        if len(items) > 1 and self.random.random() < 0.3:
            return Formula("(" + ", ".join(each.text for each in items) + ")", lambda: [each.value() for each in items])
        return Formula("[" + ", ".join(each.text for each in items) + "]", lambda: [each.value() for each in items])

    def _object(self, depth: int) -> Formula:
        names = self.random.sample(("a", "b c", "[[VAR:secret]]", "__class__", "/", "ü"), self.random.randrange(4))
        members = [(name, self._quoted(name), self._operand(depth)) for name in names]
        text = "{" + ", ".join(f"{quoted}: {each.text}" for _, quoted, each in members) + "}"
        return Formula(text, lambda: {name: each.value() for name, _, each in members})

    def _chance(self, depth: int) -> Formula:
        """Functions of chance that can come out one way only."""
        inner = self._operand(depth)
        if self.random.random() < 0.5:
            return Formula(f"choice([{inner.text}])", inner.value)

        def value() -> Json:
            number = inner.value()
            if type(number) is not int:
                raise Wrong
            return number

        return Formula(f"randint({inner.text}, {inner.text})", value)


FOREIGN: Final = (
    *("().__class__", "''.__class__.__mro__[1].__subclasses__()", '__import__("os").system("id")', '"".join([])'),
    *("[].append(1)",),
    *('"%s" % (1)', '"a" * 9', "[1] * 9", "lambda: 1", "(lambda x: x)(1)", "[x for x in [1]]", "{x for x in [1]}"),
    *("(x for x in [])",),
    *('f"{1}"', 'b"x"', 'r"x"', 'u"x"', "1 .real", "(1).real", "x := 1", "(x := 1)", "[*[1]]", "{**{}}", "1 if 1 else 2"),
    *("1 << 2",),
    *("2 ** 9", "2 ** 2 ** 99", "1 | 2", "1 & 2", "1 ^ 2", "~1", "1 @ 2", "...", "Ellipsis", "None.__class__", "rand.__self__"),
    *("choice.__globals__", "rand().__class__", "randint(1, 2, 3)", "choice(*[[1]])", "rand(x=1)", "[1][0]", '{}["a"]'),
    *('"a" "b"',),
    *("1 is 1", "1 in [1]", "1 not in []", "await 1", "yield 1", "1;1", "import os", "{1, 2}", "{1: 2}", "{[]: 1}", "1j"),
    *("0x10", "0b1"),
    *("0o7", "1_0", "10L", "007", "'''a'''", '"""a"""', "`1`", "$x", "a", "print(1)", "eval('1')", "open('/etc/passwd')"),
    *("rand", "1()"),
    *("choice", "choice(1)", "choice([])", "choice('a')", "randint(1.0, 2)", "randint(2, 1)", "rand(1)", "[[VAR:x]]"),
    *("{{ x }}", "x.y"),
    *("1 if rand() else 2", "rand() ()", "[1](0)", "choice([rand])", "(1)(2)", "True()", "1 <> 2", "not", "1 +", "* 1"),
    *("1 2", "1,,2"),
    *('"\\d"', '"\\N{BULLET}"', '"\\101"', '"\\ud800"', "'\n'", '"a', "'", "# a", "1 # a", "\\", "\uff11", "\u0663"),
    *("\u00b2", "\ufeff1"),
)
"""What Python, or another language, would take and this one has not."""

WORDS: Final = (
    *("1", "2.5", "0", "'a'", '"b"', "true", "null", "None", "(", ")", "[", "]", "{", "}", ",", ":", "+", "-", "*", "/"),
    *("//", "%"),
    *("**", "<", "<=", "==", "!=", "<<", " and ", " or ", " not ", "rand()", "randint(", "choice(", " if ", " else "),
    *("lambda ", "."),
    *("'", '"', "\\", "\\/", "\\x", "\\u", "#", "\n", "\r", "\x0c", "\ud800", "1e999", "0x", "f''", ":=", "@", ";", "="),
    *("~", "|", "&", "^"),
    *(" in ", " for ", " is ", "...", "`", "$", "\ufeff", "-" * 40, "(" * 40, "[" * 40, "1+" * 300),
    *FOREIGN,
    *HUGE_NUMBERS,
)

_LONG: Final = (
    *("(", "[", "{", "-", "not ", "1+", "1 and ", "'a'+", "[1]+", "1,", "((", "'", '"', "\\", "9", "1<", "choice(["),
    *("{'a':", "1 ", " "),
    *("2*", "9999999999*", "1//", "'aaaaaaaaaaaaaaaaaaaa'+", "+[[]]", "rand()+", "choice(['a'])+", "\n", "1.", "1e", "''", "a"),
)


async def fuzz_expressions(trial: Trial) -> None:
    """Formulas of the language, formulas after accidents, and formulas of other languages."""
    fuzz = Fuzz(trial, "expressions", (ExpressionError,), Watch(parsing))
    chance = Random(0)
    grammar = Grammar(trial.random)

    def evaluate(source: str) -> Json:
        return compile_expression(source).evaluate(chance)

    def one(random: Random) -> None:
        kind = random.randrange(100)
        if kind < 45:
            _whole(fuzz, grammar.formula(random.choice((1, 2, 3))), evaluate)
        elif kind < 60:
            _foreign(fuzz, grammar, evaluate)
        else:
            _broken(fuzz, grammar, evaluate)

    fuzz.warm_up(300, lambda: one(trial.random))
    with fuzz.watch:
        for number, random in enumerate(fuzz.inputs()):
            one(random)
            if number % 5000 == 0:
                await asyncio.sleep(0)
            if number % 1000 == 999:
                word = random.choice(_LONG)
                source = random.choice(("", "1", "[")) + word * random.choice((50, 250, 4096 // len(word), 10_000))
                trial.counts["long inputs"] += 1
                _judge(fuzz, source, evaluate)


def _whole(fuzz: Fuzz, formula: Formula, evaluate: Callable[[str], Json]) -> None:
    """A formula of the language has exactly its value, or is refused where it has none."""
    fuzz.trial.counts["exact results"] += 1
    try:
        expected = formula.value()
        # A number that is too large is refused where it is written, also where nobody would ask for it.
        has_value = (
            str(LARGEST + 1) not in formula.text and len(json.dumps(expected, ensure_ascii=False).encode()) <= MOST_BYTES
        )
    except Wrong:
        expected, has_value = None, False
    outcome = fuzz.try_out(formula.text, lambda: evaluate(formula.text))
    fuzz.trial.counts["without a value"] += not has_value
    if (outcome.error is None) is not has_value or not (outcome.error is not None or same_json(outcome.value, expected)):
        fuzz.fail("a formula is wrong", formula.text, outcome, expected if has_value else "no value")


def _foreign(fuzz: Fuzz, grammar: Grammar, evaluate: Callable[[str], Json]) -> None:
    """What is of another language is refused wherever it stands."""
    random = grammar.random
    foreign = random.choice(FOREIGN)
    beside = grammar.formula(1)
    source = random.choice(
        (f"{foreign}", f"[({foreign})]", f"[{beside.text}, {foreign}]", f"({foreign}) + 1", f"[true and {foreign}]")
    )
    fuzz.trial.counts["foreign formulas"] += 1
    outcome = fuzz.try_out(source, lambda: evaluate(source))
    if outcome.error is None:
        fuzz.fail("a formula of another language has a value", source, outcome.value)


def _broken(fuzz: Fuzz, grammar: Grammar, evaluate: Callable[[str], Json]) -> None:
    """After accidents a formula has a JSON value or is refused."""
    _judge(fuzz, mutate_text(grammar.random, grammar.formula(2).text, WORDS), evaluate)


def _judge(fuzz: Fuzz, source: str, evaluate: Callable[[str], Json]) -> None:
    outcome = fuzz.try_out(source, lambda: evaluate(source))
    fuzz.trial.counts["refused"] += outcome.error is not None
    if outcome.error is not None:
        if isinstance(outcome.error, ExpressionError) and not (outcome.error.line >= 1 and outcome.error.column >= 1):
            fuzz.fail("an error stands nowhere", source, outcome.error)
    elif not _is_json(outcome.value) or len(json.dumps(outcome.value, ensure_ascii=False).encode()) > 2 * MOST_BYTES:
        fuzz.fail("a value is no JSON, or too large", source, outcome.value)


def _is_json(value: Json) -> bool:
    """Whether the value is made of JSON's own types alone, its numbers finite and within the bounds."""
    if value is None or type(value) in (bool, str):
        return True
    if type(value) is int:
        return abs(value) <= LARGEST
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is list:
        return all(map(_is_json, value))
    return type(value) is dict and all(type(key) is str and _is_json(item) for key, item in value.items())


CAMPAIGNS = [
    Campaign(
        "fuzz.expressions",
        fuzz_expressions,
        counted="expressions",
        short=8_000,
        long=1_000_000,
        short_seconds=40.0,
        least=0.05,
    )
]
