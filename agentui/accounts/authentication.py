"""``Authenticator``: in whose name a request is made, by what it shows (TavernHeadless' contract, part 5.1; seed 001).

    client key (tvk_live_...)  ->  its account, in every mode; wins over all else
    access token               ->  the default account
    mode api_key               ->  the account that AGENTUI_AUTH_API_KEY_ACCOUNTS names
    mode jwt                   ->  the account that the token's claim names
    sign-in to the page        ->  the account that signed in; counts last

What was found in the database is believed for less than a second, so a revoked key is dead within one wherever nobody could
be told of it, and at once where they could.
"""

import asyncio
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from sqlalchemy import Connection

from agentui.accounts import stored
from agentui.accounts.clients import FoundKey, find_by_hash, good_hashes, note_use
from agentui.accounts.codes import Wrong, failure, wrong
from agentui.accounts.key_hash import LONGEST, KeyHash, same_text
from agentui.accounts.records import Account
from agentui.accounts.sign_ins import SignIn, find_sign_in, good_sign_ins, hash_of, note_visit
from agentui.accounts.tokens import TokenReader
from agentui.errors import AgentUIError, ApiError, Unauthorized
from agentui.ids import Clock
from agentui.principal import DEFAULT_ACCOUNT, DEFAULT_PRINCIPAL, KEY_PREFIX, Principal, Restrictions
from agentui.store.base import Store

AuthMode: TypeAlias = Literal["off", "api_key", "jwt"]

BELIEVED_SECONDS: Final = 0.8
"""How long what was read of a key or an account is believed."""
LOOK_SECONDS: Final = 0.8
"""The pause between two looks whether who has something under way is still let in, where nobody tells: keys and sign-ins end by
the clock, and the shell changes accounts beside the server."""
MOST_BELIEVED: Final = 1000
"""Keys, accounts and sign-ins that are remembered at most, of each kind."""
MOST_TRIED: Final = 8
"""Keys of one request that are looked at in the modes api_key and jwt."""
NOTE_MS: Final = 60_000
"""How often the use of a key is written down."""
WRONG_CLIENT_KEY: Final = "The client's key is unknown, revoked or expired, or its client is disabled."

T = TypeVar("T")
End: TypeAlias = Callable[[AgentUIError], None]
"""Ends what is under way, for a reason that is told."""

log = logging.getLogger("agentui.accounts")


@dataclass(frozen=True, slots=True)
class Presented:
    """What a request shows of credentials: ``client_keys`` whose look says that they are some, ``keys`` that may be anything,
    and the ``sign_in`` of its browser."""

    client_keys: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    sign_in: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is shown."""
        return not (self.client_keys or self.keys or self.sign_in)


@dataclass(frozen=True, slots=True)
class Admission:
    """Who asks, and which of what was shown are this server's own credentials: they go no further."""

    principal: Principal
    own: tuple[str, ...] = ()
    by_sign_in: bool = False


