"""What people do with the working variables of a branch: list, read, write and remove. None of it counts as a read.

Every function is a transaction: its first argument is a connection, its second the account. ``rules`` are the server's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection

from agentui.chats.listing import Listed, Paging
from agentui.chats.rows import find_branch, find_session, touch
from agentui.chats.working.folding import folded
from agentui.chats.working.journal import load_system, person_spot, read_value, save_changes
from agentui.jsonio import Json
from agentui.tools.vars.errors import NoSuchVariable
from agentui.tools.vars.record import WorkingVariable, text_of
from agentui.tools.vars.system import VarFilter, VariableSystem

WorkingSort: TypeAlias = Literal["name", "created_at", "updated_at", "last_visited_at"]


@dataclass(frozen=True, slots=True)
class Part:
    """A variable and a part of its value: ``length`` characters of it at most, from ``start``."""

    facts: Mapping[str, Json]
    start: int
    text: str


def list_working(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str,
    rules: Sequence[WorkingVariable],
    chosen: VarFilter,
    paging: Paging,
) -> Listed[Mapping[str, Json]]:
    """What is known of a branch's variables, without values. Raises 404 ``not_found`` and ``branch_not_found``."""
    _check(db, account, session_id, branch_id)
    stored = folded(db, account, session_id, branch_id).stored
    found: list[Mapping[str, Json]] = [
        {**each.variable.facts(), "length": each.length} for each in stored.values() if chosen.takes(each.variable)
    ]
    found += [rule.facts() for rule in rules if chosen.takes(rule)]
    found.sort(key=lambda facts: (facts[paging.sort_by], facts["name"]), reverse=paging.sort_order == "desc")
    return Listed(found[paging.offset : paging.offset + paging.limit], len(found))


def read_working(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str,
    rules: Iterable[WorkingVariable],
    name: str,
    start: int = 0,
    length: int | None = None,
) -> Part:
    """A variable and a part of its value. Raises as ``list_working`` does, and NoSuchVariable."""
    _check(db, account, session_id, branch_id)
    rule = next((rule for rule in rules if rule.name == name), None)
    if rule is not None:
        return Part(rule.facts(), start, rule.value[start : None if length is None else start + length])
    stored = folded(db, account, session_id, branch_id).stored.get(name)
    text = None if stored is None else read_value(db, stored.value_id, start, length)
    if stored is None or text is None:
        raise NoSuchVariable(f"The branch has no working variable {name!r:.210}.")
    facts = {**stored.variable.facts(), "length": stored.length}
    return Part(facts, start, text)


def write_working(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str,
    rules: Sequence[WorkingVariable],
    name: str,
    given: Mapping[str, Json],
    now: int,
) -> tuple[WorkingVariable, bool]:
    """Write a person's variable, and whether it is new: ``given`` are value, desc, tags and keep, as far as they are to change;
    a value that is null is one.
    Raises as ``list_working`` and ``VariableSystem.update`` do."""
    system = _held(db, account, session_id, branch_id, rules, now)
    is_new = system.peek(name) is None
    written = system.update(
        name,
        value=text_of(given["value"]) if "value" in given else None,
        type="USER_ADD" if is_new or "value" in given else None,
        desc=given.get("desc"),
        tags=given.get("tags"),
        keep=given.get("keep"),
    )
    _save(db, account, session_id, branch_id, system, now)
    return written, is_new


def remove_working(
    db: Connection, account: str, session_id: str, branch_id: str, rules: Sequence[WorkingVariable], name: str, now: int
) -> None:
    """Remove a variable, kept or not. Raises as ``list_working`` does, NoSuchVariable and RuleIsFixed."""
    system = _held(db, account, session_id, branch_id, rules, now)
    system.drop(name)
    _save(db, account, session_id, branch_id, system, now)


def _held(
    db: Connection, account: str, session_id: str, branch_id: str, rules: Sequence[WorkingVariable], now: int
) -> VariableSystem:
    """A branch's variables, while nobody else changes the branch."""
    find_session(db, account, session_id, hold=True)
    find_branch(db, account, session_id, branch_id, hold=True)
    return load_system(db, account, session_id, branch_id, lambda: now, rules).system


def _save(db: Connection, account: str, session_id: str, branch_id: str, system: VariableSystem, now: int) -> None:
    save_changes(db, account, person_spot(db, account, session_id, branch_id), system.changes(), now)
    touch(db, session_id, branch_id, now)


def _check(db: Connection, account: str, session_id: str, branch_id: str) -> None:
    find_session(db, account, session_id)
    find_branch(db, account, session_id, branch_id)
