"""The transaction that makes a run's writes durable: with their ledger, and with the journal that can take them back.

A run that makes another version of a turn worked with the variables as they were before that turn (``Replaced``). Its commit
takes the old version's changes back and writes its own, in one step: a variable that ends as it was is not touched. Where
later turns have built on the old version, what they left stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, delete, update

from agentui.jsonio import Json
from agentui.store.prepared import Prepared
from agentui.store.tables import variables
from agentui.templating.core.paths import MISSING
from agentui.variables.errors import VariableChanged
from agentui.variables.journal import Change, Place, hold_current, keep_changes, set_texts
from agentui.variables.ledger import Entry, write_ledger
from agentui.variables.paths import PathBlocked, write_path
from agentui.variables.places import hold_session
from agentui.variables.records import Put, Variable, upsert
from agentui.variables.scopes import GLOBAL, Scope, Target, branch_target
from agentui.variables.staging import NOT_READ, SHARED, Stamp, Write
from agentui.variables.values import parse, render


@dataclass(frozen=True, slots=True)
class Replaced:
    """The version of a turn that a run takes the place of: what it changed, and whether no later turn of the branch has gone
    on from it."""

    changes: tuple[Change, ...]
    is_head: bool


def commit_staged(
    db: Connection,
    account: str,
    run_id: str,
    session_id: str | None,
    branch_id: str | None,
    floor_id: str | None,
    output_page_id: str | None,
    writes: Sequence[Write],
    now: int,
    *,
    is_held: bool = False,
    replaced: Replaced | None = None,
) -> tuple[Change, ...]:
    """Make a run's writes durable, with their ledger and journal; part of the transaction that commits the floor. Returns what
    it changed in the shared tiers. Without a session the ids are None, and only global writes come. ``is_held`` says that the
    transaction keeps the session from being removed already.

    Raises VariableChanged when a variable that the run read and writes has changed since, HostNotFound when the session
    is gone.
    """
    if not writes and replaced is None:
        return ()
    if session_id is not None and not is_held:
        hold_session(db, account, session_id)
    targets = _targets(session_id, branch_id, floor_id, output_page_id)
    shared = [write for write in writes if write.tier in SHARED]
    changes = _replace_read(db, account, targets, shared, now) if replaced is None else None
    if changes is None:
        changes = _write_shared(db, account, targets, shared, replaced, now)
    if output_page_id is not None:
        keep_changes(db, account, output_page_id, changes)
    promoted = [write for write in shared if write.is_promoted and output_page_id is not None]
    own = [write for write in writes if write.tier not in SHARED]
    _write_own(db, account, run_id, targets, own, _promoted(promoted, targets, changes), now)
    return tuple(changes)


def _targets(
    session_id: str | None, branch_id: str | None, floor_id: str | None, output_page_id: str | None
) -> dict[Scope, Target]:
    """The tier that each scope means for this run."""
    targets: dict[Scope, Target] = {"global": GLOBAL}
    if session_id is not None:
        targets["chat"] = Target("chat", session_id)
        if branch_id is not None:
            targets["branch"] = branch_target(session_id, branch_id)
    if floor_id is not None:
        targets["floor"] = Target("floor", floor_id)
    if output_page_id is not None:
        targets["page"] = Target("page", output_page_id)
    return targets


def _replace_read(
    db: Connection, account: str, targets: Mapping[Scope, Target], writes: Sequence[Write], now: int
) -> list[Change] | None:
    """Write what replaces whole variables that the run read, if they are still the very rows that were read; None where there
    are other writes too, so that all are locked in the one order of all writers. The commonest writes of a turn, done in one
    statement each: the row need not be fetched to be compared."""
    ordered = sorted(writes, key=lambda write: (targets[write.tier], write.key))
    changes = []
    for write in ordered:
        if not isinstance(write.expected, Stamp) or write.edits[0].steps or _is_deletion(write):
            return None
    for write in ordered:
        assert isinstance(write.expected, Stamp)
        text = _edited_text(write, MISSING)
        row = {"variable": write.expected.id, "read": write.expected.version, "account": account, "text": text, "now": now}
        if _REPLACE_READ.run(db, row) == 0:
            raise _changed(write)
        changes.append(Change(targets[write.tier], write.key, write.before, text))
    return changes


_REPLACE_READ = Prepared(
    update(variables)
    .where(
        variables.c.id == bindparam("variable"),
        variables.c.version == bindparam("read"),
        variables.c.account_id == bindparam("account"),
    )
    .values(value_json=bindparam("text"), updated_at=bindparam("now"), version=variables.c.version + 1)
)


def _write_shared(
    db: Connection,
    account: str,
    targets: Mapping[Scope, Target],
    writes: Sequence[Write],
    replaced: Replaced | None,
    now: int,
) -> list[Change]:
    """Write what a run left in the tiers that others write too, and take back what it replaces."""
    undone = {change.place: change for change in replaced.changes} if replaced is not None else {}
    write_by_place: dict[Place, Write] = {(targets[write.tier], write.key): write for write in writes}
    places = sorted({*write_by_place, *undone})
    current = hold_current(db, account, places)
    texts: dict[Place, str | None] = {}
    made: dict[Place, Write] = {}
    changes = []
    for place in places:
        write, variable = write_by_place.get(place), current.get(place)
        base = _base(write, variable, undone.get(place), is_head=replaced is None or replaced.is_head)
        text = base.text if write is None else _final_text(write, variable, base)
        if write is not None:
            changes.append(Change(*place, base.text, text))
        # The same value again is a write all the same.
        if base.is_current and (text != _text_of(variable) or (write is not None and text is not None)):
            texts[place] = text
        if write is not None and variable is None and _needs_current(write):
            made[place] = write
    for written in set_texts(db, account, texts, now):
        place = written.variable.target, written.variable.key
        if place in made and not written.is_new:
            # The run took it for missing, and somebody made it in the same moment.
            raise _changed(made[place])
    return changes


class _Base(NamedTuple):
    """What a run's write to a variable begins with, and whether it is what the variable has now (else later turns have gone on
    from there, and keep what they left)."""

    text: str | None
    is_current: bool


def _base(write: Write | None, variable: Variable | None, undone: Change | None, *, is_head: bool) -> _Base:
    """What was there before the turn that is replaced; where none is, what is there now."""
    now = _text_of(variable)
    if undone is not None and now == undone.after:
        return _Base(undone.before, True)
    if is_head:
        return _Base(now, True)
    before = undone.before if undone is not None else write.before if write is not None else now
    return _Base(before, undone is None and now == before)


def _text_of(variable: Variable | None) -> str | None:
    return None if variable is None else variable.value_json


def _needs_current(write: Write) -> bool:
    """Whether what is written depends on what is there."""
    return write.expected != NOT_READ or bool(write.edits[0].steps)


def _final_text(write: Write, variable: Variable | None, base: _Base) -> str | None:
    """The variable's new JSON text, None where it is deleted. Raises VariableChanged when what the run worked with is gone."""
    if base.is_current and write.expected not in (NOT_READ, _seen(variable, base)):
        raise _changed(write)
    if _is_deletion(write):
        return None
    return _edited_text(write, MISSING if base.text is None or not write.edits[0].steps else parse(base.text))


