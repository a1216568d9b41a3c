"""What decides in HadTavern's If and while, as conditions of agentui's.

A text is a formula with macros in it (seed 003 knows both, each by itself): ``[[GOLD]] > 3`` is ``gold > 3``. Rows of a form
(``left``, ``operator``, ``right``) are comparisons, lists of them are joined. What has no equal meaning raises NoEqual, which
says why.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from agentui.jsonio import Json, dumps_text
from agentui.templating.core.problems import TemplateSyntaxError
from agentui.templating.hadtavern.conditions import ConditionLanguage

FIELDS: Final = ("condition", "conditions", "expression", "expr", "cond", "test", "if", "rules")
"""What files call a condition, the likeliest first."""

_LEFT: Final = ("left", "value1", "variable", "var", "path", "field", "name", "a")
_SIGN: Final = ("operator", "op", "operation", "compare", "comparison", "type")
_RIGHT: Final = ("right", "value2", "value", "b")
_JOIN: Final = ("logic", "combinator", "combine", "mode", "match")
_ROWS: Final = ("conditions", "rules", "items")
_JOINS: Final[Mapping[str, str]] = {"and": "and", "all": "and", "or": "or", "any": "or"}
_SIGNS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("==", "===", "=", "eq", "equal", "equals", "is"), "=="),
    **dict.fromkeys(("!=", "!==", "<>", "ne", "neq", "notequal", "notequals", "isnot"), "!="),
    **dict.fromkeys((">", "gt", "greater", "greaterthan"), ">"),
    **dict.fromkeys((">=", "gte", "ge", "greaterorequal"), ">="),
    **dict.fromkeys(("<", "lt", "less", "lessthan"), "<"),
    **dict.fromkeys(("<=", "lte", "le", "lessorequal"), "<="),
    **dict.fromkeys(("contains", "includes"), "contains"),
    **dict.fromkeys(("notcontains", "notincludes", "doesnotcontain"), "not contains"),
    **dict.fromkeys(("in",), "in"),
    **dict.fromkeys(("notin",), "not in"),
    **dict.fromkeys(("startswith", "beginswith"), "starts with"),
    **dict.fromkeys(("endswith",), "ends with"),
    **dict.fromkeys(("matches", "regex", "match"), "matches"),
}
_TESTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("empty", "isempty"), "is empty"),
    **dict.fromkeys(("notempty", "isnotempty"), "is not empty"),
    **dict.fromkeys(("exists", "isset", "defined"), "is not missing"),
    **dict.fromkeys(("notexists", "missing", "isnotset", "undefined"), "is missing"),
}
"""Operators that have no right side."""
_MOST_DEEP: Final = 20

_MACRO: Final = r"\[\[(?P<square>[ \t]*[A-Za-z_][^\[\]]*)\]\]|\{\{(?P<curly>[^{}]*)\}\}"
_PIECE = re.compile(
    r"""(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<unclosed>["'])"""
    rf"""|{_MACRO}|(?P<sign>(?:(?<![ \t])[ \t]+)?(?:&&|\|\|)[ \t]*|===|!==)"""
)
"""Each run of blanks, and what follows a quotation mark without an end, is looked through once: texts are long in bad files."""
_ALONE = re.compile(rf"[ \t]*(?:{_MACRO})[ \t]*")
_ANY_MACRO = re.compile(_MACRO)
_WORDS: Final[Mapping[str, str]] = {"&&": " and ", "||": " or ", "===": "==", "!==": "!="}
_NAME_SIGNS = re.compile(r"[^a-z=!<>]")


class NoEqual(Exception):
    """There is no condition of the same meaning; the message says why."""


def condition_of(value: Json, beside: Mapping[str, Json]) -> str:
    """The condition that a file's value means; ``beside`` are the node's other settings, which may say how rows are joined.

    Raises NoEqual.
    """
    text = _joined(value, beside) if isinstance(value, list) else _written(value, 0)
    try:
        ConditionLanguage().compile(text)
    except TemplateSyntaxError as error:
        raise NoEqual(error.problems[0].message) from error
    return text


def _written(value: Json, depth: int) -> str:
    """A text, a row of a form, or rows joined."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _formula(value)
    if depth > _MOST_DEEP:
        raise NoEqual("The conditions stand deeper in each other than 20 times.")
    if isinstance(value, list):
        return _joined(value, {}, depth + 1)
    if not isinstance(value, dict):
        raise NoEqual("It is neither a text nor a row of a form.")
    rows = next((value[name] for name in _ROWS if isinstance(value.get(name), list)), None)
    return _row(value) if rows is None else _joined(rows, value, depth + 1)


def _joined(rows: Sequence[Json], beside: Mapping[str, Json], depth: int = 0) -> str:
    """Several conditions as one: all of them must hold where nothing else is said."""
    said = next((beside[name] for name in _JOIN if isinstance(beside.get(name), str)), "and")
    join = _JOINS.get(said.strip().lower())
    if join is None:
        raise NoEqual(f"{said!r:.60} joins its conditions; here they are joined by and, or by or.")
    if not rows:
        raise NoEqual("It has no conditions.")
    written = [_written(row, depth + 1) for row in rows]
    return written[0] if len(written) == 1 else f" {join} ".join(f"({each})" for each in written)


def _row(row: Mapping[str, Json]) -> str:
    """One comparison of a form."""
    sign = next((row[name] for name in _SIGN if isinstance(row.get(name), str)), None)
    left = next((row[name] for name in _LEFT if name in row), None)
    if sign is None or not isinstance(left, str) or not left.strip():
        raise NoEqual("A row has no operator, or nothing on its left side.")
    plain = _NAME_SIGNS.sub("", sign.lower())
    begin = _side(left, is_name=True)
    if plain in _TESTS:
        return f"{begin} {_TESTS[plain]}"
    if plain not in _SIGNS:
        raise NoEqual(f"There is no operator {sign!r:.60} here.")
    right = next((row[name] for name in _RIGHT if name in row), None)
    if _SIGNS[plain] == "matches" and isinstance(right, str):
        # Backslashes in a regular expression are its own.
        return f'{begin} matches "{right.replace(chr(34), chr(92) + chr(34))}"'
    return f"{begin} {_SIGNS[plain]} {_side(right, is_name=False)}"


def _side(value: Json, *, is_name: bool) -> str:
    """One side of a comparison: a name (a text on the left), a macro, or a value."""
    if not isinstance(value, str):
        return dumps_text(value)
    macro = _ALONE.fullmatch(value)
    if macro is not None:
        return _path(macro)
    if _ANY_MACRO.search(value):
        raise NoEqual(f"{value!r:.60} mixes words and macros; here a name stands alone.")
    return value.strip() if is_name else dumps_text(value)


def _formula(source: str) -> str:
    """A text without its macros: names stand alone here."""
    made: list[str] = []
    taken = 0
    for piece in _PIECE.finditer(source):
        if piece["unclosed"] is not None:
            break
        made.append(source[taken : piece.start()])
        taken = piece.end()
        quoted, sign = piece["quoted"], piece["sign"]
        if sign is not None:
            made.append(_WORDS[sign.strip()])
        elif quoted is None:
            made.append(_path(piece))
        else:
            made.append(_quoted(quoted))
    made.append(source[taken:])
    return "".join(made).strip()


def _quoted(text: str) -> str:
    """A text in quotes; a macro alone in it is the name, for a text is compared with texts."""
    macro = _ALONE.fullmatch(text[1:-1])
    if macro is not None:
        return _path(macro)
    if _ANY_MACRO.search(text):
        raise NoEqual(f"{text:.60} mixes words and macros; here a name stands alone.")
    return text


def _path(macro: re.Match[str]) -> str:
    """The name that a macro reads."""
    inner = macro["square"] if macro["square"] is not None else macro["curly"]
    form, colon, rest = inner.strip().partition(":")
    if macro["square"] is not None and colon:
        if form.strip() not in ("VAR", "OUT"):
            raise NoEqual(f"{macro[0]:.60} has no value in a condition.")
        inner = rest if form.strip() == "VAR" else f"OUT.{rest.strip()}"
    if "|" in inner:
        raise NoEqual(f"{macro[0]:.60} has a filter; set a variable by it in a SetVars before, and name that.")
    return inner.strip()
