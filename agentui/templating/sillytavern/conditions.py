"""The conditions of ``{{if}}``: truth, comparisons, and/or/not, contains, startsWith, parentheses.

A condition is read whole before anything of it is evaluated, so that one that cannot be read does nothing. ``and`` and ``or``
stop where the answer is known. Source: seed 002.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentui.templating.sillytavern.scope import MacroRefused
from agentui.templating.sillytavern.syntax import Macro, Pieces
from agentui.templating.sillytavern.variables import to_number

MAX_DEPTH = 32
"""Parentheses within each other."""

FALSE_WORDS: Final = frozenset({"", "false", "0", "off"})
"""What is not true, without regard to case and to spaces around."""
_LONGEST_FALSE = max(map(len, FALSE_WORDS))

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<quote>["'])
      | (?P<comparison>==|!=|>=|<=|>|<)
      | (?P<bracket>[()])
      | (?P<number>-?[0-9]+(?:\.[0-9]+)?|\.[0-9]+)
      | (?P<variable>[.$](?:[^\s()=!<>"'\[\]]|\[\s*(?:"[^"]*"|'[^']*')\s*\])+)
      | (?P<word>[^\s()"'=!<>,+\-*/?;:\[\]{}|&%^~\\]+)
      | (?P<not>!)""",
    re.VERBOSE,
)
_QUOTED: Final = {quote: re.compile(rf"(?:[^{quote}\\]+|\\.|\\\Z)*+", re.DOTALL) for quote in ('"', "'")}
"""What stands within quotes: a backslash lets the sign behind it be a letter."""
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_WORDS = {"and": "and", "or": "or", "not": "not", "contains": "contains", "startswith": "startsWith"}


@dataclass(frozen=True, slots=True)
class Operand:
    """What a side of a comparison was written as: a quoted text, a word, a number, a variable's short form, or a macro."""

    kind: Literal["quoted", "word", "number", "variable", "macro"]
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class Operation:
    """``and``, ``or`` of several, ``not`` of one, a comparison of two."""

    name: str
    sides: "tuple[Condition, ...]"


Condition: TypeAlias = Operand | Operation
Token: TypeAlias = "tuple[str, Operand | None]"


def parse_condition(pieces: Pieces) -> Condition | None:
    """A condition's tree; None for the empty one. Raises MacroRefused."""
    tokens = _tokens(pieces)
    if not tokens:
        return None
    reader = _Reader(tokens)
    condition = reader.alternatives(0)
    if reader.position < len(tokens):
        raise MacroRefused("macro_parse_failed", "The condition goes on where it must end: put an operator between two values.")
    return condition


def is_true(text: str) -> bool:
    """Whether a text counts as true."""
    word = text.strip()
    return len(word) > _LONGEST_FALSE or word.lower() not in FALSE_WORDS


def holds(condition: Condition | None, text: Callable[[Operand], str]) -> bool:
    """Whether a condition holds; ``text`` gives what an operand is. Raises MacroRefused, and what ``text`` raises."""
    match condition:
        case None:
            return False
        case Operand():
            return is_true(text(condition))
        case Operation("and", sides):
            return all(holds(side, text) for side in sides)
        case Operation("or", sides):
            return any(holds(side, text) for side in sides)
        case Operation("not", (side,)):
            return not holds(side, text)
        case Operation(name, (Operand() as left, Operand() as right)):
            return _compares(name, text(left), text(right))
    raise AssertionError(condition)


def _compares(name: str, left: str, right: str) -> bool:
    """Whether a comparison holds. Numbers are compared as such where both sides are some."""
    if name == "contains":
        return right in left
    if name == "startsWith":
        return left.startswith(right)
    numbers = to_number(left), to_number(right)
    if numbers[0] is None or numbers[1] is None:
        if name == "==":
            return left == right
        if name == "!=":
            return left != right
        raise MacroRefused("macro_arg_type_invalid", f"Both sides of '{name}' must be numbers.")
    first, second = numbers[0], numbers[1]
    return {
        "==": first == second,
        "!=": first != second,
        ">": first > second,
        "<": first < second,
        ">=": first >= second,
        "<=": first <= second,
    }[name]


