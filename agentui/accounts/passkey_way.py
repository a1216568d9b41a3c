"""``PasskeyWay``: people sign in by a passkey, and add one (WebAuthn Level 3).

A passkey says itself whose it is, so nobody types a name; its authenticator asks for a finger, a face or a PIN (user
verification), so that who finds a device has not found the way in. It answers for one address only: that which the operator has
named as this server's own.

The only import of webauthn, which waits for the first passkey: with what it brings it takes 20 MB.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import error as StructError
from typing import Any, Final
from urllib.parse import urlsplit

from sqlalchemy import Connection

from agentui.accounts.challenges import SIGN_IN, Challenge, Challenges, spend_challenge
from agentui.accounts.codes import failure, wrong
from agentui.accounts.passkeys import (
    KnownPasskey,
    NewPasskey,
    Passkey,
    add_passkey,
    find_credential,
    handle_and_credentials,
    use_passkey,
)
from agentui.accounts.sign_in import Begun, Proven
from agentui.jsonio import Json, dumps, loads
from agentui.store.base import Store
from agentui.threads import in_thread

LONGEST: Final = 32 * 1024
"""Bytes of an answer of an authenticator as JSON; the longest ids and keys take less than a quarter of that."""
LONGEST_ID: Final = 1400
"""Characters of a credential's id in base64url: 1023 bytes (WebAuthn 3, 4)."""
_ID: Final = re.compile(f"[A-Za-z0-9_=-]{{1,{LONGEST_ID}}}")
TIMEOUT_MS: Final = 300_000
"""How long a browser waits for a finger (WebAuthn 3, 15.1: five minutes where users are verified)."""


@dataclass
class PasskeyWay:
    """By a passkey. ``origin`` is the server's public address; authenticators bind what they sign to it, and to the name of its
    host."""

    store: Store
    challenges: Challenges
    origin: str
    name: str = "passkey"

    @property
    def host(self) -> str:
        """What authenticators know the server by (relying party identifier)."""
        return urlsplit(self.origin).hostname or ""

    async def begin(self) -> Begun:
        """What the browser asks its authenticators with, to sign in. No passkey is named: each says whose it is."""
        # In a thread, for what it imports the first time takes 90 ms.
        return await in_thread(self._sign_in_begun)

    def _sign_in_begun(self) -> Begun:
        from webauthn import generate_authentication_options
        from webauthn.helpers.structs import UserVerificationRequirement

        options = generate_authentication_options(
            rp_id=self.host, timeout=TIMEOUT_MS, user_verification=UserVerificationRequirement.REQUIRED
        )
        return self._begun(options, SIGN_IN)

    async def finish(self, said: Mapping[str, Json], kept: str | None) -> Proven:
        """The account whose passkey has signed the challenge. Raises 401 ``sign_in_failed`` and 409 ``sign_in_expired``, both
        as ``Wrong``."""
        challenge = self.challenges.read(self.name, SIGN_IN, kept)
        credential: Json = said.get("credential")
        if not _is_small(credential):
            raise passkey_failed()
        known = await self.store.read(find_credential, credential["id"])
        if known is None or _handle_of(credential) != known.user_handle:
            raise passkey_failed()
        checked = await in_thread(lambda: self._checked(credential, known, challenge))

        def account(db: Connection, now: int) -> str | None:
            spend_challenge(db, challenge, now)
            is_used = use_passkey(db, known, checked.new_sign_count, now, is_backed_up=checked.credential_backed_up)
            return known.account_id if is_used else None

        return Proven(account)

    async def begin_adding(self, account: str, name: str) -> Begun:
        """What the browser asks its authenticators with, to make a passkey for an account that people call ``name``."""
        handle, credentials = await self.store.read(handle_and_credentials, account)
        return await in_thread(lambda: self._adding_begun(account, name, handle, credentials))

    def _adding_begun(self, account: str, name: str, handle: str, credentials: Sequence[str]) -> Begun:
        from webauthn import base64url_to_bytes, generate_registration_options
        from webauthn.helpers.structs import (
            AuthenticatorSelectionCriteria,
            PublicKeyCredentialDescriptor,
            ResidentKeyRequirement,
            UserVerificationRequirement,
        )

        options = generate_registration_options(
            rp_id=self.host,
            rp_name="agentui",
            user_id=base64url_to_bytes(handle),
            user_name=account,
            user_display_name=name,
            timeout=TIMEOUT_MS,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(base64url_to_bytes(each)) for each in credentials],
        )
        return self._begun(options, _adds_to(account), handle=handle)

    async def finish_adding(self, account: str, credential: Json, kept: str | None) -> "Made":
        """The passkey that an authenticator has made. Raises 409 ``sign_in_expired``, 400 ``passkey_invalid``."""
        challenge = self.challenges.read(self.name, _adds_to(account), kept)
        if not _is_small(credential):
            raise failure("passkey_invalid", "This is no answer of an authenticator.")
        return Made(challenge, await in_thread(lambda: self._registered(credential, challenge)))

    def _begun(self, options: Any, purpose: str, **values: str) -> Begun:
        from webauthn.helpers import bytes_to_base64url, options_to_json

        kept = self.challenges.issue(self.name, purpose, challenge=bytes_to_base64url(options.challenge), **values)
        return Begun({"options": loads(options_to_json(options).encode())}, kept)

    def _checked(self, credential: Any, known: KnownPasskey, challenge: Challenge) -> Any:
        """What an authenticator says, once its signature, its address, its challenge and its count are found good."""
        from webauthn import base64url_to_bytes, verify_authentication_response

        try:
            return verify_authentication_response(
                credential=credential,
                expected_challenge=base64url_to_bytes(challenge.values["challenge"]),
                expected_rp_id=self.host,
                expected_origin=self.origin,
                credential_public_key=base64url_to_bytes(known.public_key),
                credential_current_sign_count=known.sign_count,
                require_user_verification=True,
            )
        except _unreadable() as error:
            raise passkey_failed() from error

    def _registered(self, credential: Any, challenge: Challenge) -> NewPasskey:
        from webauthn import base64url_to_bytes, verify_registration_response
        from webauthn.helpers import bytes_to_base64url

        try:
            made = verify_registration_response(
                credential=credential,
                expected_challenge=base64url_to_bytes(challenge.values["challenge"]),
                expected_rp_id=self.host,
                expected_origin=self.origin,
                require_user_verification=True,
            )
        except _unreadable() as error:
            raise failure("passkey_invalid", f"The authenticator's answer is not valid: {error}.") from error
        id, key = bytes_to_base64url(made.credential_id), bytes_to_base64url(made.credential_public_key)
        if len(id) > LONGEST_ID:
            raise failure("passkey_invalid", "The passkey's id is longer than one may be.")
        return NewPasskey(id, challenge.values["handle"], key, made.sign_count, made.credential_backed_up)


