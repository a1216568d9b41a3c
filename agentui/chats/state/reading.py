"""Reading Session State: what holds on a branch, what held when a floor was committed, and what lies between the two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection

from agentui.chats.codes import failure
from agentui.chats.records import Floor
from agentui.chats.rows import find_branch, find_floor, find_session
from agentui.chats.state.game import SCENE, WORLD, game_of_branch, game_of_floor
from agentui.chats.state.heads import heads_before, heads_of, mutations_of, snapshot_ids, without, written_by
from agentui.chats.state.namespaces import known_slots
from agentui.chats.state.records import EVERYTHING, Key, Mutation, Source, StateValue, Wanted
from agentui.chats.versions import active_output, is_head
from agentui.jsonio import Json
from agentui.store.paging import MAX_PART_BYTES

Values: TypeAlias = Mapping[Key, StateValue]


@dataclass(frozen=True, slots=True)
class Difference:
    """A slot on two sides; ``right`` is that of the floor that was asked for."""

    key: Key
    change_type: Literal["added", "removed", "changed", "unchanged"]
    left: StateValue
    right: StateValue


def resolve(
    db: Connection, account: str, session_id: str, branch_id: str, wanted: Wanted, source_floor_id: str | None
) -> list[StateValue]:
    """What the slots of a session hold on a branch, or held when ``source_floor_id`` was committed; one that holds nothing
    there has the source ``none``. Raises 404 ``not_found``, ``branch_not_found``, ``source_floor_not_found``, 413
    ``payload_too_large``."""
    find_session(db, account, session_id)
    find_branch(db, account, session_id, branch_id)
    if source_floor_id is None:
        values = _live(db, account, session_id, branch_id, wanted)
    else:
        floor = find_floor_in(db, account, session_id, source_floor_id, code="source_floor_not_found")
        values = _held(db, account, floor, wanted)
    return [values.get(key) or StateValue(key, "none") for key in _slots(db, session_id) if wanted.fits(key)]


def read_snapshot(
    db: Connection, account: str, session_id: str, floor_id: str, wanted: Wanted
) -> tuple[Floor, list[StateValue]]:
    """A floor, and what held when it was committed. Raises 404 ``not_found``, 413 ``payload_too_large``."""
    floor = find_floor_in(db, account, session_id, floor_id)
    values = _held(db, account, floor, wanted)
    return floor, [values[key] for key in _in_order(values)]


def compare(
    db: Connection,
    account: str,
    session_id: str,
    floor_id: str,
    against_floor_id: str | None,
    branch_id: str | None,
    wanted: Wanted,
) -> list[Difference]:
    """What lies between another floor, or where none is named what holds on a branch now, and a floor of the session: what
    only the floor has was added. Raises 404 ``not_found``, ``branch_not_found``, 413 ``payload_too_large``."""
    right = _held(db, account, find_floor_in(db, account, session_id, floor_id), wanted)
    if against_floor_id is not None:
        left = _held(db, account, find_floor_in(db, account, session_id, against_floor_id), wanted)
    else:
        find_branch(db, account, session_id, branch_id or "")
        left = _live(db, account, session_id, branch_id or "", wanted)
    return [
        _difference(key, left.get(key) or StateValue(key, "none"), right.get(key) or StateValue(key, "none"))
        for key in _in_order({**left, **right})
    ]


def find_floor_in(db: Connection, account: str, session_id: str, floor_id: str, code: str = "not_found") -> Floor:
    """A floor of a session. Raises 404."""
    find_session(db, account, session_id)
    floor = find_floor(db, account, floor_id, code=code)
    if floor.session_id != session_id:
        raise failure(code, "The session has no such floor.", session_id=session_id, floor_id=floor_id)
    return floor


def value_of(mutation: Mutation, source: Source, floor_id: str | None = None) -> StateValue:
    """What a slot holds after a mutation; ``floor_id`` is the floor whose snapshot was asked, where one was."""
    where = mutation.floor_id if floor_id is None else floor_id
    value = mutation.value if mutation.is_present else None
    return StateValue(
        mutation.key, source, mutation.is_present, value, where, (mutation.id,), mutation.updated_at, mutation.size
    )


def live_values(db: Connection, session_id: str, branch_id: str, wanted: Wanted = EVERYTHING) -> dict[Key, StateValue]:
    """What the registered namespaces hold on a branch now. Raises 413 ``payload_too_large``."""
    ids = [id for key, id in heads_of(db, session_id, branch_id).items() if wanted.fits(key)]
    return {each.key: value_of(each, "live_head") for each in _loaded(db, ids, wanted)}


def state_seen(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str,
    parent_floor_id: str | None,
    replaced_floor_id: str | None,
) -> dict[str, Json]:
    """What the templates of a turn see, by the parts of namespaces and their slots: what holds on its branch, without what the
    turn of the answer that it makes anew wrote. A namespace hides a slot of the same name. Raises 413 ``payload_too_large``."""
    heads = _heads_seen(db, account, session_id, branch_id, replaced_floor_id)
    values = {each.key: each.value for each in _loaded(db, list(heads.values()), EVERYTHING) if each.is_present}
    game = {} if parent_floor_id is None else game_of_floor(db, account, parent_floor_id, "live_head")
    root = _Level()
    for key in sorted((*values, *game), key=lambda key: (key.namespace.count("."), key)):
        level = root
        for part in key.namespace.split("."):
            below = level.get(part)
            if not isinstance(below, _Level):
                below = level[part] = _Level()
            level = below
        level[key.slot] = game[key].value if key in game else values[key]
    return root


class _Level(dict[str, Json]):
    """A part of a namespace's name, with what is below it."""


