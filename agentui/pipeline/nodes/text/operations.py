"""The operations of the node Text: each takes a list of texts and gives another."""

from collections.abc import Callable, Sequence
from os.path import commonprefix
from time import thread_time
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agentui.chat.estimates import text_tokens
from agentui.errors import NodeFailed
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import SEARCH_SECONDS, JsPattern
from agentui.regexes.replacing import replace_js

MAX_CHARACTERS = 4 * 1024 * 1024
"""Characters that all texts together may have after each operation."""
MAX_TEXTS = 100_000
"""How many texts there may be after each operation."""
REPLACE_SECONDS = 1.0
"""How long one replacement may take, in all texts together."""
_BLANKS = " \t"
_CHARACTERS_A_TOKEN = 4
"""The most that one token stands for (``text_tokens``)."""

Kind = Literal["template", "split", "join", "replace", "lines", "pick", "trim", "dedent", "upper", "lower", "truncate"]
Unit = Literal["characters", "tokens"]
End = Literal["start", "end"]


class Operation(BaseModel):
    """One step. Each kind reads its own fields and leaves the others alone."""

    model_config = ConfigDict(extra="allow", strict=True)

    op: Literal["template", "split", "join", "replace", "lines", "pick", "trim", "dedent", "upper", "lower", "truncate"] = (
        Field(
            "trim",
            title="Operation",
            description="What to do. split makes several texts of each, join one of all, pick keeps some; others change each.",
            json_schema_extra={
                "enumDescriptions": [
                    "Template",
                    "Split",
                    "Join",
                    "Replace by a regular expression",
                    "Pick lines of each text",
                    "Pick texts",
                    "Trim",
                    "Remove indentation",
                    "Capitals",
                    "Small letters",
                    "Truncate",
                ]
            },
        )
    )
    text: str = Field(
        "",
        description="template: the new text, which sees {{ text }}, {{ texts }} and {{ index }}; split, join: the separator "
        "(\\n, \\t); replace: what stands instead ($1, $<name>); truncate: what marks the cut.",
        json_schema_extra={"when": {"op": ["template", "split", "join", "replace", "truncate"]}, "ui": "macro"},
        max_length=100_000,
    )
    pattern: str = Field(
        "",
        description="replace: a regular expression as JavaScript has them.",
        max_length=10_000,
        json_schema_extra={"when": {"op": ["replace"]}},
    )
    flags: str = Field(
        "g",
        description="replace: its flags; g: every match, i: upper and lower case alike.",
        max_length=8,
        json_schema_extra={"when": {"op": ["replace"]}},
    )
    limit: int | None = Field(
        None,
        ge=0,
        le=10_000_000,
        description="split: the most texts of one; truncate: how much may stay. Empty: no limit.",
        json_schema_extra={"when": {"op": ["split", "truncate"]}},
    )
    unit: Unit = Field(
        "characters",
        description="truncate: what the limit counts; tokens are estimated.",
        json_schema_extra={"when": {"op": ["truncate"]}, "enumDescriptions": ["Characters", "Tokens"]},
    )
    keep: End = Field(
        "start",
        description="truncate: which end of the text stays.",
        json_schema_extra={"when": {"op": ["truncate"]}, "enumDescriptions": ["The start", "The end"]},
    )
    first: int = Field(
        1,
        description="lines, pick: the first that stays, counted from 1; from the end where it is negative.",
        json_schema_extra={"when": {"op": ["lines", "pick"]}},
    )
    last: int = Field(
        -1,
        description="lines, pick: the last that stays; -1 is the last one.",
        json_schema_extra={"when": {"op": ["lines", "pick"]}},
    )


def checked(texts: list[str], where: str) -> list[str]:
    """The texts, where they are not too many. Raises NodeFailed."""
    if len(texts) > MAX_TEXTS:
        raise NodeFailed(f"More than {MAX_TEXTS} texts come of this operation. Split less.", field=where)
    _check_size(sum(map(len, texts)), where)
    return texts


def _check_size(size: int, where: str) -> None:
    if size > MAX_CHARACTERS:
        raise NodeFailed(f"More than {MAX_CHARACTERS} characters come of this operation. Insert less.", field=where)


