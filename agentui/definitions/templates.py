"""Templates of defined tools: HadTavern's, which read the arguments of a call as ``args`` and nothing else."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from agentui.jsonio import Json
from agentui.templating.core.language import Language, Template
from agentui.templating.core.problems import TemplateSyntaxError
from agentui.templating.hadtavern.scope import Scope

V = TypeVar("V")

ARGUMENTS = "args"
"""What templates call the arguments."""


class Fault(ValueError):
    """A definition whose ``field`` (a path below ``handler``) is wrong; the message says how."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def compiled(field: str, language: Language[Scope, V], source: str) -> Template[Scope, V]:
    """Compile a field's template. Raises Fault for one that does not compile or reads anything but the arguments."""
    try:
        template = language.compile(source)
    except TemplateSyntaxError as error:
        problem = error.problems[0]
        raise Fault(field, f"line {problem.line} column {problem.column}: {problem.message}") from None
    reads = template.reads
    has_prompt = any(macro.kind == "prompt" for macro in template.macros)
    if has_prompt or reads.nodes or reads.numbers or reads.tier_names or reads.chat or reads.names - {ARGUMENTS}:
        raise Fault(field, "Templates of tools read the arguments only: {{ args.name }}.")
    return template


def arguments_scope(
    arguments: Mapping[str, Json],
    secret: Callable[[str], str] | None = None,
    made: Callable[[str, str, Callable[[str], str]], None] | None = None,
) -> Scope:
    """What the templates of one call see. ``secret`` and ``made`` as in ``Scope``."""
    scope = Scope(context={ARGUMENTS: arguments}, secret=secret)
    if made is not None:
        scope.made = made
    return scope
