"""What is seen of a chat: messages, words as they arrive, and tables."""

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentui.sdk.helpers import TimelineMessageView, VariableInspectorRow
from agentui.sdk.shapes.chats.branches import BranchSummary
from agentui.sdk.shapes.chats.prompt_runtime import Explanation
from agentui.terminal.commands import COMMANDS

_CONTROLS = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def plain(text: str) -> str:
    """Words without what a terminal would obey: nobody who writes may move the cursor, change colours or answer for a user."""
    return text.translate(_CONTROLS)


class Screen:
    """Writes to the terminal. Words of others are shown letter for letter."""

    def __init__(self, character: str, console: Console | None = None) -> None:
        self._character = character
        self._console = console or Console(highlight=False)
        self._line_is_open = False

    def greet(self, server: str, session_id: str, messages: Iterable[TimelineMessageView]) -> None:
        """Say where this is, and what was said last."""
        self.note(f"{server}, session {session_id}. /help lists the commands, Ctrl+C stops an answer, Ctrl+D leaves.")
        for message in messages:
            self.message(message["role"], message["content"])

    def message(self, role: str, content: str) -> None:
        """Show a whole message."""
        self.begin("You" if role == "user" else self._character if role == "assistant" else role)
        self.words(content)
        self.end_line()

    def begin(self, who: str) -> None:
        """Say who speaks."""
        self.end_line()
        self._console.print(Text(f"{plain(who)}:", style="bold cyan"))

    def answer(self) -> None:
        """The character begins to speak."""
        self.begin(self._character)

    def words(self, text: str) -> None:
        """Show more words of who speaks."""
        if text:
            self._console.print(Text(plain(text)), end="", soft_wrap=True)
            self._line_is_open = not text.endswith("\n")

    def note(self, text: str) -> None:
        """Say something of one's own."""
        self.end_line()
        self._console.print(Text(plain(text), style="dim"), soft_wrap=True)

    def wrong(self, text: str) -> None:
        """Say what went wrong."""
        self.end_line()
        self._console.print(Text(plain(text), style="red"), soft_wrap=True)

    def end_line(self) -> None:
        """Go on at the beginning of a line."""
        if self._line_is_open:
            self._console.print()
            self._line_is_open = False

    def help(self) -> None:
        """Show the commands."""
        self._table(("command", "what it does"), [(f"/{name} {COMMANDS[name][0]}", COMMANDS[name][1]) for name in COMMANDS])

    def branches(self, branches: Iterable[BranchSummary], here: str) -> None:
        """Show the branches of a chat, with a mark at one."""
        rows = [
            ("*" if each["branch_id"] == here else "", each["branch_id"], str(each["floor_count"]), _last(each))
            for each in branches
        ]
        self._table(("", "branch", "floors", "newest"), rows)

    def variables(self, rows: Iterable[VariableInspectorRow]) -> None:
        """Show variables, with the tiers whose values are hidden."""
        shown = [
            (row["key"], row["preview"], row["source_scope"], ", ".join(_hidden(row)))
            for row in rows
        ]  # fmt: skip
        if shown:
            self._table(("variable", "value", "tier", "hides"), shown)
        else:
            self.note("There are no variables here.")

    def why(self, explained: Explanation) -> None:
        """Show what an answer's prompt was made of."""
        if not explained["snapshot_available"]:
            self.note("Nothing is kept of what this answer was made of.")
            return
        rows = [
            (str(each["name"]), str(each["source"]), str(each["tokens"]), _fate(each))
            for each in explained["sections"] or ()
            if each["why"] != "empty"
        ]
        self._table(("section", "from", "tokens", ""), rows)
        snapshot = explained["prompt_snapshot"] or {}
        entries = [str(each.get("comment") or each["uid"]) for each in snapshot.get("worldbook_activated_entries") or ()]
        if entries:
            self.note(f"Lorebook entries: {', '.join(entries)}")
        self.note(f"About {snapshot.get('token_estimate', 0)} tokens were sent.")

    def _table(self, names: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
        self.end_line()
        table = Table(*names, box=None, header_style="bold", padding=(0, 2, 0, 0))
        for row in rows:
            table.add_row(*(Text(plain(cell)) for cell in row))
        self._console.print(table)


def _last(branch: BranchSummary) -> str:
    number = branch["latest_floor_no"]
    return "" if number is None else f"floor {number}, {branch['latest_state']}"


def _hidden(row: VariableInspectorRow) -> list[str]:
    return [f"{layer['scope']} {layer['preview']}" for layer in row["layers"] if not layer["is_winning"]]


def _fate(section: Mapping[str, object]) -> str:
    return "" if section["kept"] else f"left out: {section['why']}"
