"""Conditions: formulas that read names and give yes or no.

    ConditionLanguage().compile('chat.last_user contains "code" and gold > 3').render(scope)      True or False

What ``expressions.py`` has, and beside it paths as ``{{ path }}`` has them, ``in``, ``contains``, ``starts with``,
``ends with``, ``matches "regex"``, ``is empty``, ``is missing`` and a few functions. A name that leads nowhere is missing,
and comparing it, or values of different kinds, is false and no error.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import SystemRandom
from typing import ClassVar, Final, Generic, TypeVar

from agentui.errors import Problem
from agentui.jsonio import Json
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import SEARCH_SECONDS, JsPattern, compile_js
from agentui.templating.core.language import Macro, Reads, Segment, Trace
from agentui.templating.core.paths import MAX_STEPS, MISSING, Step, step
from agentui.templating.core.problems import CannotInsert, SourceText, TemplateRenderError, TemplateSyntaxError
from agentui.templating.core.values import json_text, plain_top, unescape
from agentui.templating.core.weight import beginning
from agentui.templating.hadtavern.formulas.comparing import CHANGES, SIGNS, TESTS, WORDS, Compare
from agentui.templating.hadtavern.formulas.tokens import STRING, ExpressionError, Token
from agentui.templating.hadtavern.formulas.tree import COMPARISONS, Compiler
from agentui.templating.hadtavern.formulas.values import Evaluate, Moment, truth
from agentui.templating.hadtavern.formulas.words import CALLS, ConditionTokens
from agentui.templating.hadtavern.macros import MacroReader
from agentui.templating.hadtavern.scope import Frame, Read, Scope

MAX_PATTERNS: Final = 20
"""Regular expressions in one condition: each may take SEARCH_SECONDS."""
SHOWN: Final = 500
"""Characters that are shown of a value."""

_STEP = re.compile(rf"\.(?P<key>[\w$@-]+)|\[[ \t]*(?:(?P<index>-?[0-9]+)|(?P<text>{STRING}))[ \t]*\]")
_QUOTED = re.compile(r"\\(.)")
_MEMBERSHIP: Final[Mapping[type[ast.cmpop], str]] = {ast.In: "in", ast.NotIn: "not in"}
_CHANCE = SystemRandom()

V = TypeVar("V", covariant=True)


@dataclass(frozen=True, slots=True)
class Condition(Generic[V]):
    """A compiled condition, or a formula with names where its value is wanted."""

    source: str
    macros: tuple[Macro, ...]
    """The paths in it."""
    reads: Reads
    warnings: tuple[Problem, ...]
    searches: bool
    """Whether regular expressions are searched for, which may take a while."""
    _run: Evaluate
    _paths: tuple[Read, ...]
    _result: Callable[[Json], V]

    def render(self, scope: Scope) -> V:
        """What the condition gives now. Raises TemplateRenderError where it cannot be computed: a text times a number, a
        division by zero, a search that takes too long, values that are too large."""
        try:
            return self._result(self._run(Moment(_CHANCE, Frame(scope))))
        except ExpressionError as error:
            raise TemplateRenderError(error.message, error.line, error.column) from error
        except CannotInsert as error:
            raise TemplateRenderError(str(error), 1, 1) from error

    def operands(self, scope: Scope) -> list[Json]:
        """What each path in the condition is now, each once: ``name``, ``value`` (its beginning) and ``is_missing``."""
        frame = Frame(scope)
        found: dict[str, Json] = {}
        for macro, read in zip(self.macros, self._paths, strict=True):
            if macro.text not in found:
                value = read(frame)
                is_missing = value is MISSING
                shown = None if is_missing else beginning(value, SHOWN)
                found[macro.text] = {"name": macro.text, "value": shown, "is_missing": is_missing}
        return list(found.values())

    def trace(self, scope: Scope) -> Trace:
        """The condition with the value in place of each path, as JSON; raises as ``render`` does."""
        frame = Frame(scope, is_preview=True)
        segments: list[Segment] = []
        taken = 0
        for macro, read in zip(self.macros, self._paths, strict=True):
            if macro.start > taken:
                segments.append(Segment(self.source[taken : macro.start], None))
            value = read(frame)
            shown = "missing" if value is MISSING else json_text(beginning(value, SHOWN))
            segments.append(Segment(shown, macro.text))
            taken = macro.end
        segments.append(Segment(self.source[taken:], None))
        return [(None, segments)]


@dataclass(frozen=True, slots=True)
class ConditionLanguage:
    """Conditions, which give True or False."""

    def compile(self, source: str) -> Condition[bool]:
        """Compile a condition. Raises TemplateSyntaxError."""
        return _compile(source, truth)


@dataclass(frozen=True, slots=True)
class ValueLanguage:
    """The same language where a value is wanted: a number to choose by, a list to go through. What is missing is null."""

    def compile(self, source: str) -> Condition[Json]:
        """Compile a formula with names. Raises TemplateSyntaxError."""
        return _compile(source, lambda value: None if value is MISSING else plain_top(value))


def _compile(source: str, result: Callable[[Json], V]) -> Condition[V]:
    """Compile a source whose value is handed out as ``result`` says."""
    try:
        tokens = ConditionTokens(source)
        tokens.check_nesting()
        tokens.check()
        compiler = _ConditionCompiler(tokens)
        run = compiler.compile()
    except ExpressionError as error:
        problem = Problem("condition.syntax", error.message, line=error.line, column=error.column)
        raise TemplateSyntaxError((problem,)) from error
    compiler.reader.source.raise_problems()
    paths = sorted(compiler.paths, key=lambda path: path[0].start)
    return Condition(
        source=source,
        macros=tuple(macro for macro, _ in paths),
        reads=compiler.reader.reads,
        warnings=(),
        searches=compiler.patterns > 0,
        _run=run,
        _paths=tuple(read for _, read in paths),
        _result=result,
    )


class _ConditionCompiler(Compiler):
    """What is different in conditions: names, the comparisons that are words, and that what is missing is no error."""

    functions: ClassVar[Mapping[str, int]] = CALLS
    calls: ClassVar = "lower(x), upper(x), len(x), number(x), rand(), randint(a, b) and choice(list)"

    def __init__(self, tokens: ConditionTokens) -> None:
        super().__init__(tokens)
        self.reader = MacroReader(SourceText(tokens.source), allows_secrets=False, allows_prompt=False)
        self.paths: list[tuple[Macro, Read]] = []
        self.patterns = 0

    def _name(self, node: ast.Name) -> Evaluate:
        token = self.at.get((node.lineno, node.col_offset))
        if token is None or token.kind != "path":
            self._refuse(node)
        name, steps = _path_of(token.text)
        if len(steps) > MAX_STEPS:
            self._fail(node, f"The path has more than {MAX_STEPS} steps. Shorten it.")
        read = self.reader.path(name, steps, token.offset, True)
        macro = Macro(
            token.text, "path", token.offset, token.offset + len(token.text), *self.reader.source.position(token.offset)
        )
        self.paths.append((macro, read))
        return lambda moment: read(moment.frame)

    def _function(self, name: str, node: ast.Call, arguments: list[Evaluate]) -> Evaluate:
        change = CHANGES.get(name)
        if change is None:
            return super()._function(name, node, arguments)
        argument = arguments[0]
        return lambda moment: change(moment.frame, argument(moment))

    def _signed(self, node: ast.UnaryOp, value: Json, *, is_minus: bool) -> Json:
        return MISSING if value is MISSING else super()._signed(node, value, is_minus=is_minus)

    def _calculate(self, moment: Moment, node: ast.BinOp, left: Json, right: Json) -> Json:
        if left is MISSING or right is MISSING:
            return MISSING
        value = super()._calculate(moment, node, left, right)
        if isinstance(value, (str, list)):
            moment.frame.add_work(len(value))
        return value

    # Comparisons: a chain, in which a word is an operand of its own between two ``in`` (see ``ConditionTokens``).

    def _comparison(self, node: ast.Compare) -> Evaluate:
        first = self._node(node.left)
        steps: list[tuple[Compare, Evaluate]] = []
        word: Token | None = None
        is_not = ends = False
        for sign, operand in zip(node.ops, node.comparators, strict=True):
            if ends:
                self._fail(operand, "Nothing can be compared with is empty and is missing. Join with and, or.")
            before, word = word, self._word(operand)
            if word is None:
                steps.append(self._step(before, sign, operand, is_not=is_not))
            elif word.kind == "test":
                ends = True
                steps.append(self._test(word, sign, operand))
            else:
                is_not = isinstance(sign, ast.NotIn)
        return _chain(first, steps)

    def _word(self, operand: ast.expr) -> Token | None:
        """The comparison that this operand stands for; None where it is a value."""
        token = self.at.get((operand.lineno, operand.col_offset)) if isinstance(operand, ast.Name) else None
        return token if token is not None and token.kind in ("word", "test") else None

    def _step(self, word: Token | None, sign: ast.cmpop, operand: ast.expr, *, is_not: bool) -> tuple[Compare, Evaluate]:
        """A sign, or a word and then ``in``, with its right side."""
        if word is None:
            name = _MEMBERSHIP.get(type(sign)) or (COMPARISONS[type(sign)][0] if type(sign) in COMPARISONS else "")
            if not name:
                self._refuse(operand)
            return SIGNS[name], self._node(operand)
        name = " ".join(word.text.removeprefix("not").split())
        if name == "matches":
            compare: Compare = self._matches(operand)
            right: Evaluate = _nothing
        else:
            compare, right = WORDS[name], self._node(operand)
        return (_negated(compare) if is_not else compare), right

    def _test(self, word: Token, sign: ast.cmpop, operand: ast.expr) -> tuple[Compare, Evaluate]:
        """``is empty`` and the like, which has no right side."""
        if not isinstance(sign, ast.In):
            self._fail(operand, "Write is not empty, or is not missing.")
        holds = TESTS[word.text.split()[-1]]
        is_not = "not" in word.text.split()
        return (lambda frame, left, right: holds(left) is not is_not), _nothing

    def _matches(self, operand: ast.expr) -> Compare:
        """``matches``: a search of a text; other values match nothing."""
        token = self.at.get((operand.lineno, operand.col_offset))
        if token is None or not isinstance(operand, ast.Constant):
            self._fail(operand, 'Behind matches stands a regular expression in quotes: matches "^yes".')
        self.patterns += 1
        if self.patterns > MAX_PATTERNS:
            self._fail(operand, f"More than {MAX_PATTERNS} regular expressions. Join some with | in one.")
        quote, inside = token.text[0], token.text[1:-1]
        source = _QUOTED.sub(lambda match: quote if match[1] == quote else match[0], inside)
        try:
            pattern = compile_js(source)
        except RegexError as error:
            self._fail(operand, f"This is no regular expression: {error}.")
        return lambda frame, left, right: isinstance(left, str) and self._search(operand, pattern, left)

    def _search(self, operand: ast.expr, pattern: JsPattern, text: str) -> bool:
        """Whether the expression is found in the text. Raises ExpressionError where that takes too long."""
        try:
            return pattern.search(text) is not None
        except TimeoutError:
            self._fail(operand, f"The search took longer than {SEARCH_SECONDS} seconds. Write an expression that repeats less.")
        except RegexError as error:
            self._fail(operand, f"It cannot be searched for: {error.reason}.")


def _path_of(text: str) -> tuple[str, tuple[Step, ...]]:
    """The first name of a path, and its steps."""
    steps = []
    for match in _STEP.finditer(text):
        quoted = match["text"]
        steps.append(step(match["key"] or match["index"]) if quoted is None else step(unescape(quoted[1:-1])))
    end = min((place for sign in ".[" if (place := text.find(sign)) >= 0), default=len(text))
    return text[:end], tuple(steps)


def _chain(first: Evaluate, steps: list[tuple[Compare, Evaluate]]) -> Evaluate:
    """``a < b < c``: every comparison holds; what stands behind one that does not is not computed."""

    def compare(moment: Moment) -> bool:
        left = first(moment)
        for holds, operand in steps:
            right = operand(moment)
            if not holds(moment.frame, left, right):
                return False
            left = right
        return True

    return compare


def _negated(compare: Compare) -> Compare:
    return lambda frame, left, right: not compare(frame, left, right)


def _nothing(moment: Moment) -> Json:
    """The right side of a comparison that has none."""
    return MISSING
