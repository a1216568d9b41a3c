"""What the server speaks of: accounts, common."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class ClientKey(TypedDict):
    """A client's key, without the key. The one that it took the place of is taken until ``previous_until``.
    ``restrictions`` are None for one that may do all that its account may.
    """

    id: str
    account_id: str
    client_id: str
    name: str | None
    key_prefix: str
    status: Literal["active", "revoked"]
    last_used_at: int | None
    expires_at: int | None
    previous_until: int | None
    created_at: int
    updated_at: int
    restrictions: NotRequired[KeyRestrictions | None]


class Identity(TypedDict):
    """A person as a provider knows them. ``subject`` is null until who has the ``email`` signs in for the first time.
    Times are milliseconds since 1970.
    """

    id: str
    account_id: str
    issuer: str
    subject: str | None
    email: str | None
    created_at: int
    last_used_at: int | None


class KeyItems(TypedDict):
    """An answer that is a list of keys, always whole."""

    items: list[ClientKey]
    next_cursor: NotRequired[None]


class KeyRestrictions(TypedDict):
    """What a key is kept to, as the API shows it (see ``Restrictions``): null says nothing of its kind."""

    pipelines: NotRequired[list[str] | None]
    models: NotRequired[list[str] | None]
    routes: NotRequired[
        list[Literal["chat", "embeddings", "images", "audio", "moderations", "batches", "memory", "page", "administration"]]
        | None
    ]
    addresses: NotRequired[list[str] | None]
    admin: NotRequired[bool]


class PasswordSet(TypedDict):
    """Whose password was set."""

    account_id: str
    signed_out: NotRequired[Literal[True]]