class _Believed(Generic[T]):
    """What was found by key, for ``BELIEVED_SECONDS``. Only what was found is kept: whoever guesses fills nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._found: dict[str, tuple[float, T]] = {}

    async def get(self, key: str, find: Callable[[], Awaitable[T | None]]) -> T | None:
        """What ``find`` gives, or gave a moment ago."""
        asked_at = self._clock.monotonic()
        here = self._found  # what was looked for before ``forget`` is put where nobody looks any more
        known = here.get(key)
        if known is not None and asked_at < known[0]:
            return known[1]
        found = await find()
        here.pop(key, None)
        if found is not None:
            if len(here) >= MOST_BELIEVED:
                del here[next(iter(here))]
            here[key] = (asked_at + BELIEVED_SECONDS, found)
        return found

    def forget(self) -> None:
        """Believe nothing any more, nor what is being looked for now."""
        self._found = {}


@dataclass
class Authenticator:
    """Finds out who asks. ``mode`` and ``is_multi`` are the operator's choice, ``token`` the access token, ``keys`` the keys of
    mode api_key with their accounts (None: none is named), ``tokens`` reads those of mode jwt. ``tell`` lets other processes
    know that something was changed, ``runs`` are those under way with what ends each."""

    store: Store
    hash: KeyHash
    clock: Clock
    mode: AuthMode = "off"
    is_multi: bool = False
    token: str | None = None
    keys: Mapping[str, str | None] = field(default_factory=dict)
    tokens: TokenReader | None = None
    tell: Callable[[], Awaitable[None]] | None = None
    runs: Callable[[], Iterable[tuple[Principal, "End"]]] = tuple

    def __post_init__(self) -> None:
        # Found by a keyed hash: however many keys there are a request looks once, and its time tells nothing of what was right.
        self._salt = secrets.token_bytes(32)
        self._static = {self._digest(key): account for key, account in self.keys.items()}
        self._found_keys = _Believed[FoundKey](self.clock)
        self._accounts = _Believed[Account](self.clock)
        self._sign_ins = _Believed[SignIn](self.clock)
        self._noted: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watched: dict[End, Principal] = {}
        self._ended: set[End] = set()
        self._looking: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether who shows nothing is let in: as the default account."""
        return self.mode == "off" and self.token is None

    async def authenticate(self, presented: Presented) -> Admission:
        """Who asks. Raises the codes of part 5.1, those that count as guesses as ``Wrong``; Unauthorized where the access token
        alone is asked for; and what the store raises."""
        admission = await self._admitted(presented)
        if self._looking is None and admission.principal is not DEFAULT_PRINCIPAL:
            # From the first one on who may be let in no more while something is under way.
            self._looking = asyncio.create_task(self._look_again(), name="looking who is still let in")
        return admission

    async def _admitted(self, presented: Presented) -> Admission:
        if presented.client_keys:
            # The first of them has to be good.
            principal = await self._by_client_key(presented.client_keys[0])
            return Admission(principal, (*presented.client_keys, *await self._own_of(presented.keys)))
        if self.token is not None:
            own = tuple(key for key in presented.keys if same_text(key, self.token))
            if own:
                rest = [key for key in presented.keys if key not in own]
                return Admission(DEFAULT_PRINCIPAL, (*own, *await self._own_of(rest)))
        if self.is_open:
            # Something has the look of a client key and stands where none does.
            return Admission(DEFAULT_PRINCIPAL, tuple(key for key in presented.keys if KEY_PREFIX in key))
        if self.mode == "off":
            text = "This server needs its access token: send it as API key, or in the header x-agentui-token."
            raise Unauthorized(text)
        refused: ApiError | None = None
        own = ()
        for place, key in enumerate(presented.keys[:MOST_TRIED]):
            try:
                principal = await self._by_key(key)
            except Wrong as error:
                refused = refused or error
            except ApiError as error:
                # Out of date or without an account, but of this server all the same.
                refused, own = refused or error, (*own, key)
            else:
                return Admission(principal, (*own, key, *await self._own_of(presented.keys[place + 1 :])))
        if presented.sign_in is not None:
            signed_in = await self._by_sign_in(presented.sign_in)
            if signed_in is not None:
                return Admission(signed_in, own, by_sign_in=True)
        if refused is not None:
            raise refused
        raise failure("auth_required", "Sign in, or send a key or a token: as 'Authorization: Bearer ...' or x-api-key.")

    async def _own_of(self, keys: Sequence[str]) -> tuple[str, ...]:
        """Which of these keys, beside the one that lets its caller in, this server knows as well: they go no further either.
        Raises Busy where it cannot say, because the keys of a JWKS cannot be read."""
        if self.mode == "jwt":
            return tuple([key for key in keys[:MOST_TRIED] if await self._is_token(key)])
        return tuple(key for key in keys if self._digest(key) in self._static)

    async def _is_token(self, key: str) -> bool:
        assert self.tokens is not None  # the settings ask for what it needs
        try:
            await self.tokens.account_of(key)
        except Wrong:
            return False
        except ApiError:
            pass  # Of no use here, and signed by whoever makes this server's tokens.
        return True

    def _digest(self, key: str) -> bytes:
        return hmac.digest(self._salt, key.encode("utf-8", "surrogatepass"), "sha256")

    async def sign_in_of(self, secret: str) -> str | None:
        """The id of the sign-in whose browser keeps this; None where it is none."""
        hash = hash_of(secret)
        found = await self._sign_ins.get(hash, lambda: self.store.read(find_sign_in, hash))
        return found.id if found is not None else None

    @contextmanager
    def watching(self, principal: Principal, end: End) -> Iterator[None]:
        """Within, ``end`` is called once the key, the sign-in or the account of who asks counts no more, or may do less: as
        soon as this process hears of it, and else within a second."""
        if principal is DEFAULT_PRINCIPAL:
            yield
            return
        self._watched[end] = principal
        try:
            yield
        finally:
            del self._watched[end]

    async def changed(self) -> None:
        """Keys, accounts or sign-ins were changed here: nobody believes any more what was read before, here at once and
        elsewhere as fast as they are told, and what is under way for who is let in no more ends."""
        self.forget()
        if self.tell is not None:
            await self.tell()

    def forget(self) -> None:
        """Believe nothing of what was read before, and look who is still let in."""
        for believed in (self._found_keys, self._accounts, self._sign_ins):
            believed.forget()
        self._beside(self._end_refused(), "ending what a revoked key has begun")

    async def close(self) -> None:
        """Finish what is being done beside requests."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _by_client_key(self, secret: str) -> Principal:
        if not secret.startswith(KEY_PREFIX) or len(secret) > LONGEST:
            raise _wrong_client_key()
        hash = self.hash.of(secret)
        found = await self._found_keys.get(hash, lambda: self.store.read(find_by_hash, hash))
        if found is None:
            raise _wrong_client_key()
        now = self.clock.now_ms()
        if not found.is_active or (found.good_until is not None and found.good_until <= now):
            # The same words as for one that never was: a key that is gone tells nothing about its account. It is no guess,
            # though: a program that goes on with it must not shut out everybody at its address.
            raise failure("client_api_key_invalid", WRONG_CLIENT_KEY)
        if not self.is_multi and found.account.id != DEFAULT_ACCOUNT:
            raise failure("auth_account_unresolved", "The key belongs to an account that this server does not serve now.")
        if found.last_used_at is None or now - found.last_used_at >= NOTE_MS:
            self._note(note_use, found.id, now)
        return found.account.principal(found.client, found.id, hash, found.restrictions)

    async def _by_key(self, key: str) -> Principal:
        if self.mode == "jwt":
            assert self.tokens is not None  # the settings ask for what it needs
            claimed = await self.tokens.read(key)
            principal = await self._principal_of(claimed.account)
            return principal if claimed.until is None else replace(principal, until=claimed.until)
        digest = self._digest(key)
        if digest not in self._static:
            raise wrong("auth_invalid_credentials", "The server knows no such key.")
        account = self._static[digest]
        if self.is_multi and account is None:
            raise failure("auth_account_unresolved", "The key names no account: AGENTUI_AUTH_API_KEY_ACCOUNTS has to.")
        return await self._principal_of(account or DEFAULT_ACCOUNT)

    async def _by_sign_in(self, secret: str) -> Principal | None:
        hash = hash_of(secret)
        found = await self._sign_ins.get(hash, lambda: self.store.read(find_sign_in, hash))
        now = self.clock.now_ms()
        if found is None or found.expires_at <= now:
            return None
        if now - found.last_used_at >= NOTE_MS:
            self._note(note_visit, found.id, now)
        return replace(await self._principal_of(found.account_id), proof=hash)

    async def _principal_of(self, id: str) -> Principal:
        """Who asks in the name of this account. Raises as the table says."""
        if id == DEFAULT_ACCOUNT:
            return DEFAULT_PRINCIPAL  # its role and its status never change
        if not self.is_multi:
            raise failure("auth_account_unresolved", "This server has one account only, and the token or key names another.")
        account = await self._accounts.get(id, lambda: self.store.read(stored.seen_account, id))
        if account is None:
            raise failure("auth_account_not_found", "The account that the key or the token names does not exist.")
        if account.status == "disabled":
            raise failure("auth_account_disabled", "The account is disabled; an admin can enable it.")
        return account.principal()

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self._end_refused()

    async def _end_refused(self) -> None:
        """End what is under way for keys, sign-ins and accounts that count no more, and streams of who may do less than when
        they began. Those who ask are told why."""
        streams = [(principal, end) for end, principal in self._watched.items()]
        runs = [(principal, end) for principal, end in self.runs() if principal is not DEFAULT_PRINCIPAL]
        # What was told to end takes a moment for it, in which it must not be told again.
        self._ended &= {end for _, end in (*streams, *runs)}
        under_way = [each for each in (*streams, *runs) if each[1] not in self._ended]
        if not under_way:
            return
        keys = {principal.proof for principal, _ in under_way if principal.proof is not None and principal.key is not None}
        signed_in = {principal.proof for principal, _ in under_way if principal.proof is not None and principal.key is None}
        ids, now = {principal.account for principal, _ in under_way}, self.clock.now_ms()
        try:
            let_in = await self.store.read(_let_in, keys, signed_in, ids, now)
        except AgentUIError as error:
            log.warning("Which keys still count could not be read: %s", error.code)
            return
        for principal, end in under_way:
            why = let_in.refusal(principal) or (let_in.lost_right(principal, now) if end in self._watched else None)
            if why is not None and end not in self._ended:
                self._ended.add(end)
                end(why)

    def _note(self, transaction: Callable[..., None], id: str, now: int) -> None:
        """Write a use down beside the request, which does not wait for it and does not fail with it. What was read of it just
        now does not know yet that it is written down."""
        if now - self._noted.get(id, 0) < NOTE_MS:
            return
        self._noted.pop(id, None)
        if len(self._noted) >= MOST_BELIEVED:
            del self._noted[next(iter(self._noted))]
        self._noted[id] = now
        self._beside(self._written(transaction, id, now), "noting the use of a key")

    def _beside(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Let something be done that nobody waits for but ``close``."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _written(self, transaction: Callable[..., None], id: str, now: int) -> None:
        try:
            await self.store.write(transaction, id, now, now - NOTE_MS)
        except AgentUIError as error:
            log.warning("When a key was used last could not be written down: %s", error.code)


@dataclass(frozen=True, slots=True)
class _LetIn:
    """Who of those that have something under way would be let in now. ``keys`` are the restrictions of keys by their hashes,
    ``signed_in`` hashes of sign-ins."""

    keys: Mapping[str, Restrictions | None]
    signed_in: frozenset[str]
    accounts: Mapping[str, Account]

    def refusal(self, principal: Principal) -> ApiError | None:
        """Why this one would not."""
        if principal.proof is not None and principal.proof not in self.keys and principal.proof not in self.signed_in:
            if principal.key is not None:
                return failure("client_api_key_invalid", "The key was revoked or has ended, or its client is disabled.")
            return failure("auth_required", "The sign-in is over.")
        if principal.account not in self.accounts:
            return failure("auth_account_disabled", "The account was disabled or removed in the meantime.")
        return None

    def lost_right(self, principal: Principal, at: int) -> ApiError | None:
        """Which right this one had and has no more. An answer that was begun in time is one's own, also when the token ends."""
        if principal.until is not None and principal.until <= at:
            return failure("auth_invalid_token", "The token has ended.")
        if principal.key is not None and self.keys.get(principal.proof or "") != principal.restrictions:
            return failure("client_api_key_restricted", "The key is kept to other things than when this began.")
        now = self.accounts[principal.account].principal()
        if (principal.role, now.role) == ("admin", "user") or (principal.may_edit and not now.may_edit):
            return failure("account_forbidden", "The account may do less than when this began.")
        return None


def _let_in(db: Connection, keys: Set[str], signed_in: Set[str], ids: Set[str], now: int) -> _LetIn:
    good = good_hashes(db, keys, now) if keys else {}
    visits = good_sign_ins(db, signed_in, now) if signed_in else frozenset()
    return _LetIn(good, visits, stored.active_accounts(db, ids))


def _wrong_client_key() -> Wrong:
    return wrong("client_api_key_invalid", WRONG_CLIENT_KEY)
