"""How macros are written: a source becomes a tree of pieces, in time linear to its length.

    {{name}}  {{name::argument::argument}}  {{name argument}}  {{name:argument}}     macros nest in arguments
    {{.key}}  {{$key}}  {{.key = value}}  {{.key += value}}  {{.key++}}  {{.key--}}     variables
    {{if condition}}..{{else}}..{{/if}}  {{setvar::key}}value{{/setvar}}             blocks
    {{// comment}}  {{//}}comment{{///}}  <USER>  <BOT>

Whatever is none of these is text: a brace too many, ``{{`` that nobody closes.
"""

import re
from dataclasses import dataclass, field
from typing import Final, TypeAlias

COMMENT: Final = "//"

_MARK = re.compile(r"\{\{+|\}\}+|::|<(?P<legacy>user|bot|char|charifnotgroup|group)>", re.IGNORECASE)
_NAME = re.compile(r"[!?~>#]*\s*(?P<name>[^\s:]+)(?P<colon>:?)")
_CLOSING = re.compile(r"/\s*(?P<name>[^\s:]+)\s*")
_TIME_ZONE = re.compile(r"time_(?P<zone>utc.*)", re.IGNORECASE)
_QUOTED = re.compile(r"""(["'])(?:\\.|(?!\1)[^\\])*\1""")
_OPERATOR = re.compile(r"""(?P<quote>["'])|\|\|=?|\?\?=?|==|!=|>=|<=|>|<|\+=|-=|=|\+\+|--""")

_LEGACY = {"user": "user", "bot": "char", "char": "char", "charifnotgroup": "char", "group": ""}
"""The old markers. Source: TavernHeadless; ``<GROUP>`` is nothing there."""

BLOCKS: Final[dict[str, tuple[int, ...]]] = {
    "if": (0, 1),
    COMMENT: (0,),
    "trim": (0,),
    "reverse": (0,),
    "setvar": (1,),
    "setglobalvar": (1,),
    "addvar": (1,),
    "addglobalvar": (1,),
}
"""Macros that may hold a text as a block, and with how many arguments they begin one."""


@dataclass(slots=True)
class Pieces:
    """Text and macros, in their order; ``start`` and ``end`` are offsets in the source."""

    start: int
    end: int = 0
    items: "list[Piece]" = field(default_factory=list)


@dataclass(slots=True)
class Macro:
    """One ``{{...}}``.

    ``name`` is in lower case, or a key as it was written for ``.`` and ``$``; ``parts`` are what stands between the ``::``,
    untouched; ``args`` what comes after the name, without the spaces around. ``is_loose``: the one argument followed the name
    after a space, and may be several. ``content`` is the text of a block. ``operator`` belongs to a variable's short form.
    """

    start: int
    end: int
    name: str = ""
    written: str = ""
    parts: list[Pieces] = field(default_factory=list)
    args: list[Pieces] = field(default_factory=list)
    is_loose: bool = False
    closes: bool = False
    sigil: str = ""
    operator: str = ""
    content: Pieces | None = None


Piece: TypeAlias = str | Macro


def parse_macros(source: str) -> Pieces:
    """The pieces of a source. Never fails."""
    open_macros: list[Macro] = []
    braces: list[int] = []
    here = root = Pieces(0)
    position = 0
    for mark in _MARK.finditer(source):
        text = mark.group()
        before, start = source[position : mark.start()], mark.start()
        position = mark.end()
        if braces:
            braces[-1] += before.count("{") - before.count("}")
        if text == "::":
            if open_macros:
                _add(here, before)
                here.end = start
                here = Pieces(position)
                open_macros[-1].parts.append(here)
            else:
                _add(here, before + text)
        elif mark["legacy"]:
            _add(here, before)
            name = _LEGACY[mark["legacy"].lower()]
            if name:
                here.items.append(Macro(start, position, name, name))
        elif text[0] == "{":
            odd = len(text) % 2
            _add(here, before + "{" * odd)
            if braces:
                braces[-1] += odd
            for opening in range(start + odd, position, 2):
                here = Pieces(opening + 2)
                open_macros.append(Macro(opening, 0, parts=[here]))
                braces.append(0)
        else:
            _add(here, before)
            while open_macros and position - start >= 2 + max(0, braces[-1]):
                # A brace that was opened in the macro's own text is closed first: {{setvar::a::{"b":1}}}.
                own = max(0, braces.pop())
                _add(here, "}" * own)
                here.end = start + own
                start += own + 2
                macro = open_macros.pop()
                macro.end = start
                here = open_macros[-1].parts[-1] if open_macros else root
                here.items.append(_named(macro))
            _add(here, source[start:position])
            if braces:
                braces[-1] -= position - start
    _add(here, source[position:])
    for dangling in open_macros:
        _spill(dangling, root)
    root.end = len(source)
    return _with_blocks(root)


def _add(pieces: Pieces, text: str) -> None:
    """Add a text, if it is one."""
    if text:
        pieces.items.append(text)


def _spill(dangling: Macro, root: Pieces) -> None:
    """``{{`` that nobody closed is text, and so are its separators; the macros in it are macros."""
    root.items.append("{{")
    for number, part in enumerate(dangling.parts):
        if number:
            root.items.append("::")
        root.items.extend(part.items)


