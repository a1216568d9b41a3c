"""What the server speaks of: accounts, accounts."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class Account(TypedDict):
    """To whom what is stored belongs. ``may_edit`` is the right to change pipelines and presets."""

    id: str
    name: str
    role: Literal["admin", "user"]
    status: Literal["active", "disabled"]
    is_default: bool
    may_edit: bool
    created_at: int
    updated_at: int


class AccountPatch(TypedDict):
    """What to change of an account."""

    name: NotRequired[str]
    role: NotRequired[Literal["admin", "user"]]
    status: NotRequired[Literal["active", "disabled"]]
    may_edit: NotRequired[bool]
    """Whether a user may change pipelines and presets; admins always may."""


class NewAccount(TypedDict):
    """An account to make; without an ``id`` it gets one."""

    id: NotRequired[str | None]
    name: str
    role: NotRequired[Literal["admin", "user"]]
    may_edit: NotRequired[bool]
    """Whether a user may change pipelines and presets; admins always may."""


class NewIdentity(TypedDict):
    """Whom an account is to be linked to: a person by the provider's id of them, or whoever has a verified address
    first.
    """

    subject: NotRequired[str | None]
    email: NotRequired[str | None]


class NewPassword(TypedDict):
    """A password for an account; ``only`` takes its passkeys and linked sign-ons away, too."""

    password: str
    only: NotRequired[bool]
    """Whether passkeys and linked sign-ons of the account are removed as well."""


class Purge(TypedDict):
    """The removal of an account. ``counted`` are its rows when it was asked for, ``removed`` those that are gone."""

    id: str
    account_id: str
    status: Literal["waiting", "running", "done", "cancelled"]
    begins_at: int
    counted: int
    removed: int
    created_at: int
    ended_at: int | None


class PurgeForm(TypedDict):
    """That an account is to be removed with all that it has."""

    confirm: str
    """The account's id once more, so that nobody does this by a slip."""
    delay_seconds: NotRequired[int]
    """When it begins; until then it can be cancelled."""
