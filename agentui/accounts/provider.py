"""``Provider``: an identity provider of OpenID Connect, by the authorization code flow with PKCE (OpenID Connect Core 1.0, 3.1;
Discovery 1.0; RFC 7636, RFC 9207, RFC 9700).

Nothing that a provider or a browser says is believed because it says so: the provider's document has to name the issuer that
the operator has named, the token's signature is checked with the provider's published keys by an algorithm that the operator
has pinned, and its claims have to be for this server, for this sign-in, and for now.

The only import of authlib, which waits for the first sign-in: with what it brings it takes 20 MB.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from agentui.accounts.challenges import Challenge, Challenges, expired
from agentui.accounts.codes import failure
from agentui.accounts.key_hash import same_text
from agentui.accounts.tokens import LEEWAY, Jwks, TokenReader
from agentui.errors import AgentUIError, ApiError, Busy
from agentui.ids import Clock
from agentui.jsonio import InvalidJson, Json, loads
from agentui.settings import safe_address
from agentui.threads import in_thread

Fetch: TypeAlias = Callable[[str, str, Mapping[str, str], bytes | None], Awaitable[tuple[int, bytes]]]
"""Asks an address by method, URL, headers and body: status and body of the answer. Raises AgentUIError."""

LARGEST: Final = 64 * 1024
"""Bytes of what a provider says: read in the event loop, and some thirty times what real ones say."""
BELIEVED_SECONDS: Final = 3600.0
"""How long the provider's document is believed."""
RETRY_SECONDS: Final = 5.0
"""How long nobody asks again for a document that could not be read: whoever comes meanwhile is told at once."""
MOST_GROUPS: Final = 1000
"""Groups of a person; further ones are not looked at."""
LONGEST_SUBJECT: Final = 255
"""Characters of a person's id (OpenID Connect Core 1.0, 2)."""
LONGEST_EMAIL: Final = 320
"""Characters."""

log = logging.getLogger("agentui.accounts")


@dataclass(frozen=True, slots=True)
class Person:
    """Who has signed in, as the provider says: ``email`` is its word, ``verified`` the same where it has made sure of it."""

    subject: str
    name: str | None
    email: str | None
    verified: str | None
    groups: frozenset[str]


