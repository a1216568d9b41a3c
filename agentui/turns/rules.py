"""By which rules the prompt of a chat's turn is made, and what it is made of: what the chat keeps, as the assembly takes it."""

from collections.abc import Mapping

from agentui.chats.policies import StoredPolicies
from agentui.jsonio import Json
from agentui.prompt.policy import Resolution, resolve_policy


def resolved(policies: StoredPolicies, request: Mapping[str, Json] | None = None) -> Resolution:
    """What is kept, with a request's own wishes over it."""
    session, branch = policies.session, policies.branch
    return resolve_policy(session.value if session is not None else None, branch.value if branch is not None else None, request)


def assets_of(bindings: Mapping[str, Json]) -> dict[str, Json]:
    """What a session is bound to, by its optional fields under the API's names. Only a character's name is known here."""
    character = bindings.get("character_binding")
    name = None if character is None else (character.get("snapshot_summary") or {}).get("name")
    return {
        "preset": _asset(bindings.get("preset_id")),
        "character_card": None if character is None else {"id": character.get("character_id"), "name": name},
        "worldbook": _asset(bindings.get("worldbook_profile_id")),
        "regex_profile": _asset(bindings.get("regex_profile_id")),
    }


def _asset(id: str | None) -> Json:
    return None if id is None else {"id": id, "name": None}
