"""``SingleSignOn``: people sign in at an identity provider, and are who it says, where an account is linked to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from agentui.accounts.challenges import SIGN_IN, Challenge, Challenges, spend_challenge
from agentui.accounts.codes import failure
from agentui.accounts.identities import Identity, link_identity, use_identity
from agentui.accounts.provider import Person, Provider
from agentui.accounts.sign_in import Begun, Proven
from agentui.accounts.stored import change_account, create_account, find_account
from agentui.jsonio import Json

NAME: Final = "oidc"


@dataclass(frozen=True, slots=True)
class Admits:
    """Whom a provider may let in. ``creates`` says that who comes for the first time gets an account; who is in none of
    ``groups``, or has no verified address in one of ``domains``, is not let in, where any are named. Where ``admins`` are, they
    alone are admins."""

    creates: bool = False
    domains: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()


@dataclass
class SingleSignOn:
    """By an identity provider."""

    provider: Provider
    challenges: Challenges
    admits: Admits
    name: str = NAME

    async def begin(self) -> Begun:
        """The address at which somebody signs in. Raises 502 ``sign_in_provider_failed``."""
        return await self._begun(SIGN_IN)

    async def finish(self, said: Mapping[str, Json], kept: str | None) -> Proven:
        """The account of who has signed in at the provider. Raises as ``Provider.person`` does, and 403
        ``sign_in_not_allowed`` for who is known there and has no account here, or may not have one."""
        challenge = self.challenges.read(self.name, SIGN_IN, kept)
        person = await self._let_in(challenge, said)

        def account(db: Connection, now: int) -> str | None:
            spend_challenge(db, challenge, now)
            return self._account(db, person, now)

        return Proven(account)

    async def begin_linking(self, account: str) -> Begun:
        """The same, to link an account to who signs in there."""
        return await self._begun(_links_to(account))

    async def finish_linking(self, account: str, said: Mapping[str, Json], kept: str | None) -> "Met":
        """Who has signed in there to be linked to an account. Raises as ``finish`` does."""
        challenge = self.challenges.read(self.name, _links_to(account), kept)
        return Met(challenge, self.provider.issuer, await self._let_in(challenge, said))

    async def _begun(self, purpose: str) -> Begun:
        address, kept = await self.provider.begin(self.name, purpose)
        return Begun({"url": address}, kept)

    async def _let_in(self, challenge: Challenge, said: Mapping[str, Json]) -> Person:
        """Who has signed in, where the operator lets them. They are asked each time: who leaves a group is out."""
        person, admits = await self.provider.person(challenge, said), self.admits
        if admits.groups and not admits.groups & person.groups:
            raise failure("sign_in_not_allowed", "You are in none of the groups that this server lets in.")
        domain = (person.verified or "").rpartition("@")[2].lower()
        if admits.domains and domain not in admits.domains:
            raise failure("sign_in_not_allowed", "This server lets in other addresses than yours, or yours is not verified.")
        return person

    def _account(self, db: Connection, person: Person, now: int) -> str:
        """The account that is linked to a person, or is made for them."""
        issuer, admits = self.provider.issuer, self.admits
        id = use_identity(db, issuer, person.subject, person.email, person.verified, now)
        if id is None:
            if not admits.creates:
                raise failure("sign_in_not_allowed", "No account here is linked to you: ask an admin for one.")
            id = create_account(db, None, person.name or person.email or "New", "user", now).id
            link_identity(db, id, issuer, person.subject, person.email, now)
        if admits.admins:
            role = "admin" if admits.admins & person.groups else "user"
            account = find_account(db, id)
            # The default account's role is no provider's to take away.
            if account.role != role and not account.is_default:
                change_account(db, id, {"role": role}, now)
        return id


@dataclass(frozen=True, slots=True)
class Met:
    """Who has signed in at a provider to be linked to an account, and what it was begun with."""

    challenge: Challenge
    issuer: str
    person: Person


def keep_link(db: Connection, account: str, met: Met, now: int) -> Identity:
    """Link an account to a person, once. A transaction. Raises 409 as ``spend_challenge`` and ``link_identity`` do."""
    spend_challenge(db, met.challenge, now)
    return link_identity(db, account, met.issuer, met.person.subject, met.person.email, now)


def _links_to(account: str) -> str:
    return f"link to {account}"
