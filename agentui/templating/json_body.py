"""JSON templates: a body written as the JSON that it will become, with macros in it.

    {"model": "{{ model }}", [[PROMPT]], "top_p": {{ params.top_p|default(1) }}}

The source is parsed once, by position. Inside a JSON string a macro becomes text; where a value stands it becomes the value
itself; ``[[PROMPT]]`` stands where members of an object stand. So the result is valid JSON whatever the values hold.
Members come in the order of the source; of two with one key the last wins, at the place of the first.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn, Protocol, TypeAlias

from agentui.errors import Problem
from agentui.jsonio import MAX_DEPTH, Json
from agentui.templating.literals import join_surrogates, number
from agentui.templating.macros import Insert, MacroReader, Segment, prompt_members
from agentui.templating.paths import is_sequence
from agentui.templating.problems import SourceText, TemplateSyntaxError
from agentui.templating.scope import Frame, Scope
from agentui.templating.text import Pieces, Template, check_single_line, join_pieces, read_pieces, trace_pieces

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])")
_WORD = re.compile(r"[A-Za-z_]\w*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f{\[]+')
_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))')
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: Final[dict[str, Json]] = {"true": True, "false": False, "null": None}
_SURPLUS = re.compile(r"[ \t\n\r\]}]*")

Trace: TypeAlias = list[tuple[str, list[Segment]]]


class _Node(Protocol):
    """A part of the compiled document."""

    def render(self, frame: Frame) -> Json:
        """The JSON value now."""

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        """The leaves below that hold macros, each with its JSON pointer."""


@dataclass(frozen=True, slots=True)
class JsonTemplate(Template):
    """A JSON template; ``source`` is empty when it was compiled from a value.

    Values of the scope stand in the result as they are, shared and not copied: do not change them.
    """

    root: _Node

    def render(self, scope: Scope) -> Json:
        """The JSON value with every macro replaced; the outermost object or list is new each time, its parts may be shared.

        Raises TemplateRenderError when the strings together are larger than MAX_OUTPUT, large values are inserted too
        often, or a value is no JSON.
        """
        value = self.root.render(Frame(scope))
        return value.copy() if isinstance(value, (dict, list)) else value

    def trace(self, scope: Scope) -> Trace:
        """The leaves that hold macros: JSON pointer and segments; of two with one pointer the last. Secrets show as stars.

        ``[[PROMPT]]`` in an object is listed under the object's own pointer; keys are not listed.
        """
        return list(dict(self.root.trace(Frame(scope, is_preview=True), "")).items())


def compile_json(source: str, *, secrets: bool = False) -> JsonTemplate:
    """Compile a JSON template. Raises TemplateSyntaxError with every problem found, in the order of the text."""
    reader = MacroReader(SourceText(source), secrets, True)
    parser = _Parser(reader)
    try:
        root = parser.parse()
    except _BrokenJson as broken:
        reader.source.add(broken.offset, "template.json", broken.message)
        # Mistakes in the macros behind are found as if the rest were text.
        read_pieces(reader, broken.offset)
        reader.source.raise_problems()
        raise
    reader.source.raise_problems()
    return _template(source, [reader], root, tuple(parser.warnings))


def compile_value(
    value: Json,
    *,
    secrets: bool = False,
    prompt: bool = False,
    lone_macros_are_values: bool = False,
    single_line: bool = False,
) -> JsonTemplate:
    """Compile a JSON value whose strings, keys too, are text templates (headers, parameters).

    A string that is one macro and nothing else gives text too, unless ``lone_macros_are_values``: then it gives the value
    itself. ``single_line`` as in ``compile_text``. Lines and columns count within one string; messages name the string by
    its JSON pointer. Raises TemplateSyntaxError.
    """
    compiler = _ValueCompiler(secrets, prompt, lone_macros_are_values, single_line)
    root = compiler.compile(value, "", 0)
    problems = tuple(problem for reader in compiler.readers for problem in reader.source.problems)
    if problems:
        raise TemplateSyntaxError(problems)
    return _template("", compiler.readers, root, ())


def _template(source: str, readers: list[MacroReader], root: _Node, warnings: tuple[Problem, ...]) -> JsonTemplate:
    """The template with what all its strings read."""
    return JsonTemplate(
        source=source,
        macros=tuple(macro for reader in readers for macro in reader.macros),
        reads=frozenset(name for reader in readers for name in reader.reads),
        short_reads=frozenset(name for reader in readers for name in reader.short_reads),
        names=frozenset(name for reader in readers for name in reader.names),
        tier_names=frozenset(name for reader in readers for name in reader.tier_names),
        warnings=warnings,
        root=root,
    )


# The compiled document.


@dataclass(frozen=True, slots=True)
class _Constant:
    """A value without macros."""

    value: Json

    def render(self, frame: Frame) -> Json:
        return self.value

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        return iter(())


@dataclass(frozen=True, slots=True)
class _Value:
    """A macro where a value stands."""

    insert: Insert

    def render(self, frame: Frame) -> Json:
        return self.insert.value(frame)

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        yield pointer, [Segment(self.insert.json(frame), self.insert.macro.text)]


@dataclass(frozen=True, slots=True)
class _Text:
    """A string with macros in it."""

    pieces: Pieces
    is_single_line: bool = False

    def render(self, frame: Frame) -> str:
        text = join_pieces(self.pieces, frame)
        if self.is_single_line:
            check_single_line(text, self.pieces)
        return text

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        yield pointer, trace_pieces(self.pieces, frame)


@dataclass(frozen=True, slots=True)
class _Array:
    """A list in which something is not constant."""

    items: tuple[_Node, ...]

    def render(self, frame: Frame) -> list[Json]:
        return [item.render(frame) for item in self.items]

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        for index, item in enumerate(self.items):
            yield from item.trace(frame, f"{pointer}/{index}")


@dataclass(frozen=True, slots=True)
class _Object:
    """An object in which something is not constant. An insert in a key's place is ``[[PROMPT]]``."""

    members: tuple[tuple[str | _Text | Insert, _Node], ...]

    def render(self, frame: Frame) -> dict[str, Json]:
        made: dict[str, Json] = {}
        for key, node in self.members:
            if isinstance(key, str):
                made[key] = node.render(frame)
            elif isinstance(key, Insert):
                made.update(prompt_members(frame))
            else:
                made[key.render(frame)] = node.render(frame)
        return made

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        for key, node in self.members:
            if isinstance(key, Insert):
                yield pointer, [Segment(key.text(frame), key.macro.text)]
            else:
                name = key if isinstance(key, str) else key.render(frame)
                yield from node.trace(frame, f"{pointer}/{_escape_pointer(name)}")


