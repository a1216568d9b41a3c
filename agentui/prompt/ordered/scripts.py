"""Regex scripts over what an ordered prompt sends: messages of the chat, and lore."""

from collections.abc import Sequence
from dataclasses import replace

from agentui.assets.script import BoundScript, ScriptPlacement
from agentui.chat.messages import Message, Text
from agentui.prompt.drafts import Draft
from agentui.prompt.macros import PromptMacros
from agentui.prompt.prepared import ScriptsReport
from agentui.regexes.scripts import ScriptTrace, SearchTime, run_scripts


class PromptScripts:
    """Runs the scripts of one prompt; all its texts share the time that searches may take."""

    def __init__(self, scripts: Sequence[BoundScript], macros: PromptMacros) -> None:
        self._scripts = tuple(scripts)
        self._macros = macros
        self._time = SearchTime()
        self._traces: dict[ScriptTrace, list[int]] = {}
        self._user_message: str | None = None

    @property
    def report(self) -> ScriptsReport:
        """What they have done so far."""
        traces = ((replace(trace, matches=matches), texts) for trace, (matches, texts) in self._traces.items())
        return ScriptsReport(self._scripts, tuple(traces), self._user_message)

    def run(self, text: str, placement: ScriptPlacement, depth: int | None = None) -> str:
        """A text as it is sent."""
        if not self._scripts:
            return text
        result = run_scripts(
            text,
            self._scripts,
            placement=placement,
            channel="prompt",
            depth=depth,
            macros=lambda source: self._macros.expand(source)[0],
            time=self._time,
        )
        for trace in result.trace:
            key = replace(trace, matches=0) if trace.matches else trace
            counts = self._traces.setdefault(key, [0, 0])
            counts[0] += trace.matches
            counts[1] += 1
        return result.text

    def run_chat(self, chat: Sequence[Draft], is_continued: bool) -> None:
        """The messages of the chat, oldest first, in place. A depth counts from the last message, or, where that is continued,
        from the one before it."""
        for number, draft in enumerate(chat):
            placement: ScriptPlacement = "user_input" if draft.message.role == "user" else "ai_output"
            depth = len(chat) - 1 - number - is_continued
            parts = tuple(
                Text(self.run(part.text, placement, depth)) if isinstance(part, Text) else part for part in draft.message.parts
            )
            draft.message = draft.shaped = Message(draft.message.role, parts, draft.message.name)
            if draft.name == "message":
                self._user_message = draft.message.text
