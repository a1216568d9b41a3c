"""The versions of a floor's answer, and the variables and the Session State that each of them wrote.

Of the output pages with one number one is active. What its turn changed in the branch's, the chat's and the global variables
holds; what the others changed is taken back (variables/journal.py).
"""

from sqlalchemy import Connection, bindparam, delete, select, update

from agentui.chats.records import Floor
from agentui.chats.rows import branch_head, find_floor, on_branch, parent_of
from agentui.chats.state.heads import (
    bring_back,
    heads_before,
    renew_snapshot,
    save_snapshot_heads,
    take_back,
    written_by,
)
from agentui.jsonio import Json
from agentui.store.prepared import Prepared
from agentui.store.tables import branch_snapshots, floors, page_results, pages, promotions, variable_changes, variables
from agentui.variables import journal
from agentui.variables.journal import Change, changes_of
from agentui.variables.records import Put, upsert
from agentui.variables.resolve import load_targets
from agentui.variables.scopes import Target, branch_target
from agentui.variables.snapshots import load_branch_snapshot, save_snapshot_of, save_snapshot_values, set_branch_values
from agentui.variables.values import parse


def active_output(db: Connection, floor_id: str) -> str | None:
    """The page of the floor's answer; None where it has none."""
    found = _ACTIVE_OUTPUT.first(db, {"floor": floor_id})
    return None if found is None else str(found[0])


_ACTIVE_OUTPUT = Prepared(
    select(pages.c.id)
    .where(pages.c.floor_id == bindparam("floor"), pages.c.page_kind == "output", pages.c.is_active)
    .order_by(pages.c.page_no.desc())
)


def variables_before(db: Connection, account: str, floor_id: str) -> dict[str, Json]:
    """The branch's variables as they were when the floor's turn committed, without what it wrote itself.

    Of a turn from before the journal that is not known: then they are what its parent left. Raises SnapshotMissing.
    """
    snapshot = _JOURNALED.row(db, {"floor": floor_id})
    if snapshot is None or not snapshot.is_journaled:
        parent = parent_of(db, account, find_floor(db, account, floor_id))
        return {} if parent is None else load_branch_snapshot(db, account, parent.id)
    values = load_branch_snapshot(db, account, floor_id)
    page_id = active_output(db, floor_id)
    undone = () if page_id is None else [change.reversed() for change in changes_of(db, account, page_id)]
    return with_changes(values, undone)


_JOURNALED = Prepared(select(branch_snapshots.c.is_journaled).where(branch_snapshots.c.floor_id == bindparam("floor")))


def with_changes(values: dict[str, Json], changes: "list[Change] | tuple[Change, ...]") -> dict[str, Json]:
    """A branch's variables after changes."""
    changed = dict(values)
    for change in changes:
        if change.target.scope == "branch" and change.after is None:
            changed.pop(change.key, None)
        elif change.target.scope == "branch" and change.after is not None:
            changed[change.key] = parse(change.after)
    return changed


def keep_snapshot(db: Connection, account: str, floor: Floor, values: dict[str, Json], now: int) -> None:
    """Keep what the branch holds after a floor's answer was changed: of its head what it holds now, of an older floor
    ``values``, as later turns have gone on from there."""
    if is_head(db, account, floor):
        save_snapshot_of(db, account, floor.id, floor.session_id, floor.branch_id, now)
    else:
        save_snapshot_values(db, account, floor.id, values, now)


def is_head(db: Connection, account: str, floor: Floor) -> bool:
    """Whether no later turn of the branch has gone on from the floor."""
    head = branch_head(db, account, floor.session_id, floor.branch_id)
    return head is not None and head.id == floor.id