def _escape_pointer(key: str) -> str:
    """A key as a step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


_NULL: Final = _Constant(None)


def _array(items: list[_Node]) -> _Node:
    """A list; constant when all its items are."""
    constants = [item.value for item in items if isinstance(item, _Constant)]
    return _Constant(constants) if len(constants) == len(items) else _Array(tuple(items))


def _object(members: list[tuple[str | _Text | Insert, _Node]]) -> _Node:
    """An object; constant when all its members are."""
    constants = {key: node.value for key, node in members if isinstance(key, str) and isinstance(node, _Constant)}
    is_constant = all(isinstance(key, str) and isinstance(node, _Constant) for key, node in members)
    return _Constant(constants) if is_constant else _Object(tuple(members))


def _text(pieces: Pieces, *, is_single_line: bool = False) -> _Constant | _Text:
    """A string; constant when there is no macro in it."""
    if all(isinstance(piece, str) for piece in pieces):
        return _Constant("".join(piece for piece in pieces if isinstance(piece, str)))
    return _Text(pieces, is_single_line)


# From source to document.


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

    def parse(self) -> _Node:
        """The whole document. Raises _BrokenJson."""
        if self._text.startswith("\ufeff"):
            self._at = 1
        self._skip_space()
        node = self._value()
        self._skip_space()
        self._end()
        return node

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
                )
            )

    def _fail(self, message: str, offset: int | None = None) -> NoReturn:
        raise _BrokenJson(self._at if offset is None else offset, message)

    def _skip_space(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _value(self) -> _Node:
        """A JSON value or a macro in its place."""
        mark = self._peek()
        if mark and mark in "[{":
            insert = self._macro()
            if insert is not None:
                return self._inserted(insert)
            return self._array() if mark == "[" else self._object()
        if mark == '"':
            return _text(self._string())
        if not mark:
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

    def _inserted(self, insert: Insert) -> _Node:
        """A macro where a value stands."""
        if insert.macro.kind == "prompt":
            self._fail(
                '[[PROMPT]] stands for members of an object, not for a value: write {"model": "..", [[PROMPT]]}.',
                insert.macro.start,
            )
        return _Value(insert)

    def _literal(self) -> _Node:
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
        return _Constant(value)

    def _open(self) -> None:
        """Step into a bracket."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f"The JSON nests deeper than {MAX_DEPTH} levels. Nest less.")
        self._at += 1
        self._skip_space()

    def _next(self, closing: str, what: str) -> bool:
        """Step behind ',' and say True, or behind the closing bracket and say False."""
        self._skip_space()
        mark = self._peek()
        if mark not in (",", closing):
            self._fail(f"',' or {closing!r} must follow {what}. Text and macros side by side stand in double quotes.")
        self._at += 1
        if mark == closing:
            self._depth -= 1
            return False
        self._skip_space()
        if self._peek() == closing:
            self._fail(f"A ',' stands before {closing!r}. Remove it, or write what is missing.", self._at)
        return True

    def _array(self) -> _Node:
        self._open()
        if self._peek() == "]":
            self._at += 1
            self._depth -= 1
            return _array([])
        items = [self._value()]
        while self._next("]", "an item of a list"):
            items.append(self._value())
        return _array(items)

    def _object(self) -> _Node:
        self._open()
        if self._peek() == "}":
            self._at += 1
            self._depth -= 1
            return _object([])
        members = [self._member()]
        while self._next("}", "a member of an object"):
            members.append(self._member())
        return _object(members)

    def _member(self) -> tuple[str | _Text | Insert, _Node]:
        """A key with its value, or ``[[PROMPT]]``."""
        start = self._at
        insert = self._macro()
        if insert is not None:
            if insert.macro.kind != "prompt":
                self._fail("Of all macros only [[PROMPT]] stands for members. Write a key in double quotes before it.", start)
            return insert, _NULL
        if self._peek() != '"':
            self._fail("A key in double quotes must stand here.")
        key = _text(self._string())
        self._skip_space()
        if self._peek() != ":":
            self._fail("':' must follow the key.")
        self._at += 1
        self._skip_space()
        return (str(key.value) if isinstance(key, _Constant) else key), self._value()

    def _string(self) -> Pieces:
        """A JSON string, cut at its macros."""
        start = self._at
        self._at += 1
        pieces: list[str | Insert] = []
        plain: list[str] = []
        while (mark := self._peek()) != '"':
            insert = self._macro(is_in_json_string=True) if mark and mark in "[{" else None
            if insert is None:
                plain.append(self._characters(start))
                continue
            if plain:
                pieces.append(join_surrogates("".join(plain)))
                plain = []
            pieces.append(insert)
        self._at += 1
        if plain:
            pieces.append(join_surrogates("".join(plain)))
        return tuple(pieces)

    def _characters(self, start: int) -> str:
        """The next characters of the string that began at ``start``, escapes resolved."""
        mark = self._peek()
        if mark == "\\":
            match = _ESCAPE.match(self._text, self._at)
            if match is None:
                self._fail(r"JSON has no such escape. Write \\ for a backslash.")
            self._at = match.end()
            return chr(int(match[2], 16)) if match[2] else _ESCAPES[match[1]]
        if mark and mark in "[{":
            self._at += 1
            return mark
        match = _PLAIN.match(self._text, self._at)
        if match is None:
            if not mark:
                self._fail("The string that begins here is not closed.", start)
            self._fail(r"A line break or control character cannot stand in a JSON string. Write \n for a line break.")
        self._at = match.end()
        return match.group()


