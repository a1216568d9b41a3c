"""Questions to JSON values: JMESPath and JSONPath (RFC 9535), bounded in time and size.

The question stands in a pipeline, the value may come from anybody. Neither may compute for long or make a little large: every
step looks at the clock, what a JMESPath puts together is weighed, and JSONPath's regular expressions are JavaScript's, with a
time limit.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Any, Literal

import jmespath  # type: ignore[import-untyped]  # it ships none
from jmespath.visitor import TreeInterpreter  # type: ignore[import-untyped]
from jsonpath import JSONPathEnvironment, JSONPathError
from jsonpath.function_extensions import ExpressionType, FilterFunction
from jsonpath.match import JSONPathMatch
from jsonpath.parse import Parser
from jsonpath.path import JSONPath
from jsonpath.segments import JSONPathChildSegment, JSONPathRecursiveDescentSegment, JSONPathSegment
from jsonpath.stream import TokenStream

from agentui.jsonio import Json
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import compile_js
from agentui.templating.core.paths import MISSING
from agentui.templating.core.values import is_in_range, plain, plain_top
from agentui.templating.core.weight import is_heavier

QueryLanguage = Literal["jmespath", "jsonpath"]

MAX_QUERY = 4000
"""Characters of a question."""
MAX_WEIGHT = 16 * 1024 * 1024
"""About how many characters the value and what comes of it may have as JSON."""
MAX_MATCHES = 100_000
"""Values that a JSONPath may find."""
QUERY_SECONDS = 2.0
"""How long one question may take."""

_DOTTED_INDEX = re.compile(r"\.([0-9]+)(?=[.\[]|$)")
_until: ContextVar[float] = ContextVar("until")
"""The moment of ``time.monotonic`` at which a question is given up."""


class QueryError(ValueError):
    """A question that is none, or that cannot be answered of this value; the message says why."""


@dataclass(frozen=True, slots=True)
class Query:
    """A compiled question."""

    _find: Callable[[Json], Json]

    def find(self, value: Json) -> Json:
        """What the value has; MISSING where it has nothing, which a JMESPath does not tell from null.

        A JSONPath that can only lead to one place gives what is there, every other one a list of all that it finds. Raises
        QueryError.
        """
        if is_heavier(value, MAX_WEIGHT):
            raise QueryError(f"the value has more than about {MAX_WEIGHT} characters")
        _until.set(monotonic() + QUERY_SECONDS)
        try:
            return self._find(value)
        except TimeoutError:
            raise QueryError(f"it takes longer than {QUERY_SECONDS:g} seconds on this value") from None
        except RecursionError:
            raise QueryError("the value is too deep for it") from None


def compile_query(language: QueryLanguage, text: str) -> Query:
    """A question, compiled. Raises QueryError."""
    if len(text) > MAX_QUERY:
        raise QueryError(f"it is longer than {MAX_QUERY} characters")
    try:
        return _compiled_jmespath(text) if language == "jmespath" else _compiled_jsonpath(text)
    except RecursionError:
        raise QueryError("it is nested too deep") from None


def _hurry() -> None:
    """Raise TimeoutError where the question has taken too long."""
    if monotonic() > _until.get():
        raise TimeoutError


class _Interpreter(TreeInterpreter):  # type: ignore[misc]  # it has no types
    """JMESPath's own interpreter, under a clock, which weighs what is put together."""

    MAKING = frozenset({"function_expression", "multi_select_dict", "multi_select_list", "flatten"})

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        """The value of one part of the question."""
        _hurry()
        value = super().visit(node, *args, **kwargs)
        if node["type"] in self.MAKING and is_heavier(value, MAX_WEIGHT):
            raise QueryError(f"more than about {MAX_WEIGHT} characters come of it")
        if isinstance(value, float) and not is_in_range(value):
            raise QueryError("a number comes of it that JSON has not")
        return value