@dataclass(frozen=True, slots=True)
class Made:
    """A passkey that was made, and what it was asked for with."""

    challenge: Challenge
    passkey: NewPasskey


def keep_made(db: Connection, account: str, made: Made, name: str, now: int) -> Passkey:
    """Keep a passkey that was made, once. A transaction. Raises 409 as ``spend_challenge`` and ``add_passkey`` do."""
    spend_challenge(db, made.challenge, now)
    return add_passkey(db, account, made.passkey, name, now)


def passkey_failed() -> Exception:
    """The same words whatever was wrong: they tell nobody which passkeys there are."""
    return wrong("sign_in_failed", "The passkey is none of this server's, or its answer is not valid.")


def _adds_to(account: str) -> str:
    return f"add to {account}"


def _is_small(credential: Json) -> bool:
    """Whether this may be what a browser makes of an authenticator's answer."""
    if not isinstance(credential, dict) or not isinstance(id := credential.get("id"), str):
        return False
    # Only what may be base64url is looked for: PostgreSQL takes no NUL.
    return _ID.fullmatch(id) is not None and len(dumps(credential)) <= LONGEST


def _handle_of(credential: Json) -> str | None:
    """Whose the authenticator says that the passkey is."""
    response = credential.get("response")
    handle = response.get("userHandle") if isinstance(response, dict) else None
    return handle if isinstance(handle, str) else None


def _unreadable() -> tuple[type[Exception], ...]:
    """What webauthn raises for an answer that is not valid. It reads CBOR, keys and certificates that the caller has written,
    and lets through what cryptography and the standard library say of them."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from webauthn.helpers.exceptions import WebAuthnException

    said_otherwise = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, StructError)
    return (WebAuthnException, InvalidSignature, UnsupportedAlgorithm, *said_otherwise)
