"""Accounts: to whom things belong. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.downloads import AsyncDownload, Download
from agentui.sdk.endpoints import Endpoint, Items, Options, Repeatable
from agentui.sdk.shapes.accounts.accounts import Account, AccountPatch, NewAccount, NewIdentity, NewPassword, Purge, PurgeForm
from agentui.sdk.shapes.accounts.common import Identity, PasswordSet
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


class AccountsPurgeCall(PurgeForm, Options, Repeatable):
    """What ``accounts.purge`` may be told."""


class AccountsCancelPurgeCall(Options, Repeatable):
    """What ``accounts.cancel_purge`` may be told."""


class AccountsLinkIdentityCall(NewIdentity, Options):
    """What ``accounts.link_identity`` may be told."""


_LIST = Endpoint[Items[Account]]("GET", "/accounts")
_CREATE = Endpoint[Account]("POST", "/accounts", body="json")
_GET = Endpoint[Account]("GET", "/accounts/{id}")
_UPDATE = Endpoint[Account]("PATCH", "/accounts/{id}", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/accounts/{id}")
_SET_PASSWORD = Endpoint[PasswordSet]("PUT", "/accounts/{id}/password", body="json")
_PURGE = Endpoint[Purge]("POST", "/accounts/{id}/purge", body="json")
_GET_PURGE = Endpoint[Purge]("GET", "/accounts/{id}/purge")
_CANCEL_PURGE = Endpoint[Purge]("DELETE", "/accounts/{id}/purge")
_EXPORT = Endpoint[bytes]("GET", "/accounts/{id}/export")
_LIST_IDENTITIES = Endpoint[Items[Identity]]("GET", "/accounts/{id}/identities")
_LINK_IDENTITY = Endpoint[Identity]("POST", "/accounts/{id}/identities", body="json")
_UNLINK_IDENTITY = Endpoint[Deleted]("DELETE", "/accounts/{id}/identities/{identity}")


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

    def purge(self, id: str, **given: Unpack[AccountsPurgeCall]) -> Purge:
        """Remove an account with all that it has, in the background; until that begins it can be cancelled. ``POST
        /accounts/{id}/purge``
        """
        return self._call(_PURGE, (id,), given)

    def get_purge(self, id: str, **given: Unpack[Options]) -> Purge:
        """Read how far the removal of an account is, also after its end. ``GET /accounts/{id}/purge``"""
        return self._call(_GET_PURGE, (id,), given)

    def cancel_purge(self, id: str, **given: Unpack[AccountsCancelPurgeCall]) -> Purge:
        """Take back the removal of an account, before it begins. ``DELETE /accounts/{id}/purge``"""
        return self._call(_CANCEL_PURGE, (id,), given)

    def export(self, id: str, **given: Unpack[Options]) -> Download:
        """Export all that is kept for an account, as lines of JSON: one's own, or as an admin anybody's. ``GET
        /accounts/{id}/export``
        """
        return self._download(_EXPORT, (id,), given)

    def list_identities(self, id: str, **given: Unpack[Options]) -> Items[Identity]:
        """List the sign-ons that are linked to an account, the oldest first. ``GET /accounts/{id}/identities``"""
        return self._call(_LIST_IDENTITIES, (id,), given)

    def link_identity(self, id: str, **given: Unpack[AccountsLinkIdentityCall]) -> Identity:
        """Link an account to a person of the provider, or to whoever has an address that the provider has verified. ``POST
        /accounts/{id}/identities``
        """
        return self._call(_LINK_IDENTITY, (id,), given)

    def unlink_identity(self, id: str, identity_id: str, **given: Unpack[Options]) -> Deleted:
        """Take a link of an account away, whatever ways in remain. ``DELETE /accounts/{id}/identities/{identity}``"""
        return self._call(_UNLINK_IDENTITY, (id, identity_id), given)


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

    async def purge(self, id: str, **given: Unpack[AccountsPurgeCall]) -> Purge:
        """Remove an account with all that it has, in the background; until that begins it can be cancelled. ``POST
        /accounts/{id}/purge``
        """
        return await self._call(_PURGE, (id,), given)

    async def get_purge(self, id: str, **given: Unpack[Options]) -> Purge:
        """Read how far the removal of an account is, also after its end. ``GET /accounts/{id}/purge``"""
        return await self._call(_GET_PURGE, (id,), given)

    async def cancel_purge(self, id: str, **given: Unpack[AccountsCancelPurgeCall]) -> Purge:
        """Take back the removal of an account, before it begins. ``DELETE /accounts/{id}/purge``"""
        return await self._call(_CANCEL_PURGE, (id,), given)

    def export(self, id: str, **given: Unpack[Options]) -> AsyncDownload:
        """Export all that is kept for an account, as lines of JSON: one's own, or as an admin anybody's. ``GET
        /accounts/{id}/export``
        """
        return self._download(_EXPORT, (id,), given)

    async def list_identities(self, id: str, **given: Unpack[Options]) -> Items[Identity]:
        """List the sign-ons that are linked to an account, the oldest first. ``GET /accounts/{id}/identities``"""
        return await self._call(_LIST_IDENTITIES, (id,), given)

    async def link_identity(self, id: str, **given: Unpack[AccountsLinkIdentityCall]) -> Identity:
        """Link an account to a person of the provider, or to whoever has an address that the provider has verified. ``POST
        /accounts/{id}/identities``
        """
        return await self._call(_LINK_IDENTITY, (id,), given)

    async def unlink_identity(self, id: str, identity_id: str, **given: Unpack[Options]) -> Deleted:
        """Take a link of an account away, whatever ways in remain. ``DELETE /accounts/{id}/identities/{identity}``"""
        return await self._call(_UNLINK_IDENTITY, (id, identity_id), given)
