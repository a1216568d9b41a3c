"""What the server speaks of: accounts, auth."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class Me(TypedDict):
    """Who asks, and what that one may do. ``name`` is null where nobody signs in, or did yet."""

    account_id: str
    name: str | None
    role: Literal["admin", "user"]
    may_edit: bool
    client_id: str | None
    key_id: str | None


class PasswordChange(TypedDict):
    """Another password of one's own; the present one is asked for where there is one."""

    password: str
    current_password: NotRequired[str | None]


class ShownSignIn(TypedDict):
    """A browser in which somebody is signed in; ``is_this`` says that it is the one that asks."""

    id: str
    method: str
    device: str
    is_this: bool
    created_at: int
    last_used_at: int
    expires_at: int


class SignInForm(TypedDict):
    """Who signs in, and how it is proved."""

    way: NotRequired[str]
    account: NotRequired[str | None]
    password: NotRequired[str | None]


class SignedOut(TypedDict):
    """It is done."""

    signed_out: NotRequired[Literal[True]]


class Ways(TypedDict):
    """How people get in. ``ways`` are those to sign in to the page; where there is none nobody has to, or a token is
    asked for.
    """

    auth_mode: Literal["off", "api_key", "jwt"]
    account_mode: Literal["single", "multi"]
    ways: list[str]
