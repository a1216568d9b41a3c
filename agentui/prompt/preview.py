"""One text with its macros replaced, as they would be in the next prompt; nothing is written and no model is asked."""

from dataclasses import dataclass, replace

from agentui.prompt.assembly import assemble
from agentui.prompt.history import why_hidden
from agentui.prompt.macros import PromptMacros
from agentui.prompt.prepared import PreparedTurn, PromptInput
from agentui.templating.sillytavern.run import MacroReport

_KIND = {"runKind": "dry_run", "lastGenerationType": "dry_run"}


@dataclass(frozen=True, slots=True)
class TextPreview:
    """The text, what its macros did, and the prompt in which they stood."""

    text: str
    report: MacroReport
    prepared: PreparedTurn


def preview_text(given: PromptInput, text: str) -> TextPreview:
    """A text's macros read what those of the prompt read: the stored variables, and of the history what may be seen. Work is
    linear in both."""
    scope = replace(given.scope, phase="preview", values={**_KIND, **given.scope.values})
    given = replace(given, scope=scope)
    prepared = assemble(given)
    given = replace(given, scope=replace(scope, values=prepared.macro_scope.values, outlets=prepared.macro_scope.outlets))
    is_seen = given.policy.visibility.sight()
    visible = [entry for entry in given.history if entry.says_something and why_hidden(entry, is_seen) is None]
    macros = PromptMacros(given, visible, prepared.window, prepared.window - prepared.input_limit)
    expanded, _ = macros.expand(text)
    return TextPreview(expanded, macros.report, prepared)
