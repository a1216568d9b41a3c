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


class NewPassword(TypedDict):
    """A password for an account."""

    password: str
