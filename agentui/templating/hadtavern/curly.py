"""What stands between ``{{`` and ``}}``: a path, a literal, filters behind it; nothing that runs.

The text is cut into a closed list of tokens, which already refuses every operator. Names, keys and literals are replaced
by numbered placeholders (so keys may hold dashes and Jinja2 never reads a string of ours), Jinja2's parser builds the tree,
and a closed list of its nodes is turned into Python closures. Nothing of Jinja2 runs when a template is rendered.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from jinja2 import Environment, nodes
from jinja2 import TemplateSyntaxError as JinjaSyntaxError
from jinja2.parser import Parser

from agentui.errors import NO_FACTS
from agentui.jsonio import Json
from agentui.templating.core.paths import MAX_STEPS, MISSING, Step, step, walk
from agentui.templating.core.problems import SourceText
from agentui.templating.core.values import CONSTANTS, number, text_of, unescape
from agentui.templating.core.weight import Scale
from agentui.templating.hadtavern.filters import FILTERS, Filter
from agentui.templating.hadtavern.scope import Frame, Read, read_nothing

MAX_LENGTH = 64 * 1024
MAX_NESTING = 30
MAX_FILTERS = 50
_READING = 8
_SCALARS = (str, int, float)

_ENVIRONMENT = Environment(autoescape=False)  # only its parser is used; nothing it makes is shown as HTML
_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<escaped>\\"(?P<inner>[^"\\\n]*)\\")
      | (?P<key>\.[\w$@]+(?:-+[\w$@]+)*)
      | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.]))
      | (?P<name>[^\W\d]\w*(?:-+\w+)*)
      | (?P<mark>[|()\[\]{},:])""",
    re.VERBOSE | re.DOTALL,
)
_OPENING, _CLOSING = "([{", ")]}"
_KEYWORDS = frozenset({"if", "else", "and", "or", "not", "in", "is", "for", "set"})
LANGUAGE: Final = "Between {{ and }} stands a path such as incoming.json.model, with filters behind it such as |default(1)."


@dataclass(frozen=True, slots=True)
class Root:
    """A name at the start of a path, and where in the source it stands."""

    name: str
    offset: int


PathReader = Callable[[str, tuple[Step, ...], int, bool], Read]
"""Gives the reader of a path: its first name, the steps behind it, its offset in the source, and whether a default stands
behind it for when it leads nowhere."""


