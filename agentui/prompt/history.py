"""The history of a chat: which of its messages a prompt may hold, and the turns that they make."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from agentui.chat.messages import Part, Text, Thinking, ToolCall, ToolResult
from agentui.prompt.policy import HistorySelection

_ROLE = attrgetter("role")
EntryRole: TypeAlias = Literal["user", "assistant", "system", "narrator"]


class HistoryEntry(NamedTuple):
    """One stored message that comes before the turn. A turn reads hundreds, each from a row that has its fields in this order.

    ``parts`` are all that it holds, or nothing where ``text`` is all. ``source`` "greeting": the card's text, in which macros
    are replaced when it is sent; all others are data. ``created_at`` is in Unix milliseconds.
    """

    floor_id: str
    floor_no: int
    message_id: str
    page_id: str
    role: EntryRole
    text: str
    parts: tuple[Part, ...] = ()
    is_hidden: bool = False
    source: str | None = None
    created_at: int | None = None

    @property
    def says_something(self) -> bool:
        """Whether there is anything in it that could be sent; thoughts alone cannot."""
        return bool(self.text.strip()) if not self.parts else not says_nothing(self.parts)


@dataclass(frozen=True, slots=True)
class Unread:
    """Messages of a chat that count and were not loaded: those that somebody ``spoken``, the model or the user, and of them the
    ``users``'."""

    spoken: int = 0
    users: int = 0


NOTHING_UNREAD: Final = Unread()


@dataclass(frozen=True, slots=True)
class MergedGroup:
    """User messages of several floors that became one message."""

    source_floor_ids: tuple[str, ...]
    source_message_ids: tuple[str, ...]
    includes_current_input: bool


@dataclass(frozen=True, slots=True)
class HistoryViolation:
    """What is odd about the history."""

    code: str
    message: str
    source_floor_ids: tuple[str, ...]
    source_message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HistoryNormalization:
    """How messages became turns (spec: tavern-api-2 part 1.13): neighbours of one role are one turn, so a question and its
    answer are two. The message at hand counts, which a preview has not."""

    raw_entry_count: int = 0
    effective_turn_count: int = 0
    selected_turn_count: int = 0
    trailing_user_source_floor_ids: tuple[str, ...] = ()
    merged_user_groups: tuple[MergedGroup, ...] = ()
    violations: tuple[HistoryViolation, ...] = ()


def says_nothing(parts: Sequence[Part]) -> bool:
    """Whether there is no more in a message than blanks and thoughts."""
    if len(parts) == 1 and type(part := parts[0]) is Text:  # as nearly all are, and a prompt asks of each three times
        return not part.text.strip()
    return all(isinstance(part, Thinking) or (isinstance(part, Text) and not part.text.strip()) for part in parts)


def why_hidden(entry: HistoryEntry, is_seen: Callable[[str, int], bool]) -> str | None:
    """Why a prompt may not hold an entry; None where it may. ``is_seen`` is the policy's (``VisibilityPolicy.sight``)."""
    if entry.is_hidden:
        return "hidden_message"
    return None if is_seen(entry.floor_id, entry.floor_no) else "visibility_filtered"


def window_start(entries: Sequence[HistoryEntry], selection: HistorySelection, current: Sequence[Part] = ()) -> int:
    """Where the newest ``max_messages`` begin. A call of a tool is never parted from its result: rather fewer are taken, and
    more where the current message holds the result."""
    if selection.mode == "full" or selection.max_messages is None:
        return 0
    return unparted(entries, max(0, len(entries) - selection.max_messages), current)


def unparted(entries: Sequence[HistoryEntry], start: int, current: Sequence[Part] = ()) -> int:
    """Where to begin so that what begins at ``start`` has no result of a tool without its call: later, or earlier where the
    current message holds the result."""
    reach = _reach([*(entry.parts for entry in entries), current])
    bound = max(reach[:start], default=-1)
    if bound == len(entries):
        return reach.index(bound)
    while bound >= start:
        bound = max(bound, reach[start])
        start += 1
    return start


