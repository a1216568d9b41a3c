"""The small formulas of SetVars: literals, arithmetic, comparisons, three functions of chance; nothing else exists.

    compile_expression("128 + 64").evaluate(random)            192
    compile_expression('choice(["a", "b"])').evaluate(random)  "a" or "b"

A text that is JSON is that JSON. Anything else is cut into a closed list of tokens under limits (length, nesting, number of
operators), parsed by ``ast`` and turned into closures by walking a closed list of nodes. Nothing is evaluated by Python.

Decided where seed 003 is silent: booleans are no numbers; comparing unlike types is an error, ``==`` too; ``*`` and ``%``
take numbers only; keys of objects are texts; tuples come out as lists.
"""

import ast
import json
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final, NamedTuple, NoReturn, TypeAlias

from agentui.jsonio import Json
from agentui.templating.core.values import CONSTANTS, number, unescape

MAX_BYTES = 4096
MAX_NESTING = 30
MAX_OPERATORS = 256
MAX_INTEGER = 2**256
MAX_RESULT = 64 * 1024
"""Characters of text, or of the result as JSON."""

Evaluate: TypeAlias = Callable[[Random], Json]

_FUNCTIONS = {"rand": 0, "randint": 2, "choice": 1}
_WORDS = frozenset({*CONSTANTS, *_FUNCTIONS, "and", "or", "not"})
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
      | (?P<string>"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"|'(?:[^'\\\x00-\x1f]|\\[^\x00-\x1f])*')
      | (?P<name>[^\W\d]\w*)
      | (?P<unlisted>\*\*|<<|>>|<>)
      | (?P<operator>//|<=|>=|==|!=|[-+*/%<>])
      | (?P<mark>[()\[\]{},:])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(?:["'\\/nrtbf]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|\\""")
_OPENING, _CLOSING = "([{", ")]}"

_ARITHMETIC: Final[dict[type[ast.operator], tuple[str, Callable[[Json, Json], Json]]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
}
_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, Callable[[Json, Json], bool]]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}


class ExpressionError(ValueError):
    """A formula that is not in the language, or whose value cannot be. ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"line {line} column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled formula."""

    source: str
    _run: Evaluate

    @property
    def is_constant(self) -> bool:
        """Whether the value is the same each time: no function of chance stands in the formula (or in a text in it)."""
        return not any(name in self.source for name in _FUNCTIONS)

    def evaluate(self, random: Random) -> Json:
        """The formula's value, fresh each time. Raises ExpressionError (division by zero, unlike types, too large)."""
        value = self._run(random)
        _check_result(value)
        return value


def compile_expression(source: str) -> Expression:
    """Compile a formula. Raises ExpressionError for whatever is not in the language."""
    _check_text(source)
    text = source.strip(" \t\r\n")
    if not text:
        raise ExpressionError("The formula is empty. Write a value, such as 128 + 64.")
    tokens = _Tokens(source)
    tokens.check_nesting()
    if _is_json(text):
        return Expression(source, lambda random: _parse_json(text))
    tokens.check()
    return Expression(source, _Compiler(source, tokens).compile())


def _check_text(source: str) -> None:
    """Check length and letters."""
    try:
        size = len(source.encode())
    except UnicodeEncodeError as error:
        raise ExpressionError("The formula holds half a character (a lone surrogate). Remove it.") from error
    if size > MAX_BYTES:
        raise ExpressionError(f"The formula is longer than {MAX_BYTES} bytes. Shorten it.")


# JSON.


def _is_json(text: str) -> bool:
    """Whether the text is JSON and nothing else, within the limits."""
    try:
        _check_result(_parse_json(text))
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


# Tokens: what may stand in a formula, and how deep, before any parser sees it.


class _Token(NamedTuple):
    """One sign. Not a frozen dataclass: a formula may have thousands, and those take three times as long to make."""

    kind: str
    text: str
    offset: int


class _Tokens:
    """The formula cut into tokens; a first unknown character is kept and reported by ``check``."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens: list[_Token] = []
        self.stopped_at: int | None = None
        offset = 0
        while offset < len(source):
            match = _TOKEN.match(source, offset)
            if match is None or match.lastgroup is None:
                self.stopped_at = offset
                return
            if match.lastgroup != "space":
                self.tokens.append(_Token(match.lastgroup, match[0], offset))
            offset = match.end()

    def fail(self, offset: int, message: str) -> NoReturn:
        """Raise ExpressionError at ``offset``."""
        line_start = self.source.rfind("\n", 0, offset) + 1
        raise ExpressionError(message, self.source.count("\n", 0, offset) + 1, offset - line_start + 1)

    def check_nesting(self) -> None:
        """Count brackets and rows of unary operators: both make parsers recurse."""
        depth = row = 0
        for token in self.tokens:
            is_prefix = token.text in ("-", "+", "not")
            row = row + 1 if is_prefix else 0
            depth += (token.text in _OPENING) - (token.text in _CLOSING) if token.kind == "mark" else 0
            if depth > MAX_NESTING or row > MAX_NESTING:
                self.fail(token.offset, f"The formula nests deeper than {MAX_NESTING} levels. Nest less.")

    def check(self) -> None:
        """Check every token against the language; afterwards brackets match and strings are clean."""
        brackets: list[_Token] = []
        before: _Token | None = None
        operators = 0
        for token in self.tokens:
            self._check_token(token, before)
            operators += token.kind == "operator" or token.text in ("and", "or", "not")
            if operators > MAX_OPERATORS:
                self.fail(token.offset, f"The formula has more than {MAX_OPERATORS} operators. Shorten it.")
            if token.kind == "mark" and token.text in _OPENING:
                brackets.append(token)
            elif token.kind == "mark" and token.text in _CLOSING:
                opening = brackets.pop() if brackets else None
                if opening is None or _OPENING.index(opening.text) != _CLOSING.index(token.text):
                    self.fail(token.offset, f"{token.text!r} closes nothing that is open. Remove it.")
            before = token
        self._check_rest()
        if brackets:
            self.fail(brackets[-1].offset, f"{brackets[-1].text!r} is not closed.")

    def _check_token(self, token: _Token, before: _Token | None) -> None:
        """Refuse words, powers and strings that are not in the language."""
        if token.kind == "unlisted":
            self.fail(token.offset, f"{token.text} is not in the language. Use + - * / // %, comparisons, and, or, not.")
        if token.kind == "name" and token.text not in _WORDS:
            self.fail(
                token.offset,
                f"{token.text!r} is not known here: a formula sees no variables and only rand(), randint(a, b) and "
                "choice(list). Text stands in quotes; to use variables take mode string.",
            )
        if token.kind != "string":
            return
        if before is not None and before.kind in ("string", "name", "number") and before.text not in ("and", "or", "not"):
            self.fail(token.offset, "An operator is missing before this text. Join texts with +.")
        bad = next((match for match in _ESCAPE.finditer(token.text, 1, len(token.text) - 1) if len(match[0]) == 1), None)
        if bad is not None:
            self.fail(token.offset + bad.start(), r"There is no such escape. Write \\ for a backslash.")
        if any("\ud800" <= character <= "\udfff" for character in unescape(token.text)):
            self.fail(token.offset, "The text holds half a character (a lone surrogate). Remove it.")

    def _check_rest(self) -> None:
        """Report the character at which the tokens stopped."""
        if self.stopped_at is None:
            return
        character = self.source[self.stopped_at]
        if character in "\"'":
            self.fail(self.stopped_at, "The text that begins here is not closed, or holds a line break.")
        if character.isdigit() or character == ".":
            self.fail(self.stopped_at, "This is no number. Write 0.5 or 12; attributes do not exist.")
        if self.source.startswith(("[[", "{{"), self.stopped_at) or character in "|=.":
            self.fail(self.stopped_at, f"{character!r} is not possible here. Macros work in mode string.")
        self.fail(self.stopped_at, f"{character!r} is not possible here. Use + - * / // %, comparisons, and, or, not.")


# From syntax tree to closures.


class _Compiler:
    """Turns the tree into closures; every node that is not listed is an error.

    Python's parser gets a text in which every string is blanked out and line feeds are the only ends of lines: what a string
    says is read here (Python has other escapes than JSON), and lines and columns are those of the source.
    """

    def __init__(self, source: str, tokens: _Tokens) -> None:
        self._lines = source.split("\n")
        self._strings: dict[tuple[int, int], str] = {}
        # Parentheses let a formula run over several lines.
        self._parsed = f"({self._blank(source, tokens)})"

    def _blank(self, source: str, tokens: _Tokens) -> str:
        """The source as it is parsed; keeps what its strings say by their line and column in it."""
        pieces: list[str] = []
        taken = 0
        for token in tokens.tokens:
            if token.kind != "string":
                continue
            pieces.append(source[taken : token.offset])
            pieces.append(f"'{'x' * (len(token.text) - 2)}'")
            taken = token.offset + len(token.text)
            line_start = source.rfind("\n", 0, token.offset) + 1
            place = source.count("\n", 0, token.offset) + 1, token.offset - line_start + (line_start == 0)
            self._strings[place] = unescape(token.text[1:-1])
        return "".join((*pieces, source[taken:])).replace("\r", " ")

    def compile(self) -> Evaluate:
        """The whole formula. Raises ExpressionError."""
        try:
            tree = ast.parse(self._parsed, mode="eval")
        except SyntaxError as error:
            self._fail_at(error.lineno or 1, (error.offset or 1) - 1, "This cannot be understood. Check what stands before it.")
        except (MemoryError, RecursionError, ValueError) as error:
            raise ExpressionError("The formula is too complicated. Shorten it.") from error
        return self._node(tree.body)

    def _fail_at(self, line: int, column: int, message: str) -> NoReturn:
        """Raise ExpressionError at a 1-based line and 0-based column of the text in parentheses."""
        column = column - 1 if line == 1 else column
        raise ExpressionError(message, min(line, len(self._lines)), max(0, column) + 1)

    def _fail(self, node: ast.expr, message: str) -> NoReturn:
        """Raise ExpressionError where the node begins. ``ast`` counts bytes, and what it parsed is ASCII."""
        self._fail_at(node.lineno, node.col_offset, message)

    def _node(self, node: ast.expr) -> Evaluate:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name(id=name) if name in CONSTANTS:
                value = CONSTANTS[name]
                return lambda random: value
            case ast.Name(id=name):
                self._fail(node, f"{name} is a function: write {name}(..).")
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self._list(items)
            case ast.Dict():
                return self._dict(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.BoolOp():
                return self._logic(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.Call():
                return self._call(node)
        return self._refuse(node)

    def _refuse(self, node: ast.expr) -> NoReturn:
        """Raise ExpressionError for a node that is not in the language."""
        self._fail(node, "This is not possible here: there are literals, operators, rand(), randint(a, b), choice(list).")

    def _constant(self, node: ast.Constant) -> Evaluate:
        value = node.value
        if isinstance(value, str):
            value = self._strings[node.lineno, node.col_offset]
        elif isinstance(value, (int, float)):
            self._check_number(node, value)
        return lambda random: value

    def _check_number(self, node: ast.expr, value: int | float) -> None:
        """Refuse what is too large, NaN and infinity."""
        if isinstance(value, int) and abs(value) > MAX_INTEGER:
            self._fail(node, "The number is larger than 2^256.")
        if isinstance(value, float) and not math.isfinite(value):
            self._fail(node, "The number is not finite.")

    def _list(self, items: list[ast.expr]) -> Evaluate:
        runs = [self._node(item) for item in items]
        return lambda random: [run(random) for run in runs]

    def _dict(self, node: ast.Dict) -> Evaluate:
        members: list[tuple[str, Evaluate]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                self._fail(key or node, "The keys of an object are texts in quotes.")
            members.append((self._strings[key.lineno, key.col_offset], self._node(value)))
        return lambda random: {key: run(random) for key, run in members}

    def _unary(self, node: ast.UnaryOp) -> Evaluate:
        run = self._node(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda random: not run(random)
        if not isinstance(node.op, (ast.USub, ast.UAdd)):
            self._refuse(node)
        is_minus = isinstance(node.op, ast.USub)

        def sign(random: Random) -> Json:
            value = run(random)
            if not _is_number(value):
                self._fail(node, f"A number is needed here, not {_kind(value)}.")
            return -value if is_minus else value

        return sign

    def _binary(self, node: ast.BinOp) -> Evaluate:
        """A row such as ``a + b - c``, from left to right without recursion."""
        row: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            if type(left.op) not in _ARITHMETIC:
                self._refuse(left)
            row.append(left)
            left = left.left
        first = self._node(left)
        steps = [(each, self._node(each.right)) for each in reversed(row)]

        def run(random: Random) -> Json:
            value = first(random)
            for each, right in steps:
                value = self._calculate(each, value, right(random))
            return value

        return run

    def _calculate(self, node: ast.BinOp, left: Json, right: Json) -> Json:
        """One step of arithmetic."""
        sign, function = _ARITHMETIC[type(node.op)]
        if not (_is_number(left) and _is_number(right)):
            if sign == "+" and _kind(left) == _kind(right) and isinstance(left, (str, list)):
                return left + right
            self._fail(node.right, f"{sign} does not work between {_kind(left)} and {_kind(right)}.")
        try:
            value = function(left, right)
        except ZeroDivisionError:
            self._fail(node.right, f"{sign} by zero.")
        except OverflowError:
            self._fail(node.right, "The number is too large.")
        self._check_number(node.right, value)
        return value

    def _logic(self, node: ast.BoolOp) -> Evaluate:
        """``and`` and ``or`` give the operand that decided, as Python's do."""
        runs = [self._node(value) for value in node.values]
        stops_at = isinstance(node.op, ast.Or)

        def decide(random: Random) -> Json:
            value: Json = None
            for run in runs:
                value = run(random)
                if bool(value) is stops_at:
                    break
            return value

        return decide

    def _comparison(self, node: ast.Compare) -> Evaluate:
        first = self._node(node.left)
        steps: list[tuple[ast.expr, str, Callable[[Json, Json], bool], Evaluate]] = []
        for sign, right in zip(node.ops, node.comparators, strict=True):
            if type(sign) not in _COMPARISONS:
                self._refuse(right)
            name, function = _COMPARISONS[type(sign)]
            steps.append((right, name, function, self._node(right)))

        def compare(random: Random) -> bool:
            left = first(random)
            for place, name, function, run in steps:
                right = run(random)
                if _kind(left) != _kind(right):
                    self._fail(place, f"{name} does not work between {_kind(left)} and {_kind(right)}.")
                try:
                    holds = function(left, right)
                except TypeError:
                    self._fail(place, f"{name} does not work between these values.")
                if not holds:
                    return False
                left = right
            return True

        return compare

    def _call(self, node: ast.Call) -> Evaluate:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in _FUNCTIONS:
            self._fail(node, "Only rand(), randint(a, b) and choice(list) can be called.")
        if node.keywords or len(node.args) != _FUNCTIONS[name]:
            self._fail(node, "Write rand(), randint(a, b) or choice(list).")
        arguments = [self._node(argument) for argument in node.args]
        if name == "rand":
            return lambda random: random.random()
        chance = self._randint if name == "randint" else self._choice
        return lambda random: chance(node, random, *[argument(random) for argument in arguments])

    def _randint(self, node: ast.Call, random: Random, low: Json, high: Json) -> int:
        if type(low) is not int or type(high) is not int or low > high:
            self._fail(node, "randint(a, b) needs two whole numbers, the first not larger than the second.")
        return random.randint(low, high)

    def _choice(self, node: ast.Call, random: Random, items: Json) -> Json:
        if not isinstance(items, list) or not items:
            self._fail(node, "choice(list) needs a list with something in it.")
        return random.choice(items)


def _is_number(value: Json) -> bool:
    return type(value) in (int, float)


def _kind(value: Json) -> str:
    """The value's type in the user's words."""
    if value is None:
        return "null"
    return _KINDS[type(value)]


_KINDS = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}


def _check_result(value: Json) -> None:
    """Refuse texts, lists and objects that are too large, and half characters. Numbers were checked when they were made."""
    if value is None or isinstance(value, (int, float)):
        return
    try:
        size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    except UnicodeEncodeError as error:
        raise ExpressionError("The text holds half a character (a lone surrogate). Remove it.") from error
    if size > MAX_RESULT:
        raise ExpressionError(f"The result is larger than {MAX_RESULT} bytes. Make it smaller.")
