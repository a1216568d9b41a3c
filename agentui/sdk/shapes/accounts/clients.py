"""What the server speaks of: accounts, clients."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.accounts.common import ClientKey


class Client(TypedDict):
    """A program by which an account comes in."""

    id: str
    account_id: str
    name: str
    kind: Literal["basic", "advanced", "deriver", "worker", "custom"]
    status: Literal["active", "disabled"]
    is_default: bool
    metadata: dict[str, Json]
    created_at: int
    updated_at: int


class ClientForm(TypedDict):
    """A client to make."""

    name: NotRequired[Json]
    kind: NotRequired[Json]
    metadata: NotRequired[Json]


class ClientItem(TypedDict):
    """An answer that is one client."""

    item: Client


class ClientPage(TypedDict):
    """The rows of a list from a place on, and where it goes on."""

    items: list[Client]
    next_cursor: str | None


class ClientPatch(TypedDict):
    """What to change of a client."""

    name: NotRequired[Json]
    kind: NotRequired[Json]
    metadata: NotRequired[Json]


class KeyItem(TypedDict):
    """An answer that is one key."""

    item: ClientKey


class KeyLimit(TypedDict):
    """A budget of a key: so much of a unit in a period. Money is in billionths of a dollar."""

    unit: NotRequired[Literal["money", "tokens", "requests", "calls"]]
    period: NotRequired[Literal["minute", "day", "month", "ever"]]
    amount: int


class KeyPatch(TypedDict):
    """What to change of a key, which stays the same key. ``restrictions`` and ``limits`` take the place of all that
    there were; of a limit that stays what was spent stays spent.
    """

    name: NotRequired[str | None]
    expires_at: NotRequired[Json]
    restrictions: NotRequired[RestrictionsForm | None]
    limits: NotRequired[list[KeyLimit]]


class NewKey(TypedDict):
    """A key to make."""

    name: NotRequired[str | None]
    expires_at: NotRequired[Json]
    restrictions: NotRequired[RestrictionsForm | None]
    limits: NotRequired[list[KeyLimit]]


class RestrictionsForm(TypedDict):
    """What a key is kept to; what is null or left out is open. An admin's key without ``admin`` manages no accounts."""

    pipelines: NotRequired[list[str] | None]
    models: NotRequired[list[str] | None]
    routes: NotRequired[
        list[Literal["chat", "embeddings", "images", "audio", "moderations", "batches", "memory", "page", "administration"]]
        | None
    ]
    addresses: NotRequired[list[str] | None]
    admin: NotRequired[bool]


class Rotation(TypedDict):
    """How a key gets its successor."""

    overlap_seconds: NotRequired[int]
    """How long the old one is taken as well."""


class ShownKey(TypedDict):
    """A key that was made just now, and the secret, which is shown this once."""

    item: ClientKey
    secret: str