@dataclass(slots=True)
class Curly:
    """One ``{{ ... }}`` on its way to a closure."""

    source: SourceText
    start: int
    path: PathReader
    is_in_json_string: bool = False
    _end: int = 0
    _is_broken: bool = False
    _is_defended: bool = False
    _table: list[Root | Json] = field(default_factory=list)
    _filters_at: list[tuple[str, int]] = field(default_factory=list)

    def compile(self) -> tuple[Read, int]:
        """The macro's closure and the offset behind it. Mistakes go to the source; the closure is then good for nothing."""
        lowered = self._lower()
        return (read_nothing if self._is_broken else self._parse(lowered)), self._end

    def _parse(self, lowered: str) -> Read:
        """Have Jinja2 build the tree, and turn it into a closure."""
        parser = Parser(_ENVIRONMENT, lowered, state="variable")
        try:
            tree = parser.parse_expression()
        except JinjaSyntaxError:
            return self._refuse(self.start, f"This cannot be understood. {LANGUAGE}")
        if not parser.stream.eos:
            return self._refuse(self.start, f"This cannot be understood. {LANGUAGE}")
        return self._read(tree)

    def _refuse(self, offset: int, message: str, code: str = "template.syntax", facts: Mapping[str, Json] = NO_FACTS) -> Read:
        """Note one problem for this macro; those behind it are likely its echo."""
        if not self._is_broken:
            self.source.add(offset, code, message, facts)
            self._is_broken = True
        return read_nothing

    # The first step: tokens.

    def _lower(self) -> str:
        """Find the end of the macro; return its inside with placeholders for names, keys and literals."""
        text, offset = self.source.text, self.start + 2
        pieces: list[str] = []
        brackets: list[str] = []
        last = ""
        while brackets or not text.startswith("}}", offset):
            match = _TOKEN.match(text, offset)
            if match is None or match.lastgroup is None:
                return self._refuse_character(offset)
            kind, token = match.lastgroup, match.group()
            if not self._is_allowed(kind, token, brackets, last, offset):
                return self._skip(offset)
            if kind != "space":
                self.source.count_token(offset)
                pieces.append(self._lower_token(kind, match, last, offset))
                last = token
            offset = match.end()
        self._end = offset + 2
        if not pieces:
            self._refuse(self.start, f"There is nothing between {{{{ and }}}}. {LANGUAGE}")
        return " ".join(pieces)

    def _is_allowed(self, kind: str, token: str, brackets: list[str], last: str, offset: int) -> bool:
        """Check the token against the limits and keep account of open brackets."""
        if offset - self.start > MAX_LENGTH:
            self._refuse(
                self.start,
                f"{{{{ is not closed within {MAX_LENGTH} characters. Write }}}} behind the path.",
                facts={"reason": "unclosed"},
            )
        elif kind == "escaped" and not self.is_in_json_string:
            self._refuse(offset, "A backslash cannot stand here. Write the quotes without it.")
        elif kind == "key" and (not last or last in "|([{,:"):
            self._refuse(offset, f"There is no name in front of {token!r}. {LANGUAGE}")
        elif kind == "name" and token in _KEYWORDS and last != "|":
            self._refuse(
                offset,
                f"{token!r} is not possible here. {LANGUAGE} Decide in a node, not in a template.",
                facts={"reason": "keyword", "found": token},
            )
        elif kind == "mark" and token in _OPENING:
            brackets.append(token)
            if len(brackets) > MAX_NESTING:
                self._refuse(offset, f"Brackets nest deeper than {MAX_NESTING} levels. Nest less.")
        elif kind == "mark" and token in _CLOSING and (not brackets or _OPENING.index(brackets.pop()) != _CLOSING.index(token)):
            self._refuse(
                offset, f"{token!r} closes nothing that is open here. {LANGUAGE}", facts={"reason": "bracket", "found": token}
            )
        return not self._is_broken

    def _lower_token(self, kind: str, match: re.Match[str], last: str, offset: int) -> str:
        """The token as Jinja2's parser gets it."""
        token = match.group()
        if kind == "mark":
            return token
        if kind == "name" and last == "|":
            self._filters_at.append((token, offset))
            # A dash or a foreign letter would end the name for Jinja2; the number finds it again.
            return f"f{len(self._filters_at) - 1}"
        if kind == "key":
            return f"[{self._place(token[1:])}]"
        if kind == "name":
            return self._place(CONSTANTS[token] if token in CONSTANTS else Root(token, offset))
        if kind == "number":
            try:
                return self._place(number(token))
            except ValueError as error:
                self._refuse(offset, f"{error} Write a smaller one.")
                return ""
        return self._place(match["inner"] if kind == "escaped" else unescape(token[1:-1]))

    def _place(self, entry: Root | Json) -> str:
        """A placeholder for the entry."""
        self._table.append(entry)
        return f"n{len(self._table) - 1}"

    def _refuse_character(self, offset: int) -> str:
        """Say what is wrong with the character at ``offset``."""
        text = self.source.text
        if offset >= len(text):
            self._refuse(
                self.start,
                "{{ is not closed. Write }} behind the path, or {{ '{{' }} for the braces themselves.",
                facts={"reason": "unclosed"},
            )
        elif text[offset] in "'\"":
            self._refuse(
                offset,
                f"The text that begins with {text[offset]} is not closed. Write the same quote behind it.",
                facts={"reason": "quote", "found": text[offset]},
            )
        else:
            self._refuse(
                offset,
                f"{text[offset]!r} is not possible here. {LANGUAGE} Keys with other characters stand in brackets and quotes: "
                '["a b"]. Calculate in a variable with mode expr.',
                facts={"reason": "character", "found": text[offset]},
            )
        return self._skip(offset)

    def _skip(self, offset: int) -> str:
        """Go on behind the macro's end, or at least behind its beginning."""
        end = self.source.text.find("}}", offset, offset + MAX_LENGTH)
        self._end = end + 2 if end >= 0 else max(offset, self.start + 2)
        return ""

    # The second step: Jinja2's tree.

    def _read(self, node: nodes.Node) -> Read:
        """Turn a node of the closed list into a closure."""
        match node:
            case nodes.Name():
                entry = self._table[int(node.name[1:])]
                return self._path(entry, ()) if isinstance(entry, Root) else _constant(entry)
            case nodes.Getitem():
                return self._indexed(node)
            case nodes.Filter(node=inner, kwargs=[], dyn_args=None, dyn_kwargs=None) if inner is not None:
                return self._filtered(node, inner)
            case nodes.List():
                return _list_of([self._read(item) for item in node.items])
            case nodes.Dict():
                return self._dict_of(node)
            case nodes.Tuple():
                return self._refuse(self.start, "A list stands in square brackets: [1, 2].")
            case nodes.Call():
                return self._refuse(self.start, f"Nothing can be called here. {LANGUAGE}")
            case _:
                return self._refuse(self.start, f"This is not possible here. {LANGUAGE}")

    def _path(self, root: Root, steps: tuple[Step, ...]) -> Read:
        """The reader of a path; its limits are checked here."""
        if len(steps) > MAX_STEPS:
            return self._refuse(
                root.offset,
                f"The path has more than {MAX_STEPS} steps. Shorten it.",
                facts={"reason": "steps", "limit": MAX_STEPS},
            )
        return self.path(root.name, steps, root.offset, self._is_defended)

    def _indexed(self, node: nodes.Getitem) -> Read:
        """A path, or steps into a value in parentheses."""
        keys: list[Step] = []
        inner: nodes.Node = node
        while isinstance(inner, nodes.Getitem):
            key = self._table[int(inner.arg.name[1:])] if isinstance(inner.arg, nodes.Name) else None
            if isinstance(key, bool) or not isinstance(key, (str, int)):
                return self._refuse(self.start, 'In brackets stands a whole number or a key in quotes: [0], ["a.b"].')
            keys.append(step(str(key)))
            inner = inner.node
        steps = tuple(reversed(keys))
        entry = self._table[int(inner.name[1:])] if isinstance(inner, nodes.Name) else None
        if isinstance(entry, Root):
            return self._path(entry, steps)
        read = self._read(inner)
        return lambda frame: walk(read(frame), steps)

    def _filtered(self, node: nodes.Filter, inner: nodes.Node) -> Read:
        """A value behind which filters stand."""
        if len(self._filters_at) > MAX_FILTERS:
            return self._refuse(self.start, f"More than {MAX_FILTERS} filters. Use fewer.")
        if not node.name.startswith("f"):
            return self._refuse(self.start, f"Behind | stands a filter's name. {LANGUAGE}")
        name, offset = self._filters_at[int(node.name[1:])]
        was_defended, self._is_defended = self._is_defended, self._is_defended or name == "default"
        read = self._read(inner)
        self._is_defended = was_defended
        arguments = [self._read(argument) for argument in node.args]
        if name == "default":
            if len(arguments) != 1:
                return self._refuse(
                    offset, "default takes one argument: |default(0.7).", facts={"reason": "arguments", "found": name}
                )
            return _default(read, arguments[0])
        listed = FILTERS.get(name)
        if listed is None:
            known = ", ".join(["default", *FILTERS])
            return self._refuse(
                offset,
                f"There is no filter {name!r}. There are: {known}.",
                "template.unknown_filter",
                {"filter": name, "known": ["default", *FILTERS]},
            )
        if not listed.fewest <= len(arguments) <= listed.most:
            return self._refuse(
                offset, f"The filter {name!r} takes {listed.usage}.", facts={"reason": "arguments", "found": name}
            )
        return _apply(listed, read, arguments)

    def _dict_of(self, node: nodes.Dict) -> Read:
        """An object; its keys are texts in quotes."""
        members: list[tuple[str, Read]] = []
        for pair in node.items:
            key = self._table[int(pair.key.name[1:])] if isinstance(pair.key, nodes.Name) else None
            if not isinstance(key, str):
                return self._refuse(self.start, 'The keys of an object stand in quotes: {"a": 1}.')
            members.append((key, self._read(pair.value)))
        return lambda frame: {key: _present(read(frame)) for key, read in members}


