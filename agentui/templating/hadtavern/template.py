"""A compiled template of HadTavern's, and the language of its texts: endpoints, headers, blocks, strings of SetVars.

A text is one string with macros in it, a JSON body a document of such strings, values and constants. Rendering is one pass:
what was inserted is never looked at again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from agentui.errors import Problem
from agentui.jsonio import Json
from agentui.templating.core.language import Macro, Reads, Segment, Trace
from agentui.templating.core.problems import SourceText
from agentui.templating.hadtavern.macros import Insert, MacroReader, Pieces
from agentui.templating.hadtavern.scope import Frame, Scope

V = TypeVar("V", covariant=True)


class Part(Protocol[V]):
    """A part of the compiled document."""

    def render(self, frame: Frame) -> V:
        """The value now. Raises TemplateRenderError."""

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        """The leaves below that hold macros, each with its JSON pointer. Raises TemplateRenderError."""


@dataclass(frozen=True, slots=True)
class HadTavernTemplate(Generic[V]):
    """A compiled text or JSON body.

    Values of the scope stand in the result as they are, shared and not copied: do not change them.
    """

    source: str
    macros: tuple[Macro, ...]
    reads: Reads
    warnings: tuple[Problem, ...]
    root: Part[V]
    is_text: bool

    @property
    def is_constant(self) -> bool:
        """Whether the template holds no macro."""
        return not self.macros

    def render(self, scope: Scope) -> V:
        """The value with every macro replaced; an outermost object or list is new each time, its parts may be shared.

        Raises TemplateRenderError when the strings together are larger than MAX_OUTPUT, large values are inserted too
        often, a value is no JSON, or a secret is not there.
        """
        value = self.root.render(Frame(scope))
        return cast(V, value.copy()) if isinstance(value, (dict, list)) else value

    def trace(self, scope: Scope) -> Trace:
        """The pieces of the text, or of a body's leaves that hold macros; of two with one pointer the last.

        ``[[PROMPT]]`` in an object is listed under the object's own pointer; keys are not listed. Raises as ``render`` does.
        """
        leaves = dict(self.root.trace(Frame(scope, is_preview=True), ""))
        return [(None if self.is_text else pointer, segments) for pointer, segments in leaves.items()]


@dataclass(frozen=True, slots=True)
class TextLanguage:
    """Texts: values are inserted as text, strings as they are, null and missing values as nothing, the rest as compact JSON.

    ``secrets`` and ``prompt`` say whether ``[[SECRET:name]]`` and ``[[PROMPT]]`` may stand in them.
    """

    secrets: bool = False
    prompt: bool = False

    def compile(self, source: str) -> HadTavernTemplate[str]:
        """Compile a text. Raises TemplateSyntaxError with every problem found, in the order of the text."""
        reader = MacroReader(SourceText(source), self.secrets, self.prompt)
        root = text_part(reader.read_pieces())
        reader.source.raise_problems()
        return HadTavernTemplate(source, tuple(reader.macros), reader.reads, (), root, is_text=True)


@dataclass(frozen=True, slots=True)
class Constant(Generic[V]):
    """A value without macros."""

    value: V

    def render(self, frame: Frame) -> V:
        return self.value

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        return iter(())


@dataclass(frozen=True, slots=True)
class Value:
    """A macro where a value stands."""

    insert: Insert

    def render(self, frame: Frame) -> Json:
        return self.insert.value(frame)

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        yield pointer, [Segment(self.insert.json(frame), self.insert.macro.text)]


@dataclass(frozen=True, slots=True)
class Text:
    """A string with macros in it."""

    pieces: Pieces

    def render(self, frame: Frame) -> str:
        pieces = self.pieces
        if len(pieces) == 1 and isinstance(pieces[0], Insert):
            return pieces[0].text(frame)
        return "".join([piece if isinstance(piece, str) else piece.text(frame) for piece in pieces])

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        yield (
            pointer,
            [
                Segment(piece, None) if isinstance(piece, str) else Segment(piece.text(frame), piece.macro.text)
                for piece in self.pieces
            ],
        )


@dataclass(frozen=True, slots=True)
class Array:
    """A list in which something is not constant."""

    items: tuple[Part[Json], ...]

    def render(self, frame: Frame) -> list[Json]:
        return [item.render(frame) for item in self.items]

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        for index, item in enumerate(self.items):
            yield from item.trace(frame, f"{pointer}/{index}")


@dataclass(frozen=True, slots=True)
class Object:
    """An object in which something is not constant. An insert in a key's place is ``[[PROMPT]]``."""

    members: tuple[tuple[str | Text | Insert, Part[Json]], ...]

    def render(self, frame: Frame) -> dict[str, Json]:
        made: dict[str, Json] = {}
        for key, part in self.members:
            if isinstance(key, str):
                made[key] = part.render(frame)
            elif isinstance(key, Insert):
                made.update(key.members(frame))
            else:
                made[key.render(frame)] = part.render(frame)
        return made

    def trace(self, frame: Frame, pointer: str) -> Iterator[tuple[str, list[Segment]]]:
        for key, part in self.members:
            if isinstance(key, Insert):
                yield pointer, [Segment(key.text(frame), key.macro.text)]
            else:
                name = key if isinstance(key, str) else key.render(frame)
                # RFC 6901 writes ~ and / of a key so.
                yield from part.trace(frame, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}")


def text_part(pieces: Pieces) -> Constant[str] | Text:
    """A string; constant when there is no macro in it."""
    constants = [piece for piece in pieces if isinstance(piece, str)]
    return Constant("".join(constants)) if len(constants) == len(pieces) else Text(pieces)


def array_part(items: list[Part[Json]]) -> Part[Json]:
    """A list; constant when all its items are."""
    constants = [item.value for item in items if isinstance(item, Constant)]
    return Constant(constants) if len(constants) == len(items) else Array(tuple(items))


def object_part(members: list[tuple[str | Text | Insert, Part[Json]]]) -> Part[Json]:
    """An object; constant when all its members are."""
    constants = [(key, part.value) for key, part in members if isinstance(key, str) and isinstance(part, Constant)]
    return Constant(dict(constants)) if len(constants) == len(members) else Object(tuple(members))
