"""``Language``: what compiles a source into a ``Template``, and what every template tells about itself."""

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

from agentui.errors import Problem

S = TypeVar("S", contravariant=True)
V = TypeVar("V", covariant=True)


@dataclass(frozen=True, slots=True)
class Macro:
    """One macro as the editor marks it: its source, and where it stands (offsets from 0, line and column from 1)."""

    text: str
    kind: str
    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a rendering: the text, and the source of the macro that it came from (None: the template's own text)."""

    text: str
    macro: str | None


Trace: TypeAlias = list[tuple[str | None, list[Segment]]]
"""Where a rendering came from: a JSON pointer (None in a text) and the pieces of what stands there."""


@dataclass(slots=True)
class Reads:
    """What templates read, by name.

    ``nodes`` are ids of nodes read through OUT, ``undefended`` those among them for which somewhere no default stands.
    ``[[OUT1]]`` counts as n1, and its number stands in ``numbers``, for it means
    node 1 where there is no n1. ``names`` are the first names of all other paths, ``vars`` among them where a tier is read as
    a whole; ``bare`` are those among them that a variable hides (``{{ model }}``, not ``[[VAR:model]]``); ``tier_names`` are
    the variables that are read of a tier (``vars.chat.gold``). ``chat`` says that what is known of the chat may be read: who
    speaks in it, and when somebody last did.
    """

    nodes: set[str] = field(default_factory=set)
    undefended: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    tier_names: set[str] = field(default_factory=set)
    chat: bool = False

    def add_node(self, *ids: str, is_defended: bool) -> None:
        """Note that the OUT of nodes is read; ``is_defended`` says that a default stands behind it."""
        self.nodes.update(ids)
        if not is_defended:
            self.undefended.update(ids)

    def add(self, other: "Reads") -> None:
        """Take in what another template reads."""
        self.nodes |= other.nodes
        self.undefended |= other.undefended
        self.numbers |= other.numbers
        self.names |= other.names
        self.bare |= other.bare
        self.tier_names |= other.tier_names
        self.chat |= other.chat

    def nodes_among(self, ids: Container[str]) -> frozenset[str]:
        """The nodes whose OUT is read, in a pipeline of these ids: ``[[OUT1]]`` means node ``1`` where there is no ``n1``."""
        return self._meant(self.nodes, ids)

    def undefended_among(self, ids: Container[str]) -> frozenset[str]:
        """Those of them whose OUT is somewhere read with no default behind it."""
        return self._meant(self.undefended, ids)

    def _meant(self, nodes: set[str], ids: Container[str]) -> frozenset[str]:
        short = {number for number in self.numbers if f"n{number}" not in ids and number in ids}
        named = {f"n{number}" for number in short}
        return frozenset(nodes - named | {number for number in short if f"n{number}" in nodes})


class Template(Protocol[S, V]):
    """A compiled source. ``S`` is what its macros read from, ``V`` what it renders to.

    ``warnings`` are what a person should know although the template compiles.
    """

    @property
    def source(self) -> str:
        """What was compiled."""

    @property
    def macros(self) -> tuple[Macro, ...]:
        """Every macro, in the order of the source."""

    @property
    def reads(self) -> Reads:
        """What the macros read; not to be changed."""

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What a person should know although the template compiles."""

    def render(self, scope: S) -> V:
        """The value with every macro replaced. Raises TemplateRenderError."""

    def trace(self, scope: S) -> Trace:
        """What ``render`` gives, in pieces that tell where they came from; secrets show as stars. Raises as ``render`` does."""


class Language(Protocol[S, V]):
    """A template language, with what one field of it may hold."""

    def compile(self, source: str) -> Template[S, V]:
        """Compile a source. Raises TemplateSyntaxError with every problem found, in the order of the text."""
