"""JSON bodies: written as the JSON that they will become, with macros in it.

    {"model": "{{ model }}", [[PROMPT]], "top_p": {{ params.top_p|default(1) }}}

The source is parsed once, by position. Inside a JSON string a macro becomes text; where a value stands it becomes the value
itself; ``[[PROMPT]]`` stands where members of an object stand. So the result is valid JSON whatever the values hold.
Members come in the order of the source; of two with one key the last wins, at the place of the first.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeVar

from agentui.errors import Problem
from agentui.jsonio import MAX_DEPTH, Json
from agentui.templating.core.problems import SourceText
from agentui.templating.core.values import number
from agentui.templating.hadtavern.macros import Insert, MacroReader, Pieces
from agentui.templating.hadtavern.template import (
    Constant,
    HadTavernTemplate,
    Part,
    Text,
    Value,
    array_part,
    object_part,
    text_part,
)

T = TypeVar("T")

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CHARACTERS = re.compile(r'(?:[^"\\\x00-\x1f{\[]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))+')
_WORDS: Final[dict[str, Json]] = {"true": True, "false": False, "null": None}
_SURPLUS = re.compile(r"[ \t\n\r\]}]*")


@dataclass(frozen=True, slots=True)
class JsonLanguage:
    """JSON bodies. ``secrets`` says whether ``[[SECRET:name]]`` may stand in them."""

    secrets: bool = False

    def compile(self, source: str) -> HadTavernTemplate[Json]:
        """Compile a JSON body. Raises TemplateSyntaxError with every problem found, in the order of the text."""
        reader = MacroReader(SourceText(source), self.secrets, True)
        parser = _Parser(reader)
        try:
            root = parser.parse()
        except _BrokenJson as broken:
            reader.source.add(broken.offset, "template.json", broken.message)
            # Mistakes in the macros behind are found as if the rest were text.
            reader.read_pieces(broken.offset)
            reader.source.raise_problems()
            raise
        reader.source.raise_problems()
        warnings = tuple(parser.warnings)
        return HadTavernTemplate(source, tuple(reader.macros), reader.reads, warnings, root, is_text=False)


class _BrokenJson(Exception):
    """The source is not JSON from ``offset`` on."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


