"""What the server speaks of: accounts, auth."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class BeginForm(TypedDict):
    """How somebody is going to sign in."""

    way: str


class BegunSignIn(TypedDict):
    """How it goes on: ``options`` are for the browser's authenticators, ``url`` is the provider's address to go to."""

    way: str
    options: NotRequired[dict[str, Json] | None]
    url: NotRequired[str | None]


class FromProvider(TypedDict):
    """What an identity provider has sent the browser back with, in the query of its address."""

    state: str
    code: NotRequired[str | None]
    iss: NotRequired[str | None]
    error: NotRequired[str | None]


class Me(TypedDict):
    """Who asks, and what that one may do. ``name`` is null where nobody signs in, or did yet."""

    account_id: str
    name: str | None
    role: Literal["admin", "user"]
    may_edit: bool
    client_id: str | None
    key_id: str | None


class NewPasskeyForm(TypedDict):
    """A passkey that an authenticator has made, and what people call it."""

    name: str
    credential: dict[str, Json]
    """The browser's PublicKeyCredential as JSON (WebAuthn 3, 5.1), bytes in base64url."""


class Passkey(TypedDict):
    """A passkey as people see it. ``is_backed_up`` says that it is kept beyond one device; times are in milliseconds."""

    id: str
    name: str
    is_backed_up: bool
    created_at: int
    last_used_at: int | None


class PasskeyName(TypedDict):
    """What people call a passkey."""

    name: str


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
    """Who signs in, and how it is proved: an account and its password, a passkey's answer, or what an identity
    provider has sent the browser back with.
    """

    way: NotRequired[str]
    account: NotRequired[str | None]
    password: NotRequired[str | None]
    credential: NotRequired[dict[str, Json] | None]
    state: NotRequired[str | None]
    code: NotRequired[str | None]
    iss: NotRequired[str | None]
    error: NotRequired[str | None]


class SignedOut(TypedDict):
    """It is done. ``provider_url`` is where the browser signs out of the identity provider, where it came in by one
    and the operator wants that.
    """

    signed_out: NotRequired[Literal[True]]
    provider_url: NotRequired[str | None]


class Ways(TypedDict):
    """How people get in. ``ways`` are those to sign in to the page; where there is none nobody has to, or a token is
    asked for. ``provider_name`` is what the operator calls the identity provider, and ``public_url`` where the page
    is at home.
    """

    auth_mode: Literal["off", "api_key", "jwt"]
    account_mode: Literal["single", "multi"]
    ways: list[str]
    provider_name: str | None
    public_url: str | None
