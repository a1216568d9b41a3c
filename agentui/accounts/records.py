"""Accounts, clients and their keys as the API shows them. Times are milliseconds since 1970."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT, Principal, Restrictions, Role, RouteFamily

Status: TypeAlias = Literal["active", "disabled"]
KeyStatus: TypeAlias = Literal["active", "revoked"]
ClientKind: TypeAlias = Literal["basic", "advanced", "deriver", "worker", "custom"]


@dataclass(frozen=True, slots=True)
class Account:
    """To whom what is stored belongs. ``may_edit`` is the right to change pipelines and presets."""

    id: str
    name: str
    role: Role
    status: Status
    is_default: bool
    may_edit: bool
    created_at: int
    updated_at: int

    def principal(
        self,
        client: str | None = None,
        key: str | None = None,
        proof: str | None = None,
        restrictions: Restrictions | None = None,
    ) -> Principal:
        """Who asks in the name of this account, by a key with these restrictions where it is by one."""
        role, may_edit = self.role, self.may_edit or self.role == "admin"
        if restrictions is not None:
            role = role if restrictions.admin else "user"
            may_edit = may_edit and restrictions.may_edit
        return Principal(self.id, role, may_edit=may_edit, client=client, key=key, proof=proof, restrictions=restrictions)


@dataclass(frozen=True, slots=True)
class Client:
    """A program by which an account comes in."""

    id: str
    account_id: str
    name: str
    kind: ClientKind
    status: Status
    is_default: bool
    metadata: Mapping[str, Json]
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class KeyRestrictions:
    """What a key is kept to, as the API shows it (see ``Restrictions``): null says nothing of its kind."""

    pipelines: Sequence[str] | None = None
    models: Sequence[str] | None = None
    routes: Sequence[RouteFamily] | None = None
    addresses: Sequence[str] | None = None
    admin: bool = True


@dataclass(frozen=True, slots=True)
class ClientKey:
    """A client's key, without the key. The one that it took the place of is taken until ``previous_until``. ``restrictions``
    are None for one that may do all that its account may."""

    id: str
    account_id: str
    client_id: str
    name: str | None
    key_prefix: str
    status: KeyStatus
    last_used_at: int | None
    expires_at: int | None
    previous_until: int | None
    created_at: int
    updated_at: int
    restrictions: KeyRestrictions | None = None


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key that was made just now, and the secret, which is shown this once."""

    item: ClientKey
    secret: str


@dataclass(frozen=True, slots=True)
class ClientPage:
    """The rows of a list from a place on, and where it goes on."""

    items: list[Client]
    next_cursor: str | None


def default_client_id(account: str) -> str:
    """The id of an account's default client."""
    return f"cli_default_{account}"


def is_default_account(id: str) -> bool:
    """Whether this is the account that is always there."""
    return id == DEFAULT_ACCOUNT
