"""The rows of LLM profiles, their bindings and instance configs. Every function is a transaction, or part of one."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from agentui.chats.codes import failure
from agentui.chats.rows import find_session
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.profiles.providers import bound_origin
from agentui.profiles.records import GLOBAL, Binding, InstanceConfig, Place, Profile, ProfileStatus, Slot, masked
from agentui.store.tables import assets, llm_bindings, llm_instances, llm_profiles, sessions

MAX_PROFILES: Final = 500
"""Most profiles of one account, deleted ones not counted."""
USE_NOTED_MS: Final = 60_000
"""How often it is written at most that a profile is used."""

Seal = Callable[[str, str], str]
"""Seals a key for the profile of an id and for an origin."""


def create_profile(db: Connection, account: str, fields: Mapping[str, Any], key: str, seal: Seal, now: int) -> Profile:
    """Make a profile with its key. Raises 409 ``profile_conflict`` and as ``seal`` and ``bound_origin`` do."""
    own = and_(llm_profiles.c.account_id == account, llm_profiles.c.status != "deleted")
    if db.execute(select(func.count()).where(own)).scalar_one() >= MAX_PROFILES:
        raise failure("profile_conflict", f"There are {MAX_PROFILES} LLM profiles already: delete one first.")
    id = new_short_id()
    sealed = seal(id, bound_origin(fields["provider"], fields["base_url"]))
    values = {"id": id, "account_id": account, "status": "active", "created_at": now, "updated_at": now, **fields}
    _write(db, insert(llm_profiles).values(**values, sealed_key=sealed, api_key_masked=masked(key)), fields["preset_name"])
    return find_profile(db, account, id)


def find_profile(db: Connection, account: str, id: str) -> Profile:
    """A profile, also a deleted one. Raises 404 ``profile_not_found``."""
    row = db.execute(select(llm_profiles).where(llm_profiles.c.account_id == account, llm_profiles.c.id == id)).first()
    if row is None:
        raise failure("profile_not_found", "There is no such LLM profile.")
    return profile_of(row)


def list_profiles(db: Connection, account: str, status: ProfileStatus | None, *, include_deleted: bool) -> list[Profile]:
    """Every profile, the one that was changed last first: of one status, else all but deleted ones."""
    query = select(llm_profiles).where(llm_profiles.c.account_id == account)
    if status is not None:
        query = query.where(llm_profiles.c.status == status)
    elif not include_deleted:
        query = query.where(llm_profiles.c.status != "deleted")
    rows = db.execute(query.order_by(llm_profiles.c.updated_at.desc(), llm_profiles.c.id.desc()))
    return [profile_of(row) for row in rows]


def change_profile(
    db: Connection, account: str, id: str, fields: Mapping[str, Any], key: str | None, seal: Seal | None, now: int
) -> Profile:
    """Change a profile. A key goes where it was given for: with another origin it has to be given again, which ``seal`` seals.
    Raises 404, 409 ``profile_inactive`` for a deleted one, 409 ``profile_conflict``, 400 ``validation_error``."""
    before = find_profile(db, account, id)
    if before.status == "deleted":
        raise failure("profile_inactive", "The LLM profile is deleted.")
    values = {**fields, "updated_at": now}
    provider = fields.get("provider", before.provider)
    base_url = fields.get("base_url", before.base_url)
    origin = bound_origin(provider, base_url)
    if seal is not None and key is not None:
        values |= {"sealed_key": seal(id, origin), "api_key_masked": masked(key)}
    elif origin != bound_origin(before.provider, before.base_url):
        raise failure(
            "validation_error",
            f"api_key: the stored key was given for {bound_origin(before.provider, before.base_url)}, and is not sent to "
            f"{origin}. Give the key for the new address with it.",
            field="api_key",
        )
    _write(db, update(llm_profiles).where(llm_profiles.c.id == id).values(values), str(fields.get("preset_name", "")))
    return find_profile(db, account, id)


def delete_profile(db: Connection, account: str, id: str, now: int) -> None:
    """Delete a profile: its row stays, its key goes. Doing it again changes nothing. Raises 404, 409 ``profile_in_use``."""
    before = find_profile(db, account, id)
    if before.status == "deleted":
        return
    if db.execute(select(exists().where(llm_bindings.c.profile_id == id))).scalar():
        raise failure("profile_in_use", "The LLM profile is bound to a slot: unbind it, or bind another one there, first.")
    gone = {"status": "deleted", "sealed_key": "", "updated_at": now}
    db.execute(update(llm_profiles).where(llm_profiles.c.id == id).values(gone))


def note_use(db: Connection, account: str, id: str, now: int) -> None:
    """Remember that a profile was used, at most once a minute."""
    is_due = or_(llm_profiles.c.last_used_at.is_(None), llm_profiles.c.last_used_at <= now - USE_NOTED_MS)
    own = and_(llm_profiles.c.account_id == account, llm_profiles.c.id == id, is_due)
    db.execute(update(llm_profiles).where(own).values(last_used_at=now))


def bind(
    db: Connection, account: str, id: str, place: Place, slot: Slot, params: Mapping[str, Json] | None, now: int, *, keeps: bool
) -> Binding:
    """Let a profile serve a slot in a place, in which another one may have served it. With ``keeps`` the parameters of the
    binding there was stay. Raises 404 ``profile_not_found``, 404 ``session_scope_not_found``, 409 ``profile_inactive``."""
    profile = find_profile(db, account, id)
    check_place(db, account, place, hold=True)
    if profile.status != "active":
        raise failure("profile_inactive", f"The LLM profile is {profile.status}: only active ones are bound.")
    where = _binding(account, place, slot)
    row = db.execute(select(llm_bindings.c.params_json).where(where).with_for_update()).first()
    if keeps:
        params = None if row is None else _params(row.params_json)
    values = {"profile_id": id, "params_json": _text(params), "updated_at": now}
    if row is not None:
        db.execute(update(llm_bindings).where(where).values(values))
    else:
        own = {"account_id": account, "scope": place.scope, "scope_id": place.scope_id, "instance_slot": slot}
        db.execute(insert(llm_bindings).values({**own, **values}))
    return Binding(place, slot, profile, params)


def unbind(db: Connection, account: str, place: Place, slot: Slot) -> None:
    """Let a slot have no profile in a place. Raises 404 ``session_scope_not_found``, 404 ``binding_not_found``."""
    check_place(db, account, place, hold=True)
    if db.execute(delete(llm_bindings).where(_binding(account, place, slot))).rowcount == 0:
        raise failure("binding_not_found", f"No LLM profile is bound to the slot {slot} there.")


def has_any(account: ColumnElement[str], session: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether bindings or instance configs may count in a session: in most none do, and a turn pays for one look."""
    found = [
        exists().where(table.c.account_id == account, _in_places(table.c, session)) for table in (llm_bindings, llm_instances)
    ]
    return or_(*found)