def _seen(variable: Variable | None, base: _Base) -> Stamp | None:
    """How a run that begins now would know the variable (``journal.before_changes``)."""
    if base.text is None:
        return None
    return Stamp("", 0) if variable is None else Stamp(variable.id, variable.version)


def _edited_text(write: Write, value: Json) -> str:
    """What a variable's value becomes by the write's edits, as JSON text. Raises VariableChanged when they do not fit it."""
    try:
        for edit in write.edits:
            value = write_path(value, edit.steps, edit.value)
    except PathBlocked as error:
        raise _changed(write) from error
    return render(value)


def _is_deletion(write: Write) -> bool:
    """Whether the last that a run did to a variable was to delete it."""
    return write.edits[-1].value is MISSING


def _promoted(writes: Sequence[Write], targets: Mapping[Scope, Target], changes: Sequence[Change]) -> list[tuple[Write, str]]:
    """Writes that go to a shared tier from the page, with the text that each left there; not one whose variable is gone."""
    after = {change.place: change.after for change in changes}
    left = [(write, after.get((targets[write.tier], write.key))) for write in writes]
    return [(write, text) for write, text in left if text is not None]


def _write_own(
    db: Connection,
    account: str,
    run_id: str,
    targets: Mapping[Scope, Target],
    writes: Sequence[Write],
    promoted: Sequence[tuple[Write, str]],
    now: int,
) -> None:
    """Write what a run left on its floor and its page, with the ledger. What is written to the floor is written to the page
    too, and so is what was ``promoted`` to a shared tier, unless the run gave the page a value of its own. Floor and page are
    locked: nobody else writes there."""
    if not writes and not promoted:
        return
    paths = [(targets[write.tier], write.key) for write in writes if write.edits[0].steps]
    current = hold_current(db, account, [*paths, *((targets[write.tier], write.key) for write, _ in promoted)])
    texts: dict[Place, str] = {}
    for write in writes:
        place = targets[write.tier], write.key
        variable = current.get(place)
        texts[place] = _edited_text(write, MISSING if variable is None else variable.value)
    for (target, key), text in tuple(texts.items()):
        if target.scope == "floor":
            texts.setdefault((targets["page"], key), text)
    for write, text in promoted:
        texts.setdefault((targets["page"], write.key), text)
    puts = [Put(*place, text) for place, text in texts.items()]
    done = {(item.variable.target, item.variable.key): item.variable for item in upsert(db, account, puts, now)}
    for write, text in promoted:
        variable = current.get((targets[write.tier], write.key))
        if variable is None or variable.value_json != text:
            # Later turns have gone on from an older version, and what they left stays: nothing was promoted.
            variable = done[targets["page"], write.key]
        done[targets[write.tier], write.key] = variable
    told = [*writes, *(write for write, _ in promoted)]
    write_ledger(db, account, run_id, [_entry(write, targets, done) for write in told], now)


def forget_floor(db: Connection, account: str, floor_id: str) -> None:
    """Remove a floor's variables: those of the version that is to be replaced."""
    _FORGET.run(db, {"account": account, "floor": floor_id})


_FORGET = Prepared(
    delete(variables).where(
        variables.c.account_id == bindparam("account"), variables.c.scope == "floor", variables.c.scope_id == bindparam("floor")
    )
)


_INTENTS: Final[Mapping[Scope, str]] = {
    "page": "page_only",
    "floor": "promote_to_floor_on_accept",
    "branch": "promote_to_branch_on_accept",
}


def _changed(write: Write) -> VariableChanged:
    return VariableChanged(
        f"The {write.tier} variable {write.key[:200]!r} was changed by somebody else while this run computed its new value. "
        "Send the request again.",
        tier=write.tier,
        key=write.key[:200],
    )


def _entry(write: Write, targets: Mapping[Scope, Target], done: Mapping[Place, Variable]) -> Entry:
    """What the page's ledger tells of a write that ends on the page or goes on from there."""
    return Entry(
        intent=_INTENTS[write.tier],
        variable=done[targets[write.tier], write.key],
        on_page=done[targets["page"], write.key],
        reason=write.reason,
        source=write.source,
        staged_at=write.staged_at,
    )
