"""Who one is, and signing in to the page. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Options
from agentui.sdk.shapes.accounts.auth import (
    BeginForm,
    BegunSignIn,
    FromProvider,
    Me,
    NewPasskeyForm,
    Passkey,
    PasskeyName,
    PasswordChange,
    ShownSignIn,
    SignedOut,
    SignInForm,
    Ways,
)
from agentui.sdk.shapes.accounts.common import Identity, KeyItems, PasswordSet
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.transport import Resource


class AuthBeginSignInCall(BeginForm, Options):
    """What ``auth.begin_sign_in`` may be told."""


class AuthSignInCall(SignInForm, Options):
    """What ``auth.sign_in`` may be told."""


class AuthSetPasswordCall(PasswordChange, Options):
    """What ``auth.set_password`` may be told."""


class AuthAddPasskeyCall(NewPasskeyForm, Options):
    """What ``auth.add_passkey`` may be told."""


class AuthRenamePasskeyCall(PasskeyName, Options):
    """What ``auth.rename_passkey`` may be told."""


class AuthLinkIdentityCall(FromProvider, Options):
    """What ``auth.link_identity`` may be told."""


_LIST_WAYS = Endpoint[Ways]("GET", "/auth/ways")
_BEGIN_SIGN_IN = Endpoint[BegunSignIn]("POST", "/auth/sign-in/begin", body="json")
_SIGN_IN = Endpoint[Me]("POST", "/auth/sign-in", body="json")
_SIGN_OUT = Endpoint[SignedOut]("POST", "/auth/sign-out")
_GET_ME = Endpoint[Me]("GET", "/auth/me")
_SET_PASSWORD = Endpoint[PasswordSet]("PUT", "/auth/password", body="json")
_LIST_SIGN_INS = Endpoint[Items[ShownSignIn]]("GET", "/auth/sign-ins")
_END_SIGN_IN = Endpoint[SignedOut]("DELETE", "/auth/sign-ins/{id}")
_LIST_KEYS = Endpoint[KeyItems]("GET", "/auth/keys", answer="whole")
_LIST_PASSKEYS = Endpoint[Items[Passkey]]("GET", "/auth/passkeys")
_BEGIN_PASSKEY = Endpoint[BegunSignIn]("POST", "/auth/passkeys/begin")
_ADD_PASSKEY = Endpoint[Passkey]("POST", "/auth/passkeys", body="json")
_RENAME_PASSKEY = Endpoint[Passkey]("PATCH", "/auth/passkeys/{id}", body="json")
_REMOVE_PASSKEY = Endpoint[Deleted]("DELETE", "/auth/passkeys/{id}")
_LIST_IDENTITIES = Endpoint[Items[Identity]]("GET", "/auth/identities")
_BEGIN_IDENTITY = Endpoint[BegunSignIn]("POST", "/auth/identities/begin")
_LINK_IDENTITY = Endpoint[Identity]("POST", "/auth/identities", body="json")
_UNLINK_IDENTITY = Endpoint[Deleted]("DELETE", "/auth/identities/{id}")


class AuthResource(Resource):
    """Who one is, and signing in to the page."""

    def list_ways(self, **given: Unpack[Options]) -> Ways:
        """Say how people get in. ``GET /auth/ways``"""
        return self._call(_LIST_WAYS, (), given)

    def begin_sign_in(self, **given: Unpack[AuthBeginSignInCall]) -> BegunSignIn:
        """Begin to sign in by a passkey, or at the identity provider: what the browser needs for it. ``POST
        /auth/sign-in/begin``
        """
        return self._call(_BEGIN_SIGN_IN, (), given)

    def sign_in(self, **given: Unpack[AuthSignInCall]) -> Me:
        """Sign in: the answer sets a cookie, and what the browser kept before counts no more. ``POST /auth/sign-in``"""
        return self._call(_SIGN_IN, (), given)

    def sign_out(self, **given: Unpack[Options]) -> SignedOut:
        """Sign out of this browser. ``POST /auth/sign-out``"""
        return self._call(_SIGN_OUT, (), given)

    def get_me(self, **given: Unpack[Options]) -> Me:
        """Say who asks, and what that one may do. ``GET /auth/me``"""
        return self._call(_GET_ME, (), given)

    def set_password(self, **given: Unpack[AuthSetPasswordCall]) -> PasswordSet:
        """Give oneself another password. ``PUT /auth/password``"""
        return self._call(_SET_PASSWORD, (), given)

    def list_sign_ins(self, **given: Unpack[Options]) -> Items[ShownSignIn]:
        """List the browsers in which one is signed in, the newest first. ``GET /auth/sign-ins``"""
        return self._call(_LIST_SIGN_INS, (), given)

    def end_sign_in(self, sign_in_id: str, **given: Unpack[Options]) -> SignedOut:
        """Sign out of another browser. ``DELETE /auth/sign-ins/{id}``"""
        return self._call(_END_SIGN_IN, (sign_in_id,), given)

    def list_keys(self, **given: Unpack[Options]) -> KeyItems:
        """List one's own keys, of all clients, the newest first. ``GET /auth/keys``"""
        return self._call(_LIST_KEYS, (), given)

    def list_passkeys(self, **given: Unpack[Options]) -> Items[Passkey]:
        """List one's own passkeys, the oldest first. ``GET /auth/passkeys``"""
        return self._call(_LIST_PASSKEYS, (), given)

    def begin_passkey(self, **given: Unpack[Options]) -> BegunSignIn:
        """Begin to add a passkey: what the browser asks its authenticators with. ``POST /auth/passkeys/begin``"""
        return self._call(_BEGIN_PASSKEY, (), given)

    def add_passkey(self, **given: Unpack[AuthAddPasskeyCall]) -> Passkey:
        """Add the passkey that an authenticator has made. ``POST /auth/passkeys``"""
        return self._call(_ADD_PASSKEY, (), given)

    def rename_passkey(self, passkey_id: str, **given: Unpack[AuthRenamePasskeyCall]) -> Passkey:
        """Call a passkey otherwise. ``PATCH /auth/passkeys/{id}``"""
        return self._call(_RENAME_PASSKEY, (passkey_id,), given)

    def remove_passkey(self, passkey_id: str, **given: Unpack[Options]) -> Deleted:
        """Remove a passkey, unless it is the only way by which the account signs in. ``DELETE /auth/passkeys/{id}``"""
        return self._call(_REMOVE_PASSKEY, (passkey_id,), given)

    def list_identities(self, **given: Unpack[Options]) -> Items[Identity]:
        """List the sign-ons that are linked to one's own account, the oldest first. ``GET /auth/identities``"""
        return self._call(_LIST_IDENTITIES, (), given)

    def begin_identity(self, **given: Unpack[Options]) -> BegunSignIn:
        """Begin to link one's sign-on: the provider's address to go to. ``POST /auth/identities/begin``"""
        return self._call(_BEGIN_IDENTITY, (), given)

    def link_identity(self, **given: Unpack[AuthLinkIdentityCall]) -> Identity:
        """Link the person whom the provider has let in. ``POST /auth/identities``"""
        return self._call(_LINK_IDENTITY, (), given)

    def unlink_identity(self, identity_id: str, **given: Unpack[Options]) -> Deleted:
        """Take a link away, unless it is the only way by which the account signs in. ``DELETE /auth/identities/{id}``"""
        return self._call(_UNLINK_IDENTITY, (identity_id,), given)