def list_bindings(db: Connection, account: str, session: str | None) -> list[Binding]:
    """Every binding that may count in a session, and everywhere; profiles may be disabled."""
    query = (
        select(
            llm_bindings.c.scope,
            llm_bindings.c.scope_id,
            llm_bindings.c.instance_slot,
            llm_bindings.c.params_json,
            llm_profiles,
        )
        .join(llm_profiles, llm_profiles.c.id == llm_bindings.c.profile_id)
        .where(llm_bindings.c.account_id == account, llm_profiles.c.account_id == account)
        .where(_in_places(llm_bindings.c, session))
    )
    return [
        Binding(Place(row.scope, row.scope_id), row.instance_slot, profile_of(row), _params(row.params_json))
        for row in db.execute(query)
    ]


def list_configs(
    db: Connection, account: str, place: Place | None = None, session: str | None = None, slot: Slot | None = None
) -> list[InstanceConfig]:
    """Instance configs by scope and slot: of one place, else those that may count in a session, and everywhere."""
    query = select(llm_instances).where(llm_instances.c.account_id == account)
    if place is not None:
        query = query.where(llm_instances.c.scope == place.scope, llm_instances.c.scope_id == place.scope_id)
    else:
        query = query.where(_in_places(llm_instances.c, session))
    if slot is not None:
        query = query.where(llm_instances.c.instance_slot == slot)
    rows = db.execute(query.order_by(llm_instances.c.scope, llm_instances.c.instance_slot))
    return [_config_of(row) for row in rows]