def _compiled_jmespath(text: str) -> Query:
    try:
        parsed = jmespath.compile(text).parsed
    except (jmespath.exceptions.JMESPathError, ValueError) as error:
        raise QueryError(" ".join(str(error).partition("\n")[0].split()).rstrip(":,")) from None

    def find(value: Json) -> Json:
        try:
            found = _Interpreter().visit(parsed, plain(value))
        except QueryError:
            raise
        except (jmespath.exceptions.JMESPathError, TypeError, ValueError, ArithmeticError) as error:
            raise QueryError(str(error).partition("\n")[0][:300]) from None
        return MISSING if found is None else found

    return Query(find)


class _Child(JSONPathChildSegment):
    """A step to children, under a clock."""

    def resolve(self, nodes: Iterable[JSONPathMatch]) -> Iterable[JSONPathMatch]:
        """The children that are meant."""
        return _timed(super().resolve(nodes))


class _Descent(JSONPathRecursiveDescentSegment):
    """A step to all that is below, under a clock."""

    def resolve(self, nodes: Iterable[JSONPathMatch]) -> Iterable[JSONPathMatch]:
        """The descendants that are meant."""
        return _timed(super().resolve(nodes))


def _timed(nodes: Iterable[JSONPathMatch]) -> Iterator[JSONPathMatch]:
    for node in nodes:
        _hurry()
        yield node


class _Parser(Parser):
    """JSONPath's own parser, with steps under a clock."""

    def parse_query(self, stream: TokenStream) -> Iterable[JSONPathSegment]:
        """The steps of a path."""
        for segment in super().parse_query(stream):
            kind = _Descent if isinstance(segment, JSONPathRecursiveDescentSegment) else _Child
            yield kind(env=segment.env, token=segment.token, selectors=segment.selectors)


class _Searching(FilterFunction):
    """The functions ``match`` and ``search`` with the expressions of JavaScript, under a time limit."""

    arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 - as the base class has it
    return_type = ExpressionType.LOGICAL

    def __init__(self, written: str) -> None:
        self._written = written

    def __call__(self, value: object, pattern: object) -> bool:
        """Whether the text has what the pattern describes; False for what is no text, and no pattern."""
        _hurry()
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        try:
            return compile_js(self._written.format(pattern), "u").search(value) is not None
        except RegexError:
            return False


class _Environment(JSONPathEnvironment):
    """JSONPath as RFC 9535 has it."""

    parser_class = _Parser

    def setup_function_extensions(self) -> None:
        """The functions of filters."""
        super().setup_function_extensions()
        self.function_extensions["match"] = _Searching("^(?:{})$")
        self.function_extensions["search"] = _Searching("{}")


_ENVIRONMENT = _Environment(strict=True)


def _compiled_jsonpath(text: str) -> Query:
    try:
        path = _ENVIRONMENT.compile(_rooted(text.strip()))
    except JSONPathError as error:
        raise QueryError(str(error).partition("\n")[0][:300]) from None
    assert isinstance(path, JSONPath)
    is_single = path.singular_query()

    def find(value: Json) -> Json:
        found: list[Json] = []
        value = plain_top(value)
        if not isinstance(value, dict | list):  # the package would read a text as JSON
            return MISSING if path.segments else value
        try:
            for match in path.finditer(value):
                found.append(match.obj)
                if len(found) > MAX_MATCHES:
                    raise QueryError(f"it finds more than {MAX_MATCHES} values")
        except JSONPathError as error:
            raise QueryError(str(error).partition("\n")[0][:300]) from None
        if is_heavier(found, MAX_WEIGHT):
            raise QueryError(f"more than about {MAX_WEIGHT} characters come of it")
        if not found:
            return MISSING
        return found[0] if is_single else found

    return Query(find)


def _rooted(text: str) -> str:
    """A path from the root, with indexes in brackets: people leave both out (``choices.0.message``)."""
    if not text.startswith("$"):
        text = f"${text}" if text.startswith("[") else f"$.{text}"
    return text if any(sign in text for sign in "'\"?") else _DOTTED_INDEX.sub(r"[\1]", text)
