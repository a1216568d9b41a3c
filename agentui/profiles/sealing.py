"""``KeySeal``: the keys of profiles as they are stored.

A sealed key holds the profile and the origin that it is for: a row that somebody changed in the database sends no key
elsewhere.
"""

from agentui.chats.codes import failure
from agentui.errors import AgentUIError
from agentui.jsonio import InvalidJson, dumps, loads
from agentui.profiles.providers import bound_origin
from agentui.profiles.records import Profile
from agentui.secrets.store import Secret, SecretStore

PURPOSE = "llm-profile-keys"
"""What the key that seals them is derived for."""


class KeySeal:
    """Seals the keys of profiles with a key that comes from the secret store's own."""

    def __init__(self, secrets: SecretStore) -> None:
        self._secrets = secrets

    def seal(self, profile_id: str, origin: str, key: str) -> str:
        """A key, to be kept. Raises 503 ``secret_unavailable`` where the store has no usable key of its own."""
        try:
            return self._secrets.seal(PURPOSE, dumps({"profile": profile_id, "origin": origin, "key": key}))
        except AgentUIError as error:
            raise failure("secret_unavailable", f"Keys cannot be kept now. {error.message}") from error

    def open(self, profile: Profile) -> Secret:
        """A profile's key, bound to its origin. Raises 503 ``secret_unavailable`` where the store's key is not there, 500
        ``secret_invalid_format`` where the sealed key is damaged, was sealed with another, or for another address."""
        try:
            data = self._secrets.unseal(PURPOSE, profile.sealed_key)
        except AgentUIError as error:
            raise failure("secret_unavailable", f"The keys of profiles cannot be opened now. {error.message}") from error
        origin = bound_origin(profile.provider, profile.base_url)
        try:
            match None if data is None else loads(data):
                case {"profile": profile.id, "origin": str(bound), "key": str(key)} if bound == origin:
                    return Secret(secret_name(profile.id), key, frozenset({origin}))
        except InvalidJson:
            pass
        raise failure(
            "secret_invalid_format",
            f"The key of the profile {profile.preset_name!r} cannot be opened: it is damaged, or was sealed with another key "
            "or for another address. Give it again.",
            profile_id=profile.id,
        )


def secret_name(profile_id: str) -> str:
    """What a run calls the key of a profile. With its dot it is no name that the secret store takes."""
    return f"llm.{profile_id}"