def switch_variables(db: Connection, account: str, floor: Floor, old_page_id: str | None, page_id: str, now: int) -> None:
    """Take back what one version of a committed floor's answer wrote, and bring back what another did; Session State too."""
    before = variables_before(db, account, floor.id)
    if old_page_id is not None:
        journal.take_back(db, account, changes_of(db, account, old_page_id), now)
    changes = changes_of(db, account, page_id)
    journal.bring_back(db, account, changes, now)
    _restore_floor(db, account, floor.id, page_id, now)
    keep_snapshot(db, account, floor, with_changes(before, changes), now)
    _switch_state(db, account, floor, old_page_id, page_id, now)
    tokens = select(page_results.c.token_in, page_results.c.token_out).where(page_results.c.page_id == page_id)
    spent = db.execute(tokens).one_or_none()
    if spent is not None:
        counts = {"token_in": spent.token_in, "token_out": spent.token_out}
        db.execute(update(floors).where(floors.c.id == floor.id).values(updated_at=now, **counts))


def _switch_state(db: Connection, account: str, floor: Floor, old_page_id: str | None, page_id: str, now: int) -> None:
    """The same with Session State."""
    place, before = (floor.session_id, floor.branch_id), heads_before(db, floor.id, old_page_id)
    take_back(db, account, *place, old_page_id, now)
    bring_back(db, account, *place, page_id, now)
    if is_head(db, account, floor):
        renew_snapshot(db, account, floor.id, *place, now)
    else:
        made = {mutation.key: mutation.id for mutation in written_by(db, page_id)}
        save_snapshot_heads(db, account, floor.id, {**before, **made}, now)


def take_back_floor(db: Connection, account: str, floor: Floor, now: int) -> None:
    """Take back what a branch's newest turn changed of variables and Session State; it is about to be removed. An older one's
    changes stay, as later turns have gone on from them."""
    page_id = active_output(db, floor.id)
    if page_id is not None and floor.superseded_at is None and is_head(db, account, floor):
        journal.take_back(db, account, changes_of(db, account, page_id), now)
        take_back(db, account, floor.session_id, floor.branch_id, page_id, now)


def take_back_behind(db: Connection, account: str, target: Floor, now: int) -> None:
    """Take back what the floors behind one on its branch changed of chat and global variables, newest first."""
    behind = (
        select(variable_changes)
        .join(pages, pages.c.id == variable_changes.c.page_id)
        .join(floors, floors.c.id == pages.c.floor_id)
        .where(*on_branch(account, target.session_id, target.branch_id), floors.c.floor_no > target.floor_no)
        .where(pages.c.is_active, variable_changes.c.scope != "branch")
        .order_by(floors.c.floor_no.desc(), pages.c.page_no.desc())
    )
    changes = [Change(Target(row.scope, row.scope_id), row.key, row.before_json, row.after_json) for row in db.execute(behind)]
    journal.take_back(db, account, changes, now)


def move_branch_variables(db: Connection, account: str, session_id: str, source: str, target: str, now: int) -> None:
    """Give a branch that took over the floors of another that one's variables, and the floors' journal with them."""
    old, new = branch_target(session_id, source), branch_target(session_id, target)
    values = {key: variable.value for key, variable in load_targets(db, account, [old])["branch"].items()}
    set_branch_values(db, account, session_id, target, values, now)
    on_target = (
        select(pages.c.id)
        .join(floors, floors.c.id == pages.c.floor_id)
        .where(floors.c.account_id == account, floors.c.session_id == session_id, floors.c.branch_id == target)
    )
    moved = (variable_changes.c.scope == "branch", variable_changes.c.scope_id == old.scope_id)
    db.execute(update(variable_changes).where(*moved, variable_changes.c.page_id.in_(on_target)).values(scope_id=new.scope_id))


def _restore_floor(db: Connection, account: str, floor_id: str, page_id: str, now: int) -> None:
    """Give a floor the variables that a page promoted to it, and no others."""
    of_floor = (variables.c.account_id == account, variables.c.scope == "floor", variables.c.scope_id == floor_id)
    db.execute(delete(variables).where(*of_floor))
    promoted = select(promotions.c.key, promotions.c.value_json).where(
        promotions.c.page_id == page_id, promotions.c.account_id == account, promotions.c.to_scope_id == floor_id
    )
    target = Target("floor", floor_id)
    upsert(db, account, [Put(target, row.key, row.value_json) for row in db.execute(promoted.order_by(promotions.c.id))], now)
