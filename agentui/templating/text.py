"""Text templates: endpoints, headers, blocks, SetVars strings.

    template = compile_text("Bearer [[VAR:incoming.headers.authorization]]")
    template.render(scope)

Values are inserted as text in one pass: strings as they are, null and missing values as nothing, everything else as compact
JSON. What was inserted is never looked at again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agentui.errors import Problem
from agentui.templating.macros import OPENER, Insert, Macro, MacroReader, Segment
from agentui.templating.problems import SourceText, TemplateRenderError, TemplateSyntaxError
from agentui.templating.scope import Frame, Scope

__all__ = [
    "Pieces",
    "Template",
    "TemplateRenderError",
    "TemplateSyntaxError",
    "TextTemplate",
    "check_single_line",
    "compile_text",
    "join_pieces",
    "read_pieces",
    "trace_pieces",
]

_LINE_BREAK = re.compile(r"[\r\n\0]")

Pieces: TypeAlias = tuple[str | Insert, ...]
"""A text with the macros in it, in order; neighbouring strings are one."""


@dataclass(frozen=True, slots=True)
class Template:
    """What every compiled template tells about itself.

    ``reads`` are ids of nodes read through OUT (``[[OUT1]]`` counts as n1, and its number stands in ``short_reads``, for
    it means node 1 when there is no n1). ``names`` are the first names of all other paths, ``vars`` among them where a
    tier is read as a whole; ``tier_names`` are the variables that are read of a tier (``vars.chat.gold``). ``warnings`` are
    what a person should know although the template compiles.
    """

    source: str
    macros: tuple[Macro, ...]
    reads: frozenset[str]
    short_reads: frozenset[str]
    names: frozenset[str]
    tier_names: frozenset[str]
    warnings: tuple[Problem, ...]

    @property
    def is_constant(self) -> bool:
        """Whether the template holds no macro."""
        return not self.macros


@dataclass(frozen=True, slots=True)
class TextTemplate(Template):
    """A text template."""

    pieces: Pieces
    is_single_line: bool

    def render(self, scope: Scope) -> str:
        """The text with every macro replaced.

        Raises TemplateRenderError when the result is larger than MAX_OUTPUT, a value is no JSON, a secret is not there, or
        a single line would be broken.
        """
        text = join_pieces(self.pieces, Frame(scope))
        if self.is_single_line:
            check_single_line(text, self.pieces)
        return text

    def trace(self, scope: Scope) -> list[Segment]:
        """The same text in pieces that tell where they came from; secrets show as stars."""
        return trace_pieces(self.pieces, Frame(scope, is_preview=True))


def compile_text(source: str, *, secrets: bool = False, prompt: bool = False, single_line: bool = False) -> TextTemplate:
    """Compile a text template.

    ``secrets`` and ``prompt`` say whether ``[[SECRET:name]]`` and ``[[PROMPT]]`` may stand in it; ``single_line`` makes a
    result with a line break or NUL an error (headers, URLs). Raises TemplateSyntaxError.
    """
    reader = MacroReader(SourceText(source), secrets, prompt)
    pieces = read_pieces(reader)
    reader.source.raise_problems()
    return TextTemplate(
        source=source,
        macros=tuple(reader.macros),
        reads=frozenset(reader.reads),
        short_reads=frozenset(reader.short_reads),
        names=frozenset(reader.names),
        tier_names=frozenset(reader.tier_names),
        warnings=(),
        pieces=pieces,
        is_single_line=single_line,
    )


def read_pieces(reader: MacroReader, start: int = 0) -> Pieces:
    """The text from ``start`` on, cut at its macros."""
    text = reader.source.text
    pieces: list[str | Insert] = []
    taken = offset = start
    while opener := OPENER.search(text, offset):
        found = reader.read(opener.start())
        if found is None:
            # The next macro may begin one character further: [[[NAME]]
            offset = opener.start() + 1
            continue
        if opener.start() > taken:
            pieces.append(text[taken : opener.start()])
        pieces.append(found[0])
        taken = offset = found[1]
    if taken < len(text):
        pieces.append(text[taken:])
    return tuple(pieces)


def join_pieces(pieces: Pieces, frame: Frame) -> str:
    """The pieces as one text."""
    if len(pieces) == 1:
        piece = pieces[0]
        return piece if isinstance(piece, str) else piece.text(frame)
    return "".join([piece if isinstance(piece, str) else piece.text(frame) for piece in pieces])


def trace_pieces(pieces: Pieces, frame: Frame) -> list[Segment]:
    """The pieces as segments."""
    return [
        Segment(piece, None) if isinstance(piece, str) else Segment(piece.text(frame), piece.macro.text) for piece in pieces
    ]


def check_single_line(text: str, pieces: Sequence[str | Insert]) -> None:
    """Raise TemplateRenderError, at the first macro, when the text holds CR, LF or NUL."""
    if _LINE_BREAK.search(text):
        macro = next((piece.macro for piece in pieces if isinstance(piece, Insert)), None)
        line, column = (macro.line, macro.column) if macro else (1, 1)
        raise TemplateRenderError("The result holds a line break or NUL, which cannot stand here.", line, column)