def _named(macro: Macro) -> Macro:
    """A macro whose parts are known, with its name and arguments."""
    macro.parts = [_with_blocks(part) for part in macro.parts]
    head, *rest = macro.parts
    first = head.items[0] if head.items else ""
    text = first.lstrip() if isinstance(first, str) else ""
    if text.startswith("//"):
        macro.closes = text.rstrip() == "///" and len(head.items) == 1 and not rest
        macro.name = macro.written = COMMENT
        if not macro.closes and (text.strip() != COMMENT or len(head.items) > 1 or rest):
            macro.args = [head]
    elif text.startswith("/") and (closing := _CLOSING.fullmatch(text)) and len(head.items) == 1 and not rest:
        macro.closes = True
        macro.written = closing["name"]
        macro.name = macro.written.lower()
    elif text[:1] in (".", "$") and not rest:
        _read_variable(macro, head, text)
    elif match := _NAME.match(text):
        _read_name(macro, head, rest, text, match)
    return macro


def _read_name(macro: Macro, head: Pieces, rest: list[Pieces], text: str, match: re.Match[str]) -> None:
    """Fill in name and arguments of an ordinary macro."""
    macro.written = match["name"]
    macro.name = macro.written.lower()
    after = Pieces(head.start, head.end, [text[match.end() :], *head.items[1:]])
    argument = trimmed(after)
    if zone := _TIME_ZONE.fullmatch(macro.name):
        macro.name = "time"
        macro.args = [Pieces(head.start, head.end, [zone["zone"].upper()])]
    elif rest and (argument.items or match["colon"]) and macro.name != "if":
        # SillyTavern: what follows a name after a space or one colon is one argument, whatever stands in it.
        macro.is_loose = not match["colon"]
        macro.args = [trimmed(_with_separators([after, *rest]))]
    elif rest:
        if argument.items or match["colon"]:
            macro.name = ""
        macro.args = [trimmed(part) for part in rest]
    elif argument.items:
        macro.is_loose = not match["colon"]
        macro.args = [argument]


def _with_separators(parts: list[Pieces]) -> Pieces:
    """Several parts as one, as they were written."""
    items = list(parts[0].items)
    for part in parts[1:]:
        items += ["::", *part.items]
    return Pieces(parts[0].start, parts[-1].end, items)


def _read_variable(macro: Macro, head: Pieces, text: str) -> None:
    """Fill in key, operator and value of a variable's short form."""
    macro.sigil = text[0]
    end, operator = _operator(text)
    macro.name = macro.written = text[1:end].strip()
    macro.operator = operator
    value = trimmed(Pieces(head.start, head.end, [text[end + len(operator) :], *head.items[1:]]))
    if operator in ("++", "--") or not operator:
        # ``{{.a++ b}}`` and ``{{.a{{b}}}}`` are nothing that anybody defined.
        macro.operator = "?" if value.items else operator
    else:
        macro.args = [value]


def _operator(text: str) -> tuple[int, str]:
    """Where the operator of a short form stands, and which; the end and "" where there is none. Not within quotes."""
    unclosed: set[str] = set()
    position = 1
    while match := _OPERATOR.search(text, position):
        quote = match["quote"]
        if quote is None:
            return match.start(), match.group()
        # A quote that nobody closes is a letter, and so are all of its kind behind it: they are not searched for their end.
        quoted = None if quote in unclosed else _QUOTED.match(text, match.start())
        if quoted is None:
            unclosed.add(quote)
        position = match.end() if quoted is None else quoted.end()
    return len(text), ""


def trimmed(pieces: Pieces) -> Pieces:
    """The pieces without the spaces at both ends of what was written; what macros insert keeps its own."""
    items = list(pieces.items)
    while items and isinstance(items[0], str):
        items[0] = items[0].lstrip()
        if items[0]:
            break
        del items[0]
    while items and isinstance(items[-1], str):
        items[-1] = items[-1].rstrip()
        if items[-1]:
            break
        items.pop()
    return Pieces(pieces.start, pieces.end, items)


def split_loose(pieces: Pieces, most: int) -> list[Pieces]:
    """One argument cut at spaces into at most ``most``; the last one holds the rest."""
    found: list[Pieces] = []
    current: list[Piece] = []
    waiting = list(reversed(pieces.items))
    while waiting:
        item = waiting.pop()
        if not isinstance(item, str) or len(found) == most - 1:
            current.append(item)
            continue
        words = item.split(None, 1)
        has_space = bool(item) and (item[0].isspace() or item[-1].isspace() or len(words) > 1)
        if item[:1].isspace() and current:
            found.append(Pieces(pieces.start, pieces.end, current))
            current = []
            waiting.append(item.lstrip())
        elif not has_space or not words:
            current.append(item)
        else:
            current.append(words[0])
            found.append(Pieces(pieces.start, pieces.end, current))
            current = []
            if len(words) > 1:
                waiting.append(words[1])
    if current:
        found.append(Pieces(pieces.start, pieces.end, current))
    return [trimmed(part) for part in found]


def _with_blocks(pieces: Pieces) -> Pieces:
    """The pieces with every opening tag, its text and its closing tag made one macro."""
    if not any(isinstance(item, Macro) and item.closes for item in pieces.items):
        return pieces
    items: list[Piece] = []
    opened: dict[str, list[tuple[int, Macro]]] = {}
    for item in pieces.items:
        if isinstance(item, Macro) and item.closes:
            opening = _opening(items, opened.get(item.name, []))
            if opening is not None:
                position, block = opening
                block.content = Pieces(block.end, item.start, items[position + 1 :])
                block.end = item.end
                del items[position + 1 :]
                continue
        elif isinstance(item, Macro) and not item.sigil and len(item.args) in BLOCKS.get(item.name, ()):
            opened.setdefault(item.name, []).append((len(items), item))
        items.append(item)
    return Pieces(pieces.start, pieces.end, items)


def _opening(items: list[Piece], candidates: list[tuple[int, Macro]]) -> tuple[int, Macro] | None:
    """The last candidate that is still an item of its own and not part of a block."""
    while candidates:
        position, macro = candidates.pop()
        if position < len(items) and items[position] is macro:
            return position, macro
    return None
