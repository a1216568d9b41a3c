"""The filters of ``{{ path|filter }}``: a function with a decorator and a doctest each.

A filter gets the value and its arguments as JSON. Null and missing values pass through untouched, so that a ``default``
behind them still applies, unless the filter says that it takes them (it then gets None).
``default`` itself is part of the language: its argument is only read when it is needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING, is_sequence
from agentui.templating.core.problems import CannotInsert
from agentui.templating.core.values import is_in_range, json_text, text_of
from agentui.templating.hadtavern.scope import MAX_OUTPUT

Function = Callable[..., Json]


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter: its function, how many arguments it takes beside the value, whether it takes null, and whether it reads what
    it is given as text."""

    name: str
    function: Function
    fewest: int
    most: int
    takes_null: bool
    reads_text: bool

    @property
    def usage(self) -> str:
        """How many arguments it takes, in words."""
        counts = {(0, 0): "no argument", (1, 1): "one argument", (2, 2): "two arguments"}
        return counts.get((self.fewest, self.most), f"{self.fewest} or {self.most} arguments")


FILTERS: Final[dict[str, Filter]] = {}
"""Every filter by its name."""

_MAX_NUMBER = 400


def template_filter(
    name: str, arguments: tuple[int, int] = (0, 0), *, takes_null: bool = False, reads_text: bool = True
) -> Callable[[Function], Function]:
    """List the function as the filter ``name`` that takes at least and at most so many ``arguments``."""

    def add(function: Function) -> Function:
        FILTERS[name] = Filter(name, function, *arguments, takes_null, reads_text)
        return function

    return add


@template_filter("json", takes_null=True)
def to_json(value: Json) -> str:
    """The value as compact JSON text.

    >>> to_json({"a": [1, None]})
    '{"a":[1,null]}'
    """
    return json_text(value)


@template_filter("string", takes_null=True)
def to_string(value: Json) -> str:
    """The value as text; null and missing are empty.

    >>> to_string(0.5), to_string(True), to_string(None)
    ('0.5', 'true', '')
    """
    return text_of(value)


@template_filter("add", (1, 1))
def add(value: Json, other: Json) -> Json:
    """The sum of two numbers; texts that are numbers count as such.

    >>> add(2, 3), add("2", 0.5), add(2, -3)
    (5, 2.5, -1)
    """
    first, second = _number_of(value), _number_of(other)
    if not (is_in_range(first) and is_in_range(second) and is_in_range(total := first + second)):
        raise CannotInsert("The sum is too large: a number has at most 308 digits.")
    return total


@template_filter("trim")
def trim(value: Json) -> str:
    """The text without white space around it.

    >>> trim("  hi ")
    'hi'
    """
    return text_of(value).strip()


@template_filter("upper")
def upper(value: Json) -> str:
    """The text in capitals.

    >>> upper("straße")
    'STRASSE'
    """
    return text_of(value).upper()


@template_filter("lower")
def lower(value: Json) -> str:
    """The text in small letters.

    >>> lower("ABC")
    'abc'
    """
    return text_of(value).lower()


@template_filter("length", takes_null=True, reads_text=False)
def length(value: Json) -> int:
    """How many items a list, members an object or characters a text has; 0 for null and missing.

    >>> length([1, 2]), length("abc"), length(None)
    (2, 3, 0)
    """
    return len(value) if isinstance(value, Mapping) or is_sequence(value) else len(text_of(value))


@template_filter("join", (0, 1))
def join(value: Json, separator: Json = "") -> str:
    """The items of a list as texts, one after the other, with a separator between them.

    >>> join(["a", 1, True], ", ")
    'a, 1, true'
    """
    between = text_of(separator)
    items = value if is_sequence(value) else [value]
    texts: list[str] = []
    total = 0
    for item in items:
        texts.append(text_of(item))
        total += len(texts[-1]) + len(between)
        _check_size(total)
    return between.join(texts)


@template_filter("first", reads_text=False)
def first(value: Json) -> Json:
    """The first item of a list or character of a text; missing when it is empty.

    >>> first([7, 8]), first("abc"), first([])
    (7, 'a', MISSING)
    """
    return value[0] if value and (is_sequence(value) or isinstance(value, str)) else MISSING


@template_filter("last", reads_text=False)
def last(value: Json) -> Json:
    """The last item of a list or character of a text; missing when it is empty.

    >>> last([7, 8])
    8
    """
    return value[-1] if value and (is_sequence(value) or isinstance(value, str)) else MISSING


@template_filter("int")
def to_int(value: Json) -> Json:
    """The value as a whole number, cut towards zero; missing when it is not a number, so that a default applies.

    >>> to_int("42"), to_int(2.9), to_int(True), to_int("many")
    (42, 2, 1, MISSING)
    """
    if isinstance(value, str) and len(value) <= _MAX_NUMBER:
        try:
            whole = int(value)
            return whole if is_in_range(whole) else MISSING
        except ValueError:
            pass
    number = value if isinstance(value, int) else to_float(value)
    return MISSING if number is MISSING else int(number)


@template_filter("float")
def to_float(value: Json) -> Json:
    """The value as a number with a fraction; missing when it is not a number.

    >>> to_float("0.7"), to_float(1), to_float("warm"), to_float("inf")
    (0.7, 1.0, MISSING, MISSING)
    """
    if not isinstance(value, (int, float, str)) or (isinstance(value, str) and len(value) > _MAX_NUMBER):
        return MISSING
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return MISSING
    # JSON has no infinity and no NaN.
    return number if number - number == 0 else MISSING


@template_filter("replace", (2, 2))
def replace(value: Json, old: Json, new: Json) -> str:
    """The text with every ``old`` replaced by ``new``; an empty ``old`` replaces nothing.

    >>> replace("a-b-c", "-", "+")
    'a+b+c'
    """
    text, find, put = text_of(value), text_of(old), text_of(new)
    if not find:
        return text
    if len(put) > len(find):
        _check_size(len(text) + text.count(find) * (len(put) - len(find)))
    return text.replace(find, put)


@template_filter("truncate", (1, 2))
def truncate(value: Json, size: Json, end: Json = "") -> str:
    """The first ``size`` characters of the text; where something was cut off, ``end`` stands within them.

    >>> truncate("abcdef", 4), truncate("abcdef", 4, "…"), truncate("abc", 4, "…")
    ('abcd', 'abc…', 'abc')
    """
    text, mark = text_of(value), text_of(end)
    if type(size) is not int or size < 0:
        raise CannotInsert("truncate needs a whole number of characters, 0 or more.")
    return text if len(text) <= size else text[: max(0, size - len(mark))] + mark[:size]


def _check_size(size: int) -> None:
    """Raise CannotInsert when a filter is about to build more than a result may hold."""
    if size > MAX_OUTPUT:
        raise CannotInsert(f"A filter would produce more than {MAX_OUTPUT} characters. Insert less.")


def _number_of(value: Json) -> int | float:
    """A number as it is, a text that is one as a number. Raises CannotInsert for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    text = text_of(value).strip() if isinstance(value, str) else ""
    if len(text) <= _MAX_NUMBER:
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    raise CannotInsert("add takes numbers, and texts that are numbers.")
