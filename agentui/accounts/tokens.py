"""``TokenReader``: JSON Web Tokens by which callers say whose they are (AUTH_MODE=jwt; RFC 7519, RFC 8725).

A token never chooses how it is checked: the algorithms are pinned, those of HMAC take the operator's secret and no other key,
the others take a public key of the operator's JWKS and no other key. What a header says of keys (``jwk``, ``jku``, ``x5u``) is
not followed, and ``kid`` only chooses among the keys of the JWKS.

The only import of joserfc, which waits for the first token: with what it brings it takes 16 MB.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentui.accounts.codes import Wrong, failure, wrong
from agentui.errors import AgentUIError, Busy
from agentui.ids import Clock
from agentui.jsonio import InvalidJson, Json, loads

if TYPE_CHECKING:
    from joserfc.jwk import KeySet
    from joserfc.jwt import Token

HMAC: Final = ("HS256", "HS384", "HS512")
PUBLIC: Final = ("RSA", "EC", "OKP")
"""The types of keys that have a public half (RFC 7518, 6.1; RFC 8037)."""
LONGEST: Final = 8 * 1024
"""Characters of a token."""
LEEWAY: Final = 5
"""Seconds by which the clock of who makes the tokens may differ."""
KEYS_SECONDS: Final = 600.0
"""How long a JWKS is believed."""
RETRY_SECONDS: Final = 30.0
"""The pause before a JWKS is read again for a key that it does not have, or after it could not be read."""
LONGEST_ACCOUNT: Final = 120
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
"""What no database takes: NUL, and halves of characters, which JSON can spell (RFC 8259, 8.2)."""


class Claimed(NamedTuple):
    """Which account a token names, and until when, in milliseconds since 1970; None for a token without an end."""

    account: str
    until: int | None


@dataclass
class Jwks:
    """The public keys of whoever makes the tokens, as ``read`` gives them: JSON of RFC 7517."""

    read: Callable[[], Awaitable[bytes]]
    clock: Clock
    _keys: "KeySet | None" = None
    _tried_at: float | None = None
    _read_at: float = 0.0
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def keys(self, kid: str | None) -> "KeySet":
        """The keys, read again where they are old or hold none of this ``kid``; meanwhile those wait whose key is not known.
        Raises Busy where there are none."""
        if self._reading.locked() and self._keys is not None and self._holds(kid):
            # A made-up kid, or an address that does not answer, keeps nobody else waiting.
            return self._keys
        async with self._reading:
            return await self._known(kid)

    def _holds(self, kid: str | None) -> bool:
        return self._keys is not None and (kid is None or any(key.kid == kid for key in self._keys))

    async def _known(self, kid: str | None) -> "KeySet":
        now = self.clock.monotonic()
        is_due = not self._holds(kid) or now - self._read_at >= KEYS_SECONDS
        if is_due and (self._tried_at is None or now - self._tried_at >= RETRY_SECONDS):
            self._tried_at = now
            try:
                self._keys, self._read_at = _public_keys(await self.read()), now
            except (AgentUIError, OSError, InvalidJson, ValueError) as error:
                if self._keys is None:
                    raise _without_keys() from error
        if self._keys is None:
            raise _without_keys()
        return self._keys


@dataclass
class TokenReader:
    """Reads the account out of tokens. ``secret`` is that of the algorithms of HMAC, ``jwks`` has the keys of the others;
    ``issuer`` and ``audience``, where they are given, have to be the token's."""

    algorithms: Sequence[str]
    claim: str
    clock: Clock
    secret: str | None = None
    jwks: Jwks | None = None
    issuer: str | None = None
    audience: str | None = None

    async def account_of(self, token: str) -> str:
        """The id of the account that a token names. Raises as ``read`` does."""
        return (await self.read(token)).account

    async def read(self, token: str) -> Claimed:
        """What a token says: the id of an account, and when it ends.

        Raises 403 ``auth_invalid_token``, as ``Wrong`` where its signature is not good, and 403
        ``auth_account_unresolved`` for one that names no account; Busy where the keys of a JWKS cannot be read.
        """
        claims = (await self.signed(token)).claims
        account = claims.get(self.claim)
        if not isinstance(account, str) or not 0 < len(account) <= LONGEST_ACCOUNT or _NO_TEXT.search(account):
            raise failure("auth_account_unresolved", f"The token's claim {self.claim!r} names no account.")
        ends = claims.get("exp")
        return Claimed(account, None if ends is None else int(ends + LEEWAY) * 1000)

    async def signed(self, token: str) -> "Token":
        """A token, once its signature, its times, its issuer and its audience are found good. Raises as ``read`` does."""
        from joserfc import jws, jwt
        from joserfc.errors import JoseError

        if len(token) > LONGEST or token.count(".") != 2:
            raise _wrong("It is no token of three parts.")
        try:
            # Only to choose the key; what is checked is read once more below, with the algorithms pinned.
            head = jws.extract_compact(token.encode()).headers()
            if head.get("alg") not in self.algorithms:
                raise _wrong("Its algorithm is none that this server takes (AGENTUI_AUTH_JWT_ALGORITHMS).")
            read = jwt.decode(token, await self._key(str(head["alg"]), head.get("kid")), algorithms=list(self.algorithms))
        except (JoseError, ValueError, TypeError, RecursionError) as error:
            raise _wrong("It is damaged, or somebody else signed it.") from error
        self._check_times(read.claims)
        return read

    async def _key(self, algorithm: str, kid: object) -> Any:
        from joserfc.jwk import OctKey

        if algorithm in HMAC:
            if self.secret is None:
                raise _wrong("This server has no secret for its algorithm.")
            return OctKey.import_key(self.secret)
        if self.jwks is None:
            raise _wrong("This server has no keys for its algorithm.")
        return await self.jwks.keys(kid if isinstance(kid, str) else None)

    def _check_times(self, claims: dict[str, Any]) -> None:
        """Raise 403 for a token that is over or not valid yet, or for somebody else. Its maker is ours, so it is no guess."""
        from joserfc.errors import JoseError
        from joserfc.jwt import JWTClaimsRegistry

        wanted: dict[str, Any] = {}
        if self.issuer is not None:
            wanted["iss"] = {"essential": True, "value": self.issuer}
        if self.audience is not None:
            wanted["aud"] = {"essential": True, "value": self.audience}
        elif "aud" in claims:
            # Nobody said whom tokens have to be for, so they may be for anybody (RFC 7519, 4.1.3 leaves that to us).
            claims = {name: value for name, value in claims.items() if name != "aud"}
        try:
            JWTClaimsRegistry(now=self.clock.now_ms() // 1000, leeway=LEEWAY, **wanted).validate(claims)
        except JoseError as error:
            raise failure("auth_invalid_token", f"The token is not valid: {error.error}.") from error


def _public_keys(document: bytes) -> "KeySet":
    """The keys of a JWKS that may check signatures: public ones. A symmetric key in a published document is nobody's secret."""
    from joserfc.errors import JoseError
    from joserfc.jwk import Key, KeySet

    found: Json = loads(document)
    listed = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(listed, list):
        raise ValueError("The document is no JWKS.")
    public = [key for key in listed if isinstance(key, dict) and key.get("kty") in PUBLIC and key.get("use") != "enc"]
    usable: list[Key] = []
    for key in public:
        # RFC 7517, 5: what is not understood is ignored, and does not spoil the others. joserfc says so in several ways, as
        # cryptography does: KeyError for a curve that it does not know.
        with suppress(JoseError, ValueError, TypeError, KeyError):
            usable += KeySet.import_key_set({"keys": [key]}).keys
    if not usable:
        raise ValueError("The JWKS has no key that can be used.")
    return KeySet(usable)


def _wrong(reason: str) -> Wrong:
    return wrong("auth_invalid_token", f"The token is not valid. {reason}")


def _without_keys() -> Busy:
    return Busy("The keys that tokens are checked with (AGENTUI_AUTH_JWT_JWKS) cannot be read now.", retry_after=RETRY_SECONDS)
