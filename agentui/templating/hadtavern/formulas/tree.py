"""From Python's syntax tree to closures: every node that is not listed is an error, and nothing is evaluated by Python."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import ClassVar, Final, NoReturn

from agentui.jsonio import Json
from agentui.templating.core.values import CONSTANTS, unescape
from agentui.templating.hadtavern.formulas.tokens import FUNCTIONS, ExpressionError, Token, Tokens
from agentui.templating.hadtavern.formulas.values import Evaluate, Moment, fault_of_number, is_number, kind, present, truth

_ARITHMETIC: Final[dict[type[ast.operator], tuple[str, Callable[[Json, Json], Json]]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
}
COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, Callable[[Json, Json], bool]]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}


class Compiler:
    """Turns the tree into closures; every node that is not listed is an error.

    Python's parser gets a text in which every string is blanked out and line feeds are the only ends of lines: what a string
    says is read here (Python has other escapes than JSON), and lines and columns are those of the source.
    """

    functions: ClassVar[Mapping[str, int]] = FUNCTIONS
    """What can be called, with how many arguments."""
    calls: ClassVar = "rand(), randint(a, b) and choice(list)"
    """The same for people."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._lines = tokens.source.split("\n")
        self.at: dict[tuple[int, int], Token] = {}
        """The tokens that were blanked, by their line and column in the parsed text."""
        # Parentheses let a formula run over several lines.
        self._parsed = f"({self._blank(tokens)})"

    def _blank(self, tokens: Tokens) -> str:
        """The source as it is parsed; keeps what was blanked by its place in it."""
        pieces: list[str] = []
        taken = 0
        for token in tokens.tokens:
            blanked = tokens.blanked(token)
            if blanked is None:
                continue
            pieces += (tokens.source[taken : token.offset], blanked)
            taken = token.offset + len(token.text)
            line, column = tokens.place(token.offset + (0 if token.kind == "string" else blanked.index("x")))
            self.at[line, column - (line > 1)] = token
        return "".join((*pieces, tokens.source[taken:])).replace("\r", " ")

    def compile(self) -> Evaluate:
        """The whole formula. Raises ExpressionError."""
        try:
            tree = ast.parse(self._parsed, mode="eval")
        except SyntaxError as error:
            self._fail_at(error.lineno or 1, (error.offset or 1) - 1, "This cannot be understood. Check what stands before it.")
        except (MemoryError, RecursionError, ValueError) as error:
            raise ExpressionError(f"The {self._tokens.noun} is too complicated. Shorten it.") from error
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
                return lambda moment: value
            case ast.Name():
                return self._name(node)
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

    def _name(self, node: ast.Name) -> Evaluate:
        """A name that is no constant; a formula has none but those of its functions."""
        self._fail(node, f"{node.id} is a function: write {node.id}(..).")

    def _refuse(self, node: ast.expr) -> NoReturn:
        """Raise ExpressionError for a node that is not in the language."""
        self._fail(node, f"This is not possible here: there are literals, operators, {self.calls}.")

    def _constant(self, node: ast.Constant) -> Evaluate:
        value = node.value
        if isinstance(value, str):
            value = self._text(node)
        elif isinstance(value, (int, float)):
            self._check_number(node, value)
        return lambda moment: value

    def _text(self, node: ast.Constant) -> str:
        """What a text in quotes says."""
        return unescape(self.at[node.lineno, node.col_offset].text[1:-1])

    def _check_number(self, node: ast.expr, value: int | float) -> None:
        """Refuse what is too large, NaN and infinity."""
        fault = fault_of_number(value)
        if fault is not None:
            self._fail(node, fault)

    def _list(self, items: list[ast.expr]) -> Evaluate:
        runs = [self._node(item) for item in items]
        return lambda moment: [present(run(moment)) for run in runs]

    def _dict(self, node: ast.Dict) -> Evaluate:
        members: list[tuple[str, Evaluate]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                self._fail(key or node, "The keys of an object are texts in quotes.")
            members.append((self._text(key), self._node(value)))
        return lambda moment: {key: present(run(moment)) for key, run in members}

    def _unary(self, node: ast.UnaryOp) -> Evaluate:
        run = self._node(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda moment: not truth(run(moment))
        if not isinstance(node.op, (ast.USub, ast.UAdd)):
            self._refuse(node)
        is_minus = isinstance(node.op, ast.USub)

        return lambda moment: self._signed(node, run(moment), is_minus=is_minus)

    def _signed(self, node: ast.UnaryOp, value: Json, *, is_minus: bool) -> Json:
        """A number with a sign before it."""
        if not is_number(value):
            self._fail(node, f"A number is needed here, not {kind(value)}.")
        return -value if is_minus else value

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

        def run(moment: Moment) -> Json:
            value = first(moment)
            for each, right in steps:
                value = self._calculate(moment, each, value, right(moment))
            return value

        return run

    def _calculate(self, moment: Moment, node: ast.BinOp, left: Json, right: Json) -> Json:
        """One step of arithmetic."""
        sign, function = _ARITHMETIC[type(node.op)]
        if not (is_number(left) and is_number(right)):
            if sign == "+" and kind(left) == kind(right) and isinstance(left, (str, list)):
                return left + right
            self._fail(node.right, f"{sign} does not work between {kind(left)} and {kind(right)}.")
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

        def decide(moment: Moment) -> Json:
            value: Json = None
            for run in runs:
                value = run(moment)
                if truth(value) is stops_at:
                    break
            return value

        return decide

    def _comparison(self, node: ast.Compare) -> Evaluate:
        first = self._node(node.left)
        steps: list[tuple[ast.expr, str, Callable[[Json, Json], bool], Evaluate]] = []
        for sign, right in zip(node.ops, node.comparators, strict=True):
            if type(sign) not in COMPARISONS:
                self._refuse(right)
            name, function = COMPARISONS[type(sign)]
            steps.append((right, name, function, self._node(right)))

        def compare(moment: Moment) -> bool:
            left = first(moment)
            for place, name, function, run in steps:
                right = run(moment)
                if kind(left) != kind(right):
                    self._fail(place, f"{name} does not work between {kind(left)} and {kind(right)}.")
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
        if name not in self.functions:
            self._fail(node, f"Only {self.calls} can be called.")
        if node.keywords or len(node.args) != self.functions[name]:
            self._fail(node, f"Write {self.calls}.")
        return self._function(name, node, [self._node(argument) for argument in node.args])

    def _function(self, name: str, node: ast.Call, arguments: list[Evaluate]) -> Evaluate:
        """A function by its name, which is listed."""
        if name == "rand":
            return lambda moment: moment.random.random()
        chance = self._randint if name == "randint" else self._choice
        return lambda moment: chance(node, moment, *[argument(moment) for argument in arguments])

    def _randint(self, node: ast.Call, moment: Moment, low: Json, high: Json) -> int:
        if type(low) is not int or type(high) is not int or low > high:
            self._fail(node, "randint(a, b) needs two whole numbers, the first not larger than the second.")
        return moment.random.randint(low, high)

    def _choice(self, node: ast.Call, moment: Moment, items: Json) -> Json:
        if not isinstance(items, list) or not items:
            self._fail(node, "choice(list) needs a list with something in it.")
        return moment.random.choice(items)