def _heads_seen(db: Connection, account: str, session_id: str, branch_id: str, replaced_floor_id: str | None) -> dict[Key, str]:
    if replaced_floor_id is None:
        return heads_of(db, session_id, branch_id)
    page_id = active_output(db, replaced_floor_id)
    if not is_head(db, account, find_floor(db, account, replaced_floor_id)):
        return heads_before(db, replaced_floor_id, page_id)
    return without(heads_of(db, session_id, branch_id), written_by(db, page_id))


def _live(db: Connection, account: str, session_id: str, branch_id: str, wanted: Wanted) -> Values:
    game = game_of_branch(db, account, session_id, branch_id)
    return {**_fitting(game, wanted), **live_values(db, session_id, branch_id, wanted)}


def _held(db: Connection, account: str, floor: Floor, wanted: Wanted) -> Values:
    if floor.state != "committed":
        return {}
    source: Source = "source_floor_snapshot"
    kept = {each.key: value_of(each, source, floor.id) for each in _loaded(db, snapshot_ids(db, floor.id), wanted)}
    return {**_fitting(game_of_floor(db, account, floor.id, source), wanted), **kept}


def _fitting(values: Values, wanted: Wanted) -> Values:
    return {key: value for key, value in values.items() if wanted.fits(key)}


def _loaded(db: Connection, ids: Sequence[str], wanted: Wanted) -> list[Mutation]:
    """Mutations, as far as they are wanted. Raises 413 ``payload_too_large`` where they are too large for one answer."""
    size = 0
    found: list[Mutation] = []
    for mutation in mutations_of(db, ids, wanted, with_values=True):
        size += mutation.size
        if size > MAX_PART_BYTES:
            message = f"The values take more than {MAX_PART_BYTES} bytes: name a namespace, or a slot of one."
            raise failure("payload_too_large", message, limit=MAX_PART_BYTES)
        found.append(mutation)
    return found


def _slots(db: Connection, session_id: str) -> list[Key]:
    return [SCENE, WORLD, *known_slots(db, session_id)]


def _in_order(values: Values) -> list[Key]:
    """The slots, the server's own first."""
    return sorted(values, key=lambda key: (key not in (SCENE, WORLD), key))


def _difference(key: Key, left: StateValue, right: StateValue) -> Difference:
    if left.is_present == right.is_present:
        same = not left.is_present or left.value == right.value
        return Difference(key, "unchanged" if same else "changed", left, right)
    return Difference(key, "added" if right.is_present else "removed", left, right)