def turns_of(entries: Sequence[HistoryEntry], current: Sequence[Part] = ()) -> tuple[list[Sequence[HistoryEntry]], bool]:
    """The entries as turns, and whether the newest one must stay: the current message holds what its tools gave.

    A turn begins where somebody speaks after the model. Users' messages that nobody answered are one turn with what follows. A
    call of a tool and its result are in one turn.
    """
    turns: list[Sequence[HistoryEntry]] = []
    reach = _reach([*(entry.parts for entry in entries), current])
    start, bound = 0, 0
    for number, (before, entry) in enumerate(pairwise(entries), 1):
        bound = max(bound, reach[number - 1])
        if before.role == "assistant" != entry.role and bound < number:
            turns.append(entries[start:number])
            start = number
    if not entries:
        return [], False
    return [*turns, entries[start:]], max(bound, reach[len(entries) - 1]) == len(entries)


def _reach(parts: Sequence[Iterable[Part]]) -> list[int]:
    """For each message up to which one it must not be parted: where the last result of a call of its stands."""
    reach = list(range(len(parts)))
    callers: dict[str | None, int] = {}
    for number, some in enumerate(parts):
        for part in some:
            if isinstance(part, ToolCall):
                callers[part.id] = number
            elif isinstance(part, ToolResult) and (caller := callers.pop(part.call_id, None)) is not None:
                reach[caller] = number
    return reach


def normalization(
    entries: Sequence[HistoryEntry],
    raw: int,
    windowed: Iterable[HistoryEntry],
    sent: Iterable[HistoryEntry],
    has_message: bool,
    floor_id: str | None = None,
) -> HistoryNormalization:
    """What the assembly tells of the history that it saw: of ``raw`` messages ``entries`` are visible, ``windowed`` within the
    history's window, and ``sent``. ``floor_id`` is the floor of the message at hand, where it has one."""
    groups: list[MergedGroup] = []
    violations: list[HistoryViolation] = []
    runs = [(role, list(its)) for role, its in groupby(entries, _ROLE)]
    trailing_run = runs.pop()[1] if runs and runs[-1][0] == "user" else []
    for role, run in runs:
        if len(run) == 1:  # as nearly all are: it is neither merged with another nor next to one
            continue
        if role == "user":
            groups += _merged(run, False)
        elif role == "assistant":
            violations += [_neighbours(before, after) for before, after in pairwise(run) if before.floor_id != after.floor_id]
    groups += _merged(trailing_run, has_message)
    trailing = [entry.floor_id for entry in trailing_run] + ([floor_id] if has_message and floor_id is not None else [])
    return HistoryNormalization(
        raw + has_message,
        _effective(windowed, has_message),
        _effective(sent, has_message),
        tuple(dict.fromkeys(trailing)),
        tuple(groups),
        tuple(violations),
    )


def _neighbours(before: HistoryEntry, after: HistoryEntry) -> HistoryViolation:
    """What is odd about two floors with the model's words next to each other."""
    return HistoryViolation(
        "adjacent_assistant_floors",
        f"Floors {before.floor_no} and {after.floor_no} both hold the model's words, with nobody's between them.",
        (before.floor_id, after.floor_id),
        (before.message_id, after.message_id),
    )


def _effective(entries: Iterable[HistoryEntry], has_message: bool) -> int:
    """How many turns messages make, with the user's message behind them where there is one."""
    roles = [role for role, _ in groupby(entries, _ROLE)]
    return len(roles) + (has_message and roles[-1:] != ["user"])


def _merged(run: Sequence[HistoryEntry], with_message: bool) -> list[MergedGroup]:
    """A run of users' messages, if it is several of different floors."""
    floors = tuple(dict.fromkeys(entry.floor_id for entry in run))
    if len(floors) + with_message < 2 or not floors:
        return []
    return [MergedGroup(floors, tuple(entry.message_id for entry in run), with_message)]
