"""Accounts: to whom things belong. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Options, Repeatable
from agentui.sdk.shapes.accounts.accounts import Account, AccountPatch, NewAccount, NewPassword
from agentui.sdk.shapes.accounts.common import PasswordSet
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.transport import Resource


class AccountsCreateCall(NewAccount, Options, Repeatable):
    """What ``accounts.create`` may be told."""


class AccountsUpdateCall(AccountPatch, Options, Repeatable):
    """What ``accounts.update`` may be told."""


class AccountsDeleteCall(Options, Repeatable):
    """What ``accounts.delete`` may be told."""


class AccountsSetPasswordCall(NewPassword, Options):
    """What ``accounts.set_password`` may be told."""


_LIST = Endpoint[Items[Account]]("GET", "/accounts")
_CREATE = Endpoint[Account]("POST", "/accounts", body="json")
_GET = Endpoint[Account]("GET", "/accounts/{id}")
_UPDATE = Endpoint[Account]("PATCH", "/accounts/{id}", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/accounts/{id}")
_SET_PASSWORD = Endpoint[PasswordSet]("PUT", "/accounts/{id}/password", body="json")


class AccountsResource(Resource):
    """Accounts: to whom things belong."""

    def list(self, **given: Unpack[Options]) -> Items[Account]:
        """List the accounts, the one that was changed last first. ``GET /accounts``"""
        return self._call(_LIST, (), given)

    def create(self, **given: Unpack[AccountsCreateCall]) -> Account:
        """Make an account. ``POST /accounts``"""
        return self._call(_CREATE, (), given)

    def get(self, id: str, **given: Unpack[Options]) -> Account:
        """Read an account. ``GET /accounts/{id}``"""
        return self._call(_GET, (id,), given)

    def update(self, id: str, **given: Unpack[AccountsUpdateCall]) -> Account:
        """Change an account's name, role or status; who is disabled comes in no more. ``PATCH /accounts/{id}``"""
        return self._call(_UPDATE, (id,), given)

    def delete(self, id: str, **given: Unpack[AccountsDeleteCall]) -> Deleted:
        """Remove an account for which nothing is stored any more, with its clients and keys. ``DELETE /accounts/{id}``"""
        return self._call(_DELETE, (id,), given)

    def set_password(self, id: str, **given: Unpack[AccountsSetPasswordCall]) -> PasswordSet:
        """Give an account another password, and sign it out everywhere. ``PUT /accounts/{id}/password``"""
        return self._call(_SET_PASSWORD, (id,), given)


class AsyncAccountsResource(AsyncResource):
    """Accounts: to whom things belong."""

    async def list(self, **given: Unpack[Options]) -> Items[Account]:
        """List the accounts, the one that was changed last first. ``GET /accounts``"""
        return await self._call(_LIST, (), given)

    async def create(self, **given: Unpack[AccountsCreateCall]) -> Account:
        """Make an account. ``POST /accounts``"""
        return await self._call(_CREATE, (), given)

    async def get(self, id: str, **given: Unpack[Options]) -> Account:
        """Read an account. ``GET /accounts/{id}``"""
        return await self._call(_GET, (id,), given)

    async def update(self, id: str, **given: Unpack[AccountsUpdateCall]) -> Account:
        """Change an account's name, role or status; who is disabled comes in no more. ``PATCH /accounts/{id}``"""
        return await self._call(_UPDATE, (id,), given)

    async def delete(self, id: str, **given: Unpack[AccountsDeleteCall]) -> Deleted:
        """Remove an account for which nothing is stored any more, with its clients and keys. ``DELETE /accounts/{id}``"""
        return await self._call(_DELETE, (id,), given)

    async def set_password(self, id: str, **given: Unpack[AccountsSetPasswordCall]) -> PasswordSet:
        """Give an account another password, and sign it out everywhere. ``PUT /accounts/{id}/password``"""
        return await self._call(_SET_PASSWORD, (id,), given)
