"""A field of a node whose language is SillyTavern's: compiled like any other, replaced by what the run gives."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from agentui.templating.core.language import Macro as Marked
from agentui.templating.core.language import Reads, Segment, Trace
from agentui.templating.core.problems import SourceText
from agentui.templating.sillytavern.macros import BUILTINS, VALUE_NAMES
from agentui.templating.sillytavern.syntax import BLOCKS, Macro, Pieces, parse_macros

_WITHOUT_VARIABLES = frozenset({"else", "noop", *BLOCKS, *VALUE_NAMES})


class Expander(Protocol):
    """What a rendering reads from: something that can replace macros."""

    @property
    def expand(self) -> Callable[[str], str]:
        """Replaces the macros of a text."""


@dataclass(frozen=True, slots=True)
class MacroTemplate:
    """A text with SillyTavern's macros. ``writes``: whether one of them writes a variable."""

    source: str
    writes: bool
    reads: Reads
    macros: tuple[Marked, ...] = ()
    warnings: tuple[()] = ()

    def render(self, scope: Expander) -> str:
        """The text with its macros replaced. Never raises."""
        return scope.expand(self.source)

    def trace(self, scope: Expander) -> Trace:
        """What ``render`` gives, in one piece."""
        return [(None, [Segment(self.render(scope), None)])]


@dataclass(frozen=True, slots=True)
class MacroLanguage:
    """SillyTavern's macros in a text."""

    _reads_all: Reads = field(default_factory=lambda: Reads(names={"vars"}, chat=True))
    _reads_chat: Reads = field(default_factory=lambda: Reads(chat=True))

    def compile(self, source: str) -> MacroTemplate:
        """Compile a source. Raises TemplateSyntaxError for one that is too long, and for nothing else."""
        SourceText(source)
        reads = writes = is_any = False
        for macro in _all(parse_macros(source)):
            is_any = True
            name = BUILTINS[macro.name].name if macro.name in BUILTINS else macro.name
            is_variable = name.endswith("var") and name in BUILTINS
            reads |= bool(macro.sigil) or is_variable or (name not in BUILTINS and name not in _WITHOUT_VARIABLES)
            writes |= bool(macro.operator) or (is_variable and not name.startswith(("get", "has")))
        return MacroTemplate(source, writes, self._reads_all if reads or writes else self._reads_chat if is_any else Reads())


def _all(pieces: Pieces) -> Iterator[Macro]:
    """Every macro of some pieces, those within others too."""
    waiting = [pieces]
    while waiting:
        for item in waiting.pop().items:
            if isinstance(item, Macro):
                yield item
                waiting += item.args or item.parts
                if item.content is not None:
                    waiting.append(item.content)