@dataclass
class Provider:
    """Talks to an identity provider. ``redirect`` is the address of this server's page, to which the provider sends people
    back; ``groups_claim`` names the claim that lists somebody's groups."""

    fetch: Fetch
    challenges: Challenges
    clock: Clock
    issuer: str
    client: str
    secret: str | None
    redirect: str
    scopes: Sequence[str]
    algorithms: Sequence[str]
    groups_claim: str
    _document: Mapping[str, Json] | None = None
    _read_at: float = 0.0
    _failed: tuple[float, ApiError] | None = None
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _keys: tuple[str, Jwks] | None = None

    async def begin(self, way: str, purpose: str) -> tuple[str, str]:
        """The address of the provider at which somebody signs in, and what their browser has to keep meanwhile. Raises 502
        ``sign_in_provider_failed``."""
        await in_thread(_import_authlib)
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        document = await self.document()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        address = prepare_grant_uri(
            document["authorization_endpoint"],
            self.client,
            "code",
            self.redirect,
            list(self.scopes),
            state,
            nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier),
            code_challenge_method="S256",
        )
        return address, self.challenges.issue(way, purpose, state=state, nonce=nonce, verifier=verifier)

    async def person(self, challenge: Challenge, said: Mapping[str, Json]) -> Person:
        """Who has signed in, by what the provider has sent the browser back with: ``state`` and ``code``, or an ``error``, and
        ``iss`` where it says who it is.

        Raises 409 ``sign_in_expired`` as ``Wrong`` for another browser's, 403 ``sign_in_refused`` where the provider let nobody
        in, 502 ``sign_in_provider_failed`` where it cannot be asked, or says something that is not right.
        """
        state = said.get("state")
        if not isinstance(state, str) or not same_text(state, challenge.values["state"]):
            raise expired()
        await in_thread(_import_authlib)
        document = await self.document()
        said_issuer = said.get("iss")
        if said_issuer is None and document.get("authorization_response_iss_parameter_supported") is True:
            raise self._wrong("it did not say who it is, though it says that it does")
        if said_issuer is not None and said_issuer != self.issuer:
            # RFC 9207, 2.4: another provider's answer in this one's place.
            raise self._wrong("the answer is another provider's")
        error, code = said.get("error"), said.get("code")
        if error is not None:
            raise failure("sign_in_refused", f"The identity provider let nobody in: {_word(error)}.")
        if not isinstance(code, str) or not code:
            raise self._wrong("it sent the browser back without a code")
        tokens = await self._exchange(document, code, challenge.values["verifier"])
        claims = await self._checked(document, tokens, challenge.values["nonce"])
        return await self._described(document, tokens, claims)

    async def document(self) -> Mapping[str, Json]:
        """What the provider says of itself, read again after a while. Raises 502 ``sign_in_provider_failed``."""
        async with self._reading:
            now = self.clock.monotonic()
            if self._document is not None and now - self._read_at < BELIEVED_SECONDS:
                return self._document
            if self._failed is not None and now < self._failed[0]:
                raise self._failed[1]
            try:
                self._document = await self._read_document()
            except ApiError as error:
                # From when it was known, not from when it was asked: to wait in vain takes a while.
                self._failed = self.clock.monotonic() + RETRY_SECONDS, error
                raise
            self._read_at, self._failed = now, None
            return self._document

    async def sign_out_address(self, back: str) -> str | None:
        """Where somebody signs out of the provider, too, and is sent ``back`` from; None where it has no such place, or cannot
        be asked (OpenID Connect RP-Initiated Logout 1.0)."""
        await in_thread(_import_authlib)
        from authlib.common.urls import add_params_to_uri

        try:
            place = (await self.document()).get("end_session_endpoint")
        except ApiError as error:
            log.warning("Nobody can be signed out of the identity provider: %s", error.message)
            return None
        if not isinstance(place, str) or not is_safe_address(place):
            return None
        address: str = add_params_to_uri(place, [("client_id", self.client), ("post_logout_redirect_uri", back)])
        return address

    async def _read_document(self) -> Mapping[str, Json]:
        from authlib.oidc.discovery import get_well_known_url

        document = await self._asked("GET", get_well_known_url(self.issuer, external=True), {}, None, "its document")
        if document.get("issuer") != self.issuer:
            # Discovery 1.0, 4.3: to the letter, or another provider could stand in for this one.
            raise self._wrong(
                f"it calls itself {str(document.get('issuer'))[:200]!r}, and AGENTUI_OIDC_ISSUER says {self.issuer!r}"
            )
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not is_safe_address(document.get(name)):
                raise self._wrong(f"its document has no {name} that can be used (https, or http on this computer)")
        return document

    async def _exchange(self, document: Mapping[str, Json], code: str, verifier: str) -> Mapping[str, Json]:
        """The tokens for a code, which counts once."""
        from authlib.oauth2.auth import ClientAuth
        from authlib.oauth2.rfc6749.parameters import prepare_token_request

        body = prepare_token_request("authorization_code", redirect_uri=self.redirect, code=code, code_verifier=verifier)
        taken = document.get("token_endpoint_auth_methods_supported")
        method = "none" if self.secret is None else "client_secret_basic"
        if self.secret is not None and isinstance(taken, list) and taken and method not in taken:
            method = "client_secret_post"
        headers = {"content-type": "application/x-www-form-urlencoded"}
        place = document["token_endpoint"]
        auth = ClientAuth(self.client, self.secret, method)
        place, headers, body = auth.prepare("POST", place, headers, body)
        return await self._asked("POST", place, headers, body.encode(), "its tokens")

    async def _checked(self, document: Mapping[str, Json], tokens: Mapping[str, Json], nonce: str) -> Mapping[str, Json]:
        """What the ID token claims, once it is found good (Core 1.0, 3.1.3.7)."""
        from authlib.oidc.core import CodeIDToken
        from joserfc.errors import JoseError

        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise self._wrong("it sent no ID token")
        reader = TokenReader(
            self.algorithms, "sub", self.clock, jwks=self._jwks(document), issuer=self.issuer, audience=self.client
        )
        try:
            signed = await reader.signed(token)
            claims = CodeIDToken(
                signed.claims,
                signed.header,
                params={"nonce": nonce, "client_id": self.client, "access_token": tokens.get("access_token")},
            )
            claims.validate(now=self.clock.now_ms() // 1000, leeway=LEEWAY)
        except JoseError as error:
            raise self._wrong(f"its ID token is not valid: {error.error} {error.description or ''}".rstrip()) from error
        except (ValueError, TypeError) as error:
            raise self._wrong("its ID token has claims of a wrong kind") from error
        except Busy as error:
            raise self._wrong("its keys cannot be read") from error
        except ApiError as error:
            raise self._wrong(f"its ID token is refused: {error.message}") from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or not _is_text(subject):
            raise self._wrong("its ID token names nobody")
        return dict(claims)

    async def _described(self, document: Mapping[str, Json], tokens: Mapping[str, Json], claims: Mapping[str, Json]) -> Person:
        """The person. What the ID token does not say, some providers say when they are asked (Core 1.0, 5.3)."""
        place, access = document.get("userinfo_endpoint"), tokens.get("access_token")
        lacks = {"name", "email", self.groups_claim} - claims.keys()
        if lacks and is_safe_address(place) and isinstance(access, str) and _is_text(access) and access.isascii():
            told = await self._asked("GET", str(place), {"authorization": f"Bearer {access}"}, None, "who has signed in")
            if told.get("sub") != claims["sub"]:
                raise self._wrong("it tells of another person than it let in")
            claims = _joined(told, claims)
        email, name = _text(claims.get("email"), LONGEST_EMAIL), claims.get("name") or claims.get("preferred_username")
        groups = claims.get(self.groups_claim)
        listed = groups[:MOST_GROUPS] if isinstance(groups, list) else [groups]
        return Person(
            str(claims["sub"]),
            _text(name, 120),
            email,
            email if claims.get("email_verified") is True else None,
            frozenset(group for group in listed if isinstance(group, str)),
        )

    def _jwks(self, document: Mapping[str, Json]) -> Jwks:
        """The provider's keys, which are kept as long as they stay at their place."""
        place: str = document["jwks_uri"]
        if self._keys is None or self._keys[0] != place:

            async def read() -> bytes:
                return await self._body("GET", place, {}, None, "its keys")

            self._keys = place, Jwks(read, self.clock)
        return self._keys[1]

    async def _asked(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, what: str
    ) -> Mapping[str, Json]:
        """The JSON object that the provider answers with."""
        raw = await self._body(method, url, headers, body, what)
        try:
            found: Json = loads(raw)
        except InvalidJson as error:
            raise self._wrong(f"{what} is no JSON") from error
        if not isinstance(found, dict):
            raise self._wrong(f"{what} is no object")
        return found

    async def _body(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, what: str) -> bytes:
        try:
            status, raw = await self.fetch(method, url, {"accept": "application/json", **headers}, body)
        except AgentUIError as error:
            raise self._wrong(f"{what} cannot be read ({error.message.rstrip('.')})") from error
        if status != 200:
            raise self._wrong(f"{what} cannot be read: it answered {status}{_reason(raw)}")
        if len(raw) > LARGEST:
            raise self._wrong(f"{what} is larger than {LARGEST} bytes")
        return raw

    def _wrong(self, reason: str) -> ApiError:
        text = f"The identity provider cannot be used now: {reason}."
        log.warning("Sign-in by %s: %s", self.issuer, text)
        return failure("sign_in_provider_failed", text)


def _import_authlib() -> None:
    """Read the library, which takes 60 ms the first time: in a thread, so that others are served meanwhile."""
    import authlib.common.urls
    import authlib.oauth2.auth
    import authlib.oauth2.rfc7636
    import authlib.oidc.core
    import authlib.oidc.discovery  # noqa: F401  what is used of them is imported again where it is used


def is_safe_address(url: Json) -> bool:
    """Whether codes and people may be sent to an address: over https, or to this very computer."""
    if not isinstance(url, str) or not _is_text(url) or not url.isascii():
        return False
    try:
        safe_address(url, "it")
    except ValueError:
        return False
    return True


def _joined(told: Mapping[str, Json], claims: Mapping[str, Json]) -> Mapping[str, Json]:
    """What an ID token and the answer about a person say together. That an address was verified is said of the address
    beside it (Core 1.0, 5.1): neither makes the other's address a verified one."""
    if "email" not in claims:
        claims = {name: value for name, value in claims.items() if name != "email_verified"}
    elif told.get("email") != claims["email"]:
        told = {name: value for name, value in told.items() if name != "email_verified"}
    return {**told, **claims}


def _reason(raw: bytes) -> str:
    """The error that OAuth gives as one word (RFC 6749, 5.2); nothing else of an answer is repeated."""
    try:
        found: Any = loads(raw) if len(raw) <= LARGEST else None
    except InvalidJson:
        return ""
    return f" ({_word(found['error'])})" if isinstance(found, dict) and isinstance(found.get("error"), str) else ""


def _word(error: Json) -> str:
    """An error's name, as far as it looks like one."""
    text = str(error)[:60]
    return text if text.replace("_", "").replace("-", "").isalnum() and text.isascii() else "without a word that says why"


def _text(value: Json, longest: int) -> str | None:
    return value[:longest] if isinstance(value, str) and value and _is_text(value) else None


def _is_text(value: str) -> bool:
    """Whether a database and a header take it: no control characters, no halves of characters."""
    return value.isprintable()
