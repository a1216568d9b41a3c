"""Who one is, and signing in to the page. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Options
from agentui.sdk.shapes.accounts.auth import Me, PasswordChange, ShownSignIn, SignedOut, SignInForm, Ways
from agentui.sdk.shapes.accounts.common import KeyItems, PasswordSet
from agentui.sdk.transport import Resource


class AuthSignInCall(SignInForm, Options):
    """What ``auth.sign_in`` may be told."""


class AuthSetPasswordCall(PasswordChange, Options):
    """What ``auth.set_password`` may be told."""


_LIST_WAYS = Endpoint[Ways]("GET", "/auth/ways")
_SIGN_IN = Endpoint[Me]("POST", "/auth/sign-in", body="json")
_SIGN_OUT = Endpoint[SignedOut]("POST", "/auth/sign-out")
_GET_ME = Endpoint[Me]("GET", "/auth/me")
_SET_PASSWORD = Endpoint[PasswordSet]("PUT", "/auth/password", body="json")
_LIST_SIGN_INS = Endpoint[Items[ShownSignIn]]("GET", "/auth/sign-ins")
_END_SIGN_IN = Endpoint[SignedOut]("DELETE", "/auth/sign-ins/{id}")
_LIST_KEYS = Endpoint[KeyItems]("GET", "/auth/keys", answer="whole")


class AuthResource(Resource):
    """Who one is, and signing in to the page."""

    def list_ways(self, **given: Unpack[Options]) -> Ways:
        """Say how people get in. ``GET /auth/ways``"""
        return self._call(_LIST_WAYS, (), given)

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


class AsyncAuthResource(AsyncResource):
    """Who one is, and signing in to the page."""

    async def list_ways(self, **given: Unpack[Options]) -> Ways:
        """Say how people get in. ``GET /auth/ways``"""
        return await self._call(_LIST_WAYS, (), given)

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
