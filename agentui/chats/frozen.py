"""Which assets a branch keeps for itself: those that the floor before it was made of.

In a session with ``deep_binding`` a branch that is forked behind a floor goes on with the prompt preset, the worldbook and the
regex profile of that floor's prompt, in their versions, whatever the session is bound to since. Where nothing is kept of that
prompt it goes on with what its source's branch keeps, else with what the session is bound to in that moment. A session without
``deep_binding`` has the newest content on every branch; a branch that was forked before keeps what it has for the day when
``deep_binding`` is switched on again.
"""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection, bindparam, select

from agentui.chats.records import Floor
from agentui.jsonio import Json, loads
from agentui.store.prepared import Prepared
from agentui.store.tables import branches, page_results, pages, sessions

_KEPT: Final[Mapping[str, str]] = {
    "preset_id": "preset_id",
    "preset_version_id": "preset_version_id",
    "worldbook_profile_id": "worldbook_id",
    "worldbook_version_id": "worldbook_version_id",
    "regex_profile_id": "regex_profile_id",
    "regex_profile_version_id": "regex_profile_version_id",
}
"""The fields of a session that a branch keeps, and what a prompt's snapshot calls them."""

Frozen = Mapping[str, Json]


def frozen_behind(db: Connection, account: str, source: Floor) -> Frozen | None:
    """What a branch that is forked behind this floor keeps; None in a session without ``deep_binding``."""
    found = _BINDINGS.first(db, {"session": source.session_id, "account": account})
    assert found is not None  # its floor is there
    bindings = loads(found[0])
    if not bindings.get("deep_binding"):
        return None
    told = _made_of(db, account, source.id)
    if told is not None:
        return {field: told.get(name) for field, name in _KEPT.items()}
    kept = read_frozen(db, account, source.session_id, source.branch_id)
    return {field: bindings.get(field) for field in _KEPT} if kept is None else kept


_BINDINGS = Prepared(
    select(sessions.c.bindings_json).where(sessions.c.id == bindparam("session"), sessions.c.account_id == bindparam("account"))
)


def read_frozen(db: Connection, account: str, session_id: str, branch_id: str) -> Frozen | None:
    """What a branch keeps; None where that is nothing, or there is no such branch."""
    mine = (branches.c.session_id == session_id, branches.c.branch_id == branch_id, branches.c.account_id == account)
    return frozen_of(db.execute(select(branches.c.frozen_json).where(*mine)).scalar_one_or_none())


def frozen_of(text: str | None) -> Frozen | None:
    """What a row of ``branches`` keeps, from its JSON."""
    if text is None:
        return None
    frozen: Frozen = loads(text)
    return frozen


def with_frozen(bindings: Mapping[str, Json], frozen: Frozen | None) -> Mapping[str, Json]:
    """The bindings of a session as they hold on a branch that keeps ``frozen``."""
    return bindings if frozen is None or not bindings.get("deep_binding") else {**bindings, **frozen}


def _made_of(db: Connection, account: str, floor_id: str) -> Mapping[str, Json] | None:
    """The snapshot of the prompt that the floor's answer was given to; None where none is kept that names assets."""
    answered = (pages.c.floor_id == floor_id, pages.c.page_kind == "output", pages.c.is_active)
    query = (
        select(page_results.c.explain_json)
        .join(pages, pages.c.id == page_results.c.page_id)
        .where(*answered, page_results.c.account_id == account)
        .order_by(pages.c.page_no.desc())
        .limit(1)
    )
    text = db.execute(query).scalar_one_or_none()
    told = None if text is None else loads(text).get("prompt_snapshot")
    return told if isinstance(told, dict) and "preset_id" in told else None
