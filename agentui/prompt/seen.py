"""The history as a prompt sees it: what of it may be told, and as which messages."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from agentui.chat.messages import Message, Text
from agentui.prompt.drafts import Draft
from agentui.prompt.history import HistoryEntry, why_hidden, window_start
from agentui.prompt.macros import PromptMacros
from agentui.prompt.prepared import PromptInput, PromptSection, SourceExclusion

_TOLD: Final = {
    "visibility_filtered": "The visibility policy hides {} message(s).",
    "hidden_message": "{} message(s) are hidden.",
    "window_limited": "Only the newest messages are wanted, which leaves {} out.",
}
"""Why entries are left out that somebody might look for."""


class SeenHistory:
    """The history as the prompt may see it: ``visible`` entries say something and are not hidden, ``selected`` are those of
    them that the policy wants."""

    def __init__(self, given: PromptInput) -> None:
        is_seen, selection = given.policy.visibility.sight(), given.policy.source_selection.history
        self._left_out: list[tuple[HistoryEntry, str]] = []
        self.visible: list[HistoryEntry] = []
        for entry in given.history:
            why = why_hidden(entry, is_seen) or (None if entry.says_something else "empty")
            if why is None:
                self.visible.append(entry)
            else:
                self._left_out.append((entry, why))
        start = window_start(self.visible, selection, given.message.parts if given.message is not None else ())
        self.selected: Sequence[HistoryEntry] = self.visible[start:]
        self._left_out += [(entry, "window_limited") for entry in self.visible[:start]]
        self._is_cut = given.is_cut

    @property
    def filtered_floor_nos(self) -> tuple[int, ...]:
        """The floors that the visibility policy hides."""
        return tuple(sorted({entry.floor_no for entry, why in self._left_out if why == "visibility_filtered"}))

    @property
    def exclusions(self) -> tuple[SourceExclusion, ...]:
        """Why not all of the history is in the prompt, but for the budget."""
        counts = Counter(why for _, why in self._left_out)
        found = [SourceExclusion("history", why, _TOLD[why].format(counts[why])) for why in _TOLD if counts[why]]
        if self._is_cut:
            found.append(SourceExclusion("history", "not_loaded", "Older messages than a prompt can hold were not loaded."))
        return tuple(found)

    def left_out(self, count: Callable[[Message], int]) -> list[PromptSection]:
        """The entries that the prompt may not hold, oldest first."""
        sections = []
        for entry, why in sorted(self._left_out, key=lambda each: each[0].floor_no):
            draft = Draft(_name(entry), "history", "history", _message_of(entry, entry.text), entry)
            draft.tokens = count(draft.message)
            sections.append(draft.section(why))
        return sections


def entry_draft(entry: HistoryEntry, macros: PromptMacros) -> Draft:
    """An entry on its way into the prompt. Only a greeting's macros are replaced: all else was said."""
    text, traces = macros.greet(entry) if entry.source == "greeting" else (entry.text, ())
    source = "greeting" if entry.source == "greeting" else "history"
    return Draft(_name(entry), "history", source, _message_of(entry, text), entry, traces, entry.role == "user")


def _name(entry: HistoryEntry) -> str:
    return f"history:{entry.message_id}"


def _message_of(entry: HistoryEntry, text: str) -> Message:
    """What an entry says; ``text`` is its own, or what macros made of it."""
    parts = entry.parts if entry.parts and text == entry.text else (Text(text),)
    return Message("system" if entry.role == "narrator" else entry.role, parts)