def put_config(db: Connection, account: str, place: Place, slot: Slot, fields: Mapping[str, Any], now: int) -> InstanceConfig:
    """Say what a slot is to do in a place; of ``preset_id`` and ``params`` what is not given stays. Raises 404
    ``session_scope_not_found`` and ``preset_not_found``."""
    check_place(db, account, place, hold=True)
    preset_id = fields.get("preset_id")
    if preset_id is not None and not has_preset(db, account, preset_id):
        raise failure("preset_not_found", "There is no such prompt preset.", preset_id=preset_id)
    values: dict[str, Any] = {name: value for name, value in fields.items() if name != "params"}
    if "params" in fields:
        values["params_json"] = _text(fields["params"])
    where = _config(account, place, slot)
    row = db.execute(select(llm_instances.c.id).where(where).with_for_update()).first()
    if row is not None:
        db.execute(update(llm_instances).where(where).values({**values, "updated_at": now}))
    else:
        own = {"id": new_short_id(), "account_id": account, "scope": place.scope, "scope_id": place.scope_id}
        times = {"created_at": now, "updated_at": now}
        db.execute(insert(llm_instances).values({**own, "instance_slot": slot, **times, **values}))
    return _config_of(db.execute(select(llm_instances).where(where)).one())


def delete_config(db: Connection, account: str, place: Place, slot: Slot) -> None:
    """Forget what a slot is to do in a place. Raises 404 ``session_scope_not_found``, 404 ``config_not_found``."""
    check_place(db, account, place, hold=True)
    if db.execute(delete(llm_instances).where(_config(account, place, slot))).rowcount == 0:
        raise failure("config_not_found", f"The slot {slot} has no instance config there.")


def check_place(db: Connection, account: str, place: Place, *, hold: bool = False) -> None:
    """Raise 404 ``session_scope_not_found`` for a session that is not there. ``hold``: one that is stays until the transaction
    ends, so that nothing is bound in what is being removed."""
    if place.scope == "session":
        find_session(db, account, place.scope_id, code="session_scope_not_found", hold=hold)


def has_session(db: Connection, account: str, session: str) -> bool:
    """Whether the account has a session of this id."""
    own = and_(sessions.c.account_id == account, sessions.c.id == session)
    return bool(db.execute(select(exists().where(own))).scalar())


def has_preset(db: Connection, account: str, id: str) -> bool:
    """Whether the account has a prompt preset that is not deleted."""
    own = and_(assets.c.account_id == account, assets.c.id == id, assets.c.kind == "preset", assets.c.status != "deleted")
    return bool(db.execute(select(exists().where(own))).scalar())


def profile_of(row: Row[Any]) -> Profile:
    """A profile as its row says it."""
    return Profile(
        id=row.id,
        preset_name=row.preset_name,
        provider=row.provider,
        model_id=row.model_id,
        base_url=row.base_url,
        api_key_name=row.api_key_name,
        api_key_masked=row.api_key_masked,
        status=row.status,
        last_used_at=row.last_used_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
        sealed_key=row.sealed_key,
    )


def _config_of(row: Row[Any]) -> InstanceConfig:
    return InstanceConfig(
        id=row.id,
        scope=row.scope,
        scope_id=row.scope_id,
        instance_slot=row.instance_slot,
        preset_id=row.preset_id,
        enabled=bool(row.enabled),
        params=_params(row.params_json),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _write(db: Connection, statement: Any, name: str) -> None:
    try:
        with db.begin_nested():
            db.execute(statement)
    except IntegrityError as error:
        raise failure("profile_conflict", f"There is an LLM profile named {name!r} already.", preset_name=name) from error


def _in_places(columns: Any, session: Any) -> Any:
    """What is everywhere, or in a session; whole places, so that an index leads there."""
    everywhere = and_(columns.scope == "global", columns.scope_id == GLOBAL)
    return everywhere if session is None else or_(everywhere, and_(columns.scope == "session", columns.scope_id == session))


def _binding(account: str, place: Place, slot: Slot) -> Any:
    return _at(llm_bindings.c, account, place, slot)


def _config(account: str, place: Place, slot: Slot) -> Any:
    return _at(llm_instances.c, account, place, slot)


def _at(columns: Any, account: str, place: Place, slot: Slot) -> Any:
    in_place = and_(columns.scope == place.scope, columns.scope_id == place.scope_id)
    return and_(columns.account_id == account, in_place, columns.instance_slot == slot)


def _text(params: Mapping[str, Json] | None) -> str | None:
    return None if params is None else dumps_text(params)


def _params(text: str | None) -> Mapping[str, Json] | None:
    return None if text is None else cast(dict[str, Json], loads(text))
