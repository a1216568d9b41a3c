"""Regex scripts over what an ordered prompt sends: messages of the chat, and lore."""

from collections.abc import Sequence

from agentui.assets.script import BoundScript, ScriptPlacement
from agentui.chat.messages import Message, Text
from agentui.prompt.drafts import Draft
from agentui.prompt.macros import PromptMacros
from agentui.prompt.prepared import ScriptsReport
from agentui.regexes.scripts import ScriptRun


class PromptScripts:
    """Runs the scripts of one prompt; all its texts share the time that searches may take."""

    def __init__(self, scripts: Sequence[BoundScript], macros: PromptMacros) -> None:
        self._scripts = tuple(scripts)
        self._run = ScriptRun(self._scripts, "prompt", lambda source: macros.expand(source)[0])
        self._user_message: str | None = None

    @property
    def report(self) -> ScriptsReport:
        """What they have done so far."""
        return ScriptsReport(self._scripts, tuple(self._run.traces()), self._user_message)

    def run(self, text: str, placement: ScriptPlacement, depth: int | None = None) -> str:
        """A text as it is sent."""
        return self._run.run(text, placement, depth)

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