def _tokens(pieces: Pieces) -> list[Token]:
    """The words of a condition. Raises MacroRefused."""
    tokens: list[Token] = []
    quote = ""
    quoted: list[str | Macro] = []

    def operand(kind: Literal["quoted", "word", "number", "variable", "macro"], items: list[str | Macro]) -> None:
        tokens.append(("value", Operand(kind, Pieces(pieces.start, pieces.end, items))))

    for item in pieces.items:
        if not isinstance(item, str):
            if quote:
                quoted.append(item)
            else:
                operand("macro", [item])
            continue
        position = 0
        while position < len(item):
            if quote:
                inner = _QUOTED[quote].match(item, position)
                assert inner is not None  # it matches nothing as well
                quoted.append(_ESCAPED.sub(r"\1", inner.group()))
                end = inner.end()
                if end == len(item):
                    break
                operand("quoted", quoted)
                quote, quoted, position = "", [], end + 1
                continue
            match = _TOKEN.match(item, position)
            if match is None:
                raise MacroRefused(
                    "macro_condition_unsupported", f"A condition cannot hold '{item[position]}': quote texts that are no words."
                )
            position = match.end()
            kind, text = match.lastgroup, match.group()
            if kind == "quote":
                quote = text
            elif kind in ("number", "variable"):
                operand("number" if kind == "number" else "variable", [text])
            elif kind == "word" and text.lower() not in _WORDS:
                operand("word", [text])
            elif kind != "space":
                tokens.append((_WORDS.get(text.lower(), "not" if kind == "not" else text), None))
    if quote:
        raise MacroRefused("macro_parse_failed", "A quoted text in the condition does not end.")
    return tokens


class _Reader:
    """Reads the tree: or < and < not < comparison < value."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0

    def _next(self) -> str:
        return self.tokens[self.position][0] if self.position < len(self.tokens) else ""

    def alternatives(self, depth: int) -> Condition:
        return self._several("or", self._conjunction, depth)

    def _conjunction(self, depth: int) -> Condition:
        return self._several("and", self._negation, depth)

    def _several(self, name: str, read: "Callable[[int], Condition]", depth: int) -> Condition:
        sides = [read(depth)]
        while self._next() == name:
            self.position += 1
            sides.append(read(depth))
        return sides[0] if len(sides) == 1 else Operation(name, tuple(sides))

    def _negation(self, depth: int) -> Condition:
        count = 0
        while self._next() == "not":
            self.position += 1
            count += 1
        condition = self._comparison(depth)
        return Operation("not", (condition,)) if count % 2 else condition

    def _comparison(self, depth: int) -> Condition:
        left = self._value(depth)
        name = self._next()
        if name not in ("==", "!=", ">=", "<=", ">", "<", "contains", "startsWith"):
            return left
        self.position += 1
        right = self._value(depth)
        if not isinstance(left, Operand) or not isinstance(right, Operand):
            raise MacroRefused("macro_condition_unsupported", "Only values can be compared, no conditions in parentheses.")
        return Operation(name, (left, right))

    def _value(self, depth: int) -> Condition:
        name = self._next()
        if name == "(":
            if depth >= MAX_DEPTH:
                raise MacroRefused("macro_depth_limit_exceeded", f"There are more than {MAX_DEPTH} parentheses in each other.")
            self.position += 1
            condition = self.alternatives(depth + 1)
            if self._next() != ")":
                raise MacroRefused("macro_parse_failed", "A parenthesis in the condition does not end.")
            self.position += 1
            return condition
        operand = self.tokens[self.position][1] if name == "value" else None
        if operand is None:
            raise MacroRefused("macro_parse_failed", "The condition lacks a value.")
        self.position += 1
        return operand
