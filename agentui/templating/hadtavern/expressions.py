"""The small formulas of SetVars: literals, arithmetic, comparisons, three functions of chance; nothing else exists.

    compile_expression("128 + 64").evaluate(random)            192
    compile_expression('choice(["a", "b"])').evaluate(random)  "a" or "b"

A text that is JSON is that JSON. Anything else is cut into a closed list of tokens under limits (length, nesting, number of
operators), parsed by ``ast`` and turned into closures by walking a closed list of nodes. Nothing is evaluated by Python.

Decided where seed 003 is silent: booleans are no numbers; comparing unlike types is an error, ``==`` too; ``*`` and ``%``
take numbers only; keys of objects are texts; tuples come out as lists.
"""

import json
from dataclasses import dataclass
from random import Random
from typing import NoReturn

from agentui.jsonio import Json
from agentui.templating.core.values import number
from agentui.templating.hadtavern.formulas.tokens import FUNCTIONS, ExpressionError, Tokens
from agentui.templating.hadtavern.formulas.tree import Compiler
from agentui.templating.hadtavern.formulas.values import MAX_INTEGER, Evaluate, Moment, check_result
from agentui.templating.hadtavern.scope import Frame, Scope


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled formula."""

    source: str
    _run: Evaluate

    @property
    def is_constant(self) -> bool:
        """Whether the value is the same each time: no function of chance stands in the formula (or in a text in it)."""
        return not any(name in self.source for name in FUNCTIONS)

    def evaluate(self, random: Random) -> Json:
        """The formula's value, fresh each time. Raises ExpressionError (division by zero, unlike types, too large)."""
        value = self._run(Moment(random, Frame(Scope())))
        check_result(value)
        return value


def compile_expression(source: str) -> Expression:
    """Compile a formula. Raises ExpressionError for whatever is not in the language."""
    tokens = Tokens(source)
    tokens.check_nesting()
    text = source.strip(" \t\r\n")
    if _is_json(text):
        return Expression(source, lambda moment: _parse_json(text))
    tokens.check()
    return Expression(source, Compiler(tokens).compile())


# JSON.


def _is_json(text: str) -> bool:
    """Whether the text is JSON and nothing else, within the limits."""
    try:
        check_result(_parse_json(text))
    except json.JSONDecodeError:
        return False
    return True


def _parse_json(text: str) -> Json:
    """The JSON value. Integers keep all their digits, which is why this is not orjson."""
    return json.loads(text, parse_int=_json_number, parse_float=_json_number, parse_constant=_refuse_constant)


def _json_number(digits: str) -> int | float:
    try:
        value = number(digits)
    except ValueError as error:
        raise ExpressionError(str(error)) from error
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        # No JSON within the limits: read as a formula, which says where the number stands.
        raise json.JSONDecodeError("larger than 2^256", digits, 0)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ExpressionError(f"{name} is no JSON. Write a number.")
