"""What became of a file that was read: what is used, what is only kept, what was left out, and what to know about it."""

from dataclasses import dataclass, field
from typing import Final

MOST: Final = 100
"""Lines of one kind in a report; behind them stands that there are more."""


@dataclass(slots=True)
class ImportReport:
    """The account of one file.

    ``format`` is what it was recognised as. Fields are named as in the file, with ``[]`` for each member of a list:
    ``ignored_fields`` are kept and written again, but nothing here reads them; ``unsupported_fields`` ask for something that
    this server does not do. ``downgraded_entries`` were taken otherwise than they say. ``dropped_fields`` held secrets or
    addresses of a provider and are not kept. ``scripts_waiting`` counts the regex scripts that run only when they are allowed.
    """

    format: str
    read: dict[str, int] = field(default_factory=dict)
    ignored_fields: list[str] = field(default_factory=list)
    unsupported_fields: list[str] = field(default_factory=list)
    downgraded_entries: list[str] = field(default_factory=list)
    unresolved_markers: list[str] = field(default_factory=list)
    selected_track: int | str | None = None
    ignored_tracks: list[int | str] = field(default_factory=list)
    dropped_fields: list[str] = field(default_factory=list)
    scripts_waiting: int = 0
    warnings: list[str] = field(default_factory=list)

    def ignore(self, name: str) -> None:
        """A field that is kept but not read."""
        _note(self.ignored_fields, name)

    def unsupported(self, name: str) -> None:
        """A field that asks for something that this server does not do."""
        _note(self.unsupported_fields, name)

    def downgrade(self, text: str) -> None:
        """Something that was taken otherwise than it says."""
        _note(self.downgraded_entries, text)

    def warn(self, text: str) -> None:
        """Something to know."""
        _note(self.warnings, text)


def _note(lines: list[str], line: str) -> None:
    if len(lines) < MOST and line not in lines:
        lines.append(line)
    elif len(lines) == MOST:
        lines.append("... and more")