def _constant(value: Json) -> Read:
    return lambda frame: value


def _list_of(reads: list[Read]) -> Read:
    return lambda frame: [_present(read(frame)) for read in reads]


def _present(value: Json) -> Json:
    """Inside lists and objects a missing value is null."""
    return None if value is MISSING else value


def _default(read: Read, otherwise: Read) -> Read:
    """The value, or the other one when it is missing or null (0, false, "" and [] are values)."""

    def choose(frame: Frame) -> Json:
        value = read(frame)
        return otherwise(frame) if value is MISSING or value is None else value

    return choose


def _text_size(value: Json) -> int:
    """About how many characters a filter reads where it takes a value as text; long texts cost little to read."""
    if isinstance(value, str):
        return len(value) // _READING
    return Scale().weigh(value) if isinstance(value, (list, tuple, Mapping)) else 0


def _make(function: Callable[..., Json], given: Sequence[Json], position: int, text: str) -> str:
    """What the filter makes when this text stands at the position."""
    return text_of(function(*given[:position], text, *given[position + 1 :]))


def _apply(listed: Filter, read: Read, arguments: list[Read]) -> Read:
    """The filter's result; what it reads as text, and what it produces, counts."""
    function, takes_null, reads_text = listed.function, listed.takes_null, listed.reads_text

    def run(frame: Frame) -> Json:
        value = read(frame)
        if value is MISSING or value is None:
            if not takes_null:
                return value
            value = None
        given = [value, *[_present(argument(frame)) for argument in arguments]]
        if reads_text:
            frame.add_work(sum(map(_text_size, given)))
        result = function(*given)
        if type(result) is str:
            frame.add_work(len(result))
        if reads_text and result is not value and type(result) in _SCALARS:
            for position, each in enumerate(given):
                frame.scope.made(text_of(result), text_of(each), partial(_make, function, given, position))
        return result

    return run