@dataclass(slots=True)
class _ValueCompiler:
    """Compiles the strings of a JSON value."""

    allows_secrets: bool
    allows_prompt: bool
    lone_macros_are_values: bool
    is_single_line: bool
    readers: list[MacroReader] = field(default_factory=list)

    def compile(self, value: Json, pointer: str, depth: int) -> _Node:
        """The compiled value. Raises TemplateSyntaxError when it nests too deep or is no JSON."""
        if depth > MAX_DEPTH:
            raise TemplateSyntaxError(
                (Problem("template.json", f"The value nests deeper than {MAX_DEPTH} levels. Nest less."),)
            )
        if isinstance(value, str):
            return self._string(value, pointer)
        if isinstance(value, Mapping):
            return _object([self._member(key, item, pointer, depth) for key, item in value.items()])
        if is_sequence(value):
            return _array([self.compile(item, f"{pointer}/{index}", depth + 1) for index, item in enumerate(value)])
        return _Constant(value)

    def _member(self, key: str, value: Json, pointer: str, depth: int) -> tuple[str | _Text, _Node]:
        place = f"{pointer}/{_escape_pointer(key)}"
        name = _text(self._pieces(key, place), is_single_line=self.is_single_line)
        return (key if isinstance(name, _Constant) else name), self.compile(value, place, depth + 1)

    def _string(self, text: str, pointer: str) -> _Node:
        pieces = self._pieces(text, pointer)
        if self.lone_macros_are_values and len(pieces) == 1 and isinstance(pieces[0], Insert):
            return _Value(pieces[0])
        return _text(pieces, is_single_line=self.is_single_line)

    def _pieces(self, text: str, place: str) -> Pieces:
        """The string cut at its macros; its problems stay with its reader."""
        reader = MacroReader(SourceText(text, place), self.allows_secrets, self.allows_prompt)
        self.readers.append(reader)
        return read_pieces(reader)