def each(texts: Sequence[str], change: Callable[[int, str], str], where: str) -> list[str]:
    """Every text changed, by its index and itself. Raises NodeFailed once too much has come of them."""
    changed: list[str] = []
    size = 0
    for index, text in enumerate(texts):
        changed.append(change(index, text))
        size += len(changed[-1])
        _check_size(size, where)
    return changed


def split(texts: Sequence[str], separator: str, limit: int | None, where: str) -> list[str]:
    """Each text at the separator, into ``limit`` pieces at most; without a separator at white space."""
    pieces: list[str] = []
    cuts = -1 if not limit else limit - 1
    for text in texts:
        pieces += text.split(separator or None, cuts)
        if len(pieces) > MAX_TEXTS:
            break
    return checked(pieces, where)


def join(texts: Sequence[str], separator: str, where: str) -> list[str]:
    """All texts as one, with the separator between them."""
    _check_size(sum(map(len, texts)) + len(separator) * len(texts), where)
    return [separator.join(texts)]


def replace(texts: Sequence[str], pattern: JsPattern, replacement: str, where: str) -> list[str]:
    """Each text with its matches replaced. Raises NodeFailed where that takes too long or a text is too long."""
    until = thread_time() + REPLACE_SECONDS

    def replaced(_: int, text: str) -> str:
        left = until - thread_time()
        if left <= 0:
            raise TimeoutError
        return replace_js(text, pattern, replacement, limit=min(SEARCH_SECONDS, left))[0]

    try:
        return each(texts, replaced, where)
    except TimeoutError:
        raise NodeFailed("The regular expression takes too long on this text. Write it simpler.", field=where) from None
    except RegexError as error:
        raise NodeFailed(f"The regular expression cannot be used on this text: {error.reason}.", field=where) from None


def picked(items: Sequence[str], first: int, last: int) -> list[str]:
    """The items from the first to the last, both counted from 1, or from the end (-1 is the last one).

    >>> picked("abcd", 2, -1), picked("abcd", -2, -1), picked("abcd", 3, 2), picked("abcd", -9, 9)
    (['b', 'c', 'd'], ['c', 'd'], [], ['a', 'b', 'c', 'd'])
    """
    start = first - 1 if first > 0 else max(len(items) + first, 0)
    end = last if last >= 0 else len(items) + last + 1
    return list(items[start : max(end, 0)])


def lines(text: str, first: int, last: int) -> str:
    """Some lines of a text."""
    return "\n".join(picked(text.split("\n"), first, last))


def truncated(text: str, limit: int, unit: Unit, keep: End, mark: str) -> str:
    """The text, or as much of one end as the limit allows with the mark at the cut.

    >>> truncated("abcdef", 4, "characters", "start", "…"), truncated("abcdef", 4, "characters", "end", "")
    ('abc…', 'cdef')
    """
    size = text_tokens if unit == "tokens" else len
    most = limit * (_CHARACTERS_A_TOKEN if unit == "tokens" else 1)
    # A text longer than the limit could count is not counted, and a mark of that kind not put anywhere.
    if len(text) <= most and size(text) <= limit:
        return text
    if len(mark) > most or size(mark) > limit:
        return ""

    def shortened(length: int) -> str:
        return text[:length] + mark if keep == "start" else mark + text[len(text) - length :]

    fits, too_long = 0, min(len(text), limit * _CHARACTERS_A_TOKEN) + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if size(shortened(middle)) <= limit:
            fits = middle
        else:
            too_long = middle
    return shortened(fits)


def dedented(text: str) -> str:
    """The text without the blanks that all its lines begin with; a line of nothing else becomes empty.

    As ``textwrap.dedent``, which makes an expression of these blanks, takes seconds for a million and keeps it.
    """
    rows = [row if row.strip(_BLANKS) else "" for row in text.split("\n")]
    blanks = [row[: len(row) - len(row.lstrip(_BLANKS))] for row in rows if row]
    margin = len(commonprefix(blanks))  # noqa: RUF071 - no paths
    return "\n".join(row[margin:] for row in rows)


SIMPLE: dict[str, Callable[[str], str]] = {"trim": str.strip, "dedent": dedented, "upper": str.upper, "lower": str.lower}
"""The operations that need no fields."""