@dataclass(slots=True)
class _Parser:
    """Recursive descent over JSON in which macros may stand. ``_at`` is the next character's offset."""

    reader: MacroReader
    warnings: list[Problem] = field(default_factory=list)
    _at: int = 0
    _depth: int = 0

    def parse(self) -> Part[Json]:
        """The whole document. Raises _BrokenJson."""
        if self._text.startswith("\ufeff"):
            self._at = 1
        part = self._value()
        self._skip_space()
        self._end()
        return part

    @property
    def _text(self) -> str:
        return self.reader.source.text

    def _end(self) -> None:
        """Behind the document stands nothing; closing brackets too many are forgiven (seed 003's Gemini example has one)."""
        match = _SURPLUS.match(self._text, self._at)
        if match is None or match.end() < len(self._text):
            self._fail("The JSON is complete before this. Remove what follows, or add the missing ',' or bracket before it.")
        if match.group():
            self.warnings.append(
                self.reader.source.warning(
                    self._at,
                    "template.surplus_brackets",
                    f"{match.group().strip()!r} closes nothing and is ignored. Remove it.",
                    {"found": match.group().strip()},
                )
            )

    def _fail(self, message: str, offset: int | None = None) -> NoReturn:
        raise _BrokenJson(self._at if offset is None else offset, message)

    def _skip_space(self) -> str:
        """Go to what is no space, and say which character stands there; "" at the end."""
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._peek()

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _value(self) -> Part[Json]:
        """A JSON value or a macro in its place."""
        mark = self._skip_space()
        insert = self._macro()
        if insert is not None:
            if insert.macro.kind == "prompt":
                self._fail(
                    '[[PROMPT]] stands for members of an object, not for a value: write {"model": "..", [[PROMPT]]}.',
                    insert.macro.start,
                )
            return Value(insert)
        match mark:
            case "[":
                return array_part(self._items("]", "an item of a list", self._value))
            case "{":
                return object_part(self._items("}", "a member of an object", self._member))
            case '"':
                return text_part(self._string())
            case "":
                self._fail("The JSON ends too early: a value is missing here.")
        return self._literal()

    def _macro(self, *, is_in_json_string: bool = False) -> Insert | None:
        """The macro here, if one is."""
        if not self._text.startswith(("[[", "{{", "{%", "{#"), self._at):
            return None
        found = self.reader.read(self._at, is_in_json_string=is_in_json_string)
        if found is None:
            return None
        self._at = found[1]
        return found[0]

    def _literal(self) -> Constant[Json]:
        """A number, true, false or null."""
        if match := _NUMBER.match(self._text, self._at):
            try:
                value = number(match.group())
            except ValueError as error:
                self._fail(f"{error} Write a smaller one.")
        else:
            match = _WORD.match(self._text, self._at)
            if match is None or match.group() not in _WORDS:
                what = repr(match.group() if match else self._peek())
                self._fail(f"{what} is no JSON value. Put text in double quotes, or write a macro.")
            value = _WORDS[match.group()]
        self._at = match.end()
        return Constant(value)

    def _items(self, closing: str, what: str, read: Callable[[], T]) -> list[T]:
        """What stands between brackets, with commas between; afterwards the closing one is behind."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f"The JSON nests deeper than {MAX_DEPTH} levels. Nest less.")
        self._at += 1
        items: list[T] = []
        mark = self._skip_space()
        while mark != closing:
            items.append(read())
            mark = self._skip_space()
            if mark not in (",", closing):
                self._fail(f"',' or {closing!r} must follow {what}. Text and macros side by side stand in double quotes.")
            if mark == ",":
                self._at += 1
                if self._skip_space() == closing:
                    self._fail(f"A ',' stands before {closing!r}. Remove it, or write what is missing.")
        self._at += 1
        self._depth -= 1
        return items

    def _member(self) -> tuple[str | Text | Insert, Part[Json]]:
        """A key with its value, or ``[[PROMPT]]``."""
        start = self._at
        insert = self._macro()
        if insert is not None:
            if insert.macro.kind != "prompt":
                self._fail("Of all macros only [[PROMPT]] stands for members. Write a key in double quotes before it.", start)
            return insert, Constant(None)
        if self._peek() != '"':
            self._fail("A key in double quotes must stand here.")
        key = text_part(self._string())
        if self._skip_space() != ":":
            self._fail("':' must follow the key.")
        self._at += 1
        return (key.value if isinstance(key, Constant) else key), self._value()

    def _string(self) -> Pieces:
        """A JSON string, cut at its macros."""
        start = self._at
        self._at += 1
        pieces: list[str | Insert] = []
        plain: list[str] = []
        while self._peek() != '"':
            insert = self._macro(is_in_json_string=True)
            if insert is None:
                plain.append(self._characters(start))
                continue
            if plain:
                pieces.append("".join(plain))
                plain = []
            pieces.append(insert)
        self._at += 1
        if plain:
            pieces.append("".join(plain))
        return tuple(pieces)

    def _characters(self, start: int) -> str:
        """The next characters of the string that began at ``start``, escapes resolved."""
        mark = self._peek()
        if mark and mark in "[{":
            self._at += 1
            return mark
        match = _CHARACTERS.match(self._text, self._at)
        if match is None:
            if mark == "\\":
                self._fail(r"JSON has no such escape. Write \\ for a backslash.")
            if not mark:
                self._fail("The string that begins here is not closed.", start)
            self._fail(r"A line break or control character cannot stand in a JSON string. Write \n for a line break.")
        self._at = match.end()
        # The standard library keeps lone surrogates, which orjson refuses.
        return str(json.loads(f'"{match.group()}"'))
