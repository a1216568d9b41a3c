"""Addresses: a text in which a value is one thing of the address, and cannot become another.

    https://{{ region }}.example.com/deployments/{{ model }}/chat?tag={{ tag }}
            a part of the host                   one segment   a query's value

In the host a value may hold letters, digits, dots and dashes only; everywhere else it is percent-encoded. The macro that a
template begins with stands for an address (or a path) of its own, with slashes in it, and ``incoming.path`` and
``incoming.query`` are encoded already.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from agentui.templating.core.language import Segment, Template
from agentui.templating.core.problems import CannotInsert, SourceText
from agentui.templating.hadtavern.macros import Insert, MacroReader, Pieces
from agentui.templating.hadtavern.scope import Frame, Scope
from agentui.templating.hadtavern.template import Constant, HadTavernTemplate, Part

Beginning = Literal["address", "path"]
"""What a template begins with: ``https://`` or the name of an origin, or the path below one."""

_HOST = re.compile(r"[A-Za-z0-9.-]*")
_FIXED_HOST = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*://[^/?#]+|[A-Za-z0-9._-]+)[/?#]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DOTS = re.compile(r"(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)", re.IGNORECASE)
_ENCODED = re.compile(r"(?:\[\[\s*VAR\s*:|\{\{)\s*incoming\.(path|query)\s*(?:\|[^{}\[\]]*)?(?:\]\]|\}\})")
_BEFORE_QUERY = re.compile(r"[^?#]*")
_IN_PATHS = "/:@!$&'()*+,;=%~"


@dataclass(frozen=True, slots=True)
class UrlLanguage:
    """Addresses. ``secrets`` says whether ``[[SECRET:name]]`` may stand in them."""

    beginning: Beginning
    secrets: bool = False

    def compile(self, source: str) -> HadTavernTemplate[str]:
        """Compile an address. Raises TemplateSyntaxError with every problem found, in the order of the text."""
        reader = MacroReader(SourceText(source), self.secrets, False)
        pieces = reader.read_pieces()
        reader.source.raise_problems()
        root: Part[str] = _Address(pieces, self.beginning) if reader.macros else Constant(source)
        return HadTavernTemplate(source, tuple(reader.macros), reader.reads, (), root, is_text=True)


def has_fixed_host(template: Template[Scope, str]) -> bool:
    """Whether an address leads to the same host whatever its macros give."""
    return not template.macros or _FIXED_HOST.match(template.source, 0, template.macros[0].start) is not None


def empty_part(template: Template[Scope, str], scope: Scope) -> str | None:
    """The macro that leaves its part of the path empty, so that the address would be another resource's; None where there is
    none. Raises TemplateRenderError."""
    written = ""
    for _, segments in template.trace(scope):
        for segment in segments:
            if segment.macro is not None and not segment.text and _BEFORE_QUERY.fullmatch(written):
                return segment.macro
            written += segment.text
    return None


@dataclass(frozen=True, slots=True)
class _Address:
    """An address with macros in it."""

    pieces: Pieces
    beginning: Beginning

    def render(self, frame: Frame) -> str:
        return "".join([text for text, _ in self._placed(frame)])

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        yield pointer, [Segment(text, None if insert is None else insert.macro.text) for text, insert in self._placed(frame)]

    def _placed(self, frame: Frame) -> Iterator[tuple[str, Insert | None]]:
        """The pieces as they stand in the address, with the macro of each. Raises TemplateRenderError."""
        written = ""
        for piece in self.pieces:
            text = piece if isinstance(piece, str) else self._value(piece, frame, written)
            written += text
            yield text, None if isinstance(piece, str) else piece
        path = re.split("[?#]", written, maxsplit=1)[0]
        if _DOTS.search(path.partition("://")[2] or path):
            insert = next(piece for piece in self.pieces if isinstance(piece, Insert))
            raise insert.located(CannotInsert("The path would lead up to another one ('.' or '..' as a segment)."))

    def _value(self, insert: Insert, frame: Frame, written: str) -> str:
        text = insert.text(frame)
        if insert.macro.kind == "secret" and frame.is_preview:
            return text
        try:
            return self._encoded(text, insert, written)
        except CannotInsert as error:
            raise insert.located(error) from error

    def _encoded(self, text: str, insert: Insert, written: str) -> str:
        """A value as it may stand behind what is written. Raises CannotInsert."""
        known = _ENCODED.fullmatch(insert.macro.text)
        encoded_already = known[1] if known else None
        is_whole = len(self.pieces) == 1 and encoded_already is None
        if not written.strip() and (is_whole or self.beginning == "address"):
            return text
        if _CONTROL.search(text):
            raise CannotInsert("The URL would hold a control character.")
        match _place(written, self.beginning):
            case "host":
                if _HOST.fullmatch(text) is None:
                    raise CannotInsert("In the host of an address a value has letters, digits, '.' and '-' only.")
                return text
            case "query":
                return quote(text, safe=_IN_PATHS + "?" if encoded_already == "query" else "", errors="replace")
            case _:
                is_path = not written.strip() or encoded_already == "path"
                return quote(text, safe=_IN_PATHS if is_path else "", errors="replace")


def _place(written: str, beginning: Beginning) -> Literal["host", "path", "query"]:
    """What comes next in an address of which this is written."""
    if "?" in written or "#" in written:
        return "query"
    if beginning == "path":
        return "path"
    return "path" if "/" in written.partition("://")[2] or ("://" not in written and "/" in written) else "host"