class AsyncAuthResource(AsyncResource):
    """Who one is, and signing in to the page."""

    async def list_ways(self, **given: Unpack[Options]) -> Ways:
        """Say how people get in. ``GET /auth/ways``"""
        return await self._call(_LIST_WAYS, (), given)

    async def begin_sign_in(self, **given: Unpack[AuthBeginSignInCall]) -> BegunSignIn:
        """Begin to sign in by a passkey, or at the identity provider: what the browser needs for it. ``POST
        /auth/sign-in/begin``
        """
        return await self._call(_BEGIN_SIGN_IN, (), given)

    async def sign_in(self, **given: Unpack[AuthSignInCall]) -> Me:
        """Sign in: the answer sets a cookie, and what the browser kept before counts no more. ``POST /auth/sign-in``"""
        return await self._call(_SIGN_IN, (), given)

    async def sign_out(self, **given: Unpack[Options]) -> SignedOut:
        """Sign out of this browser. ``POST /auth/sign-out``"""
        return await self._call(_SIGN_OUT, (), given)

    async def get_me(self, **given: Unpack[Options]) -> Me:
        """Say who asks, and what that one may do. ``GET /auth/me``"""
        return await self._call(_GET_ME, (), given)

    async def set_password(self, **given: Unpack[AuthSetPasswordCall]) -> PasswordSet:
        """Give oneself another password. ``PUT /auth/password``"""
        return await self._call(_SET_PASSWORD, (), given)

    async def list_sign_ins(self, **given: Unpack[Options]) -> Items[ShownSignIn]:
        """List the browsers in which one is signed in, the newest first. ``GET /auth/sign-ins``"""
        return await self._call(_LIST_SIGN_INS, (), given)

    async def end_sign_in(self, sign_in_id: str, **given: Unpack[Options]) -> SignedOut:
        """Sign out of another browser. ``DELETE /auth/sign-ins/{id}``"""
        return await self._call(_END_SIGN_IN, (sign_in_id,), given)

    async def list_keys(self, **given: Unpack[Options]) -> KeyItems:
        """List one's own keys, of all clients, the newest first. ``GET /auth/keys``"""
        return await self._call(_LIST_KEYS, (), given)

    async def list_passkeys(self, **given: Unpack[Options]) -> Items[Passkey]:
        """List one's own passkeys, the oldest first. ``GET /auth/passkeys``"""
        return await self._call(_LIST_PASSKEYS, (), given)

    async def begin_passkey(self, **given: Unpack[Options]) -> BegunSignIn:
        """Begin to add a passkey: what the browser asks its authenticators with. ``POST /auth/passkeys/begin``"""
        return await self._call(_BEGIN_PASSKEY, (), given)

    async def add_passkey(self, **given: Unpack[AuthAddPasskeyCall]) -> Passkey:
        """Add the passkey that an authenticator has made. ``POST /auth/passkeys``"""
        return await self._call(_ADD_PASSKEY, (), given)

    async def rename_passkey(self, passkey_id: str, **given: Unpack[AuthRenamePasskeyCall]) -> Passkey:
        """Call a passkey otherwise. ``PATCH /auth/passkeys/{id}``"""
        return await self._call(_RENAME_PASSKEY, (passkey_id,), given)

    async def remove_passkey(self, passkey_id: str, **given: Unpack[Options]) -> Deleted:
        """Remove a passkey, unless it is the only way by which the account signs in. ``DELETE /auth/passkeys/{id}``"""
        return await self._call(_REMOVE_PASSKEY, (passkey_id,), given)

    async def list_identities(self, **given: Unpack[Options]) -> Items[Identity]:
        """List the sign-ons that are linked to one's own account, the oldest first. ``GET /auth/identities``"""
        return await self._call(_LIST_IDENTITIES, (), given)

    async def begin_identity(self, **given: Unpack[Options]) -> BegunSignIn:
        """Begin to link one's sign-on: the provider's address to go to. ``POST /auth/identities/begin``"""
        return await self._call(_BEGIN_IDENTITY, (), given)

    async def link_identity(self, **given: Unpack[AuthLinkIdentityCall]) -> Identity:
        """Link the person whom the provider has let in. ``POST /auth/identities``"""
        return await self._call(_LINK_IDENTITY, (), given)

    async def unlink_identity(self, identity_id: str, **given: Unpack[Options]) -> Deleted:
        """Take a link away, unless it is the only way by which the account signs in. ``DELETE /auth/identities/{id}``"""
        return await self._call(_UNLINK_IDENTITY, (identity_id,), given)
