"""What reads tokens: its keys may be changed while it runs, and no text makes it fail otherwise than by a refusal."""

import asyncio
import base64
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from agentui.accounts.codes import Wrong
from agentui.accounts.tokens import HMAC, KEYS_SECONDS, LEEWAY, RETRY_SECONDS, Jwks, TokenReader
from agentui.errors import ApiError, Busy
from agentui.jsonio import Json, dumps

SECRET = "a-secret-of-more-than-32-characters!"


@dataclass
class Clock:
    """Time that stands still until somebody moves it."""

    seconds: float = 1_000_000.0

    def monotonic(self) -> float:
        return self.seconds

    def now_ms(self) -> int:
        return int(self.seconds * 1000)


@dataclass
class Published:
    """A document of keys, and how often it was read."""

    document: bytes | None = None
    reads: int = 0

    async def read(self) -> bytes:
        self.reads += 1
        if self.document is None:
            raise Busy("The address of the keys answered with 500.")
        return self.document

    def holds(self, *keys: RSAKey) -> None:
        self.document = dumps({"keys": [key.as_dict(private=False) for key in keys]})


def new_key(kid: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": kid})


def signed(key: RSAKey, **claims: Json) -> str:
    return jwt.encode({"alg": "RS256", "kid": key.kid}, {"account_id": "alice", **claims}, key)


async def test_keys_are_read_again_when_they_are_old_or_one_is_unknown_and_not_more_often() -> None:
    clock, published = Clock(), Published()
    reader = TokenReader(["RS256"], "account_id", clock, jwks=Jwks(published.read, clock))
    first, second = new_key("first"), new_key("second")
    published.holds(first)
    assert await reader.account_of(signed(first)) == "alice"
    published.holds(second)
    # A made-up kid does not make the server ask as often as it comes.
    for _ in range(5):
        with pytest.raises(Wrong):
            await reader.account_of(signed(second))
    assert published.reads == 1
    clock.seconds += RETRY_SECONDS
    assert await reader.account_of(signed(second)) == "alice"
    with pytest.raises(Wrong):
        await reader.account_of(signed(first))
    assert published.reads == 2
    # What cannot be read now leaves the keys that are known.
    published.document = None
    clock.seconds += KEYS_SECONDS
    assert [await reader.account_of(signed(second)) for _ in range(3)] == ["alice"] * 3
    assert published.reads == 3
    published.document = b"<html>"
    clock.seconds += RETRY_SECONDS
    assert await reader.account_of(signed(second)) == "alice"


NO_KEYS = (None, b"<html>", b"[]", b"{}", b'{"keys": 7}', b'{"keys": []}', b'{"keys": [{"kty": "oct", "k": "eA"}]}')


@pytest.mark.parametrize("document", NO_KEYS)
async def test_without_a_key_nobody_is_let_in_and_the_fault_is_ours(document: bytes | None) -> None:
    clock, published = Clock(), Published(document)
    reader = TokenReader(["RS256"], "account_id", clock, jwks=Jwks(published.read, clock))
    for _ in range(3):
        with pytest.raises(Busy):
            await reader.account_of(signed(new_key("any")))
    assert published.reads == 1


async def test_who_comes_while_the_keys_are_read_waits_for_them() -> None:
    clock, key, may_go = Clock(), new_key("only"), asyncio.Event()
    published = Published()
    published.holds(key)

    async def read() -> bytes:
        await may_go.wait()
        return await published.read()

    reader = TokenReader(["RS256"], "account_id", clock, jwks=Jwks(read, clock))
    waiting = [asyncio.create_task(reader.account_of(signed(key))) for _ in range(4)]
    await asyncio.sleep(0)
    may_go.set()
    assert await asyncio.gather(*waiting) == ["alice"] * 4
    assert published.reads == 1


async def test_whose_key_is_known_waits_for_nobody() -> None:
    clock, key, other, is_asked, may_go = Clock(), new_key("first"), new_key("other"), asyncio.Event(), asyncio.Event()
    published = Published()
    published.holds(key)

    async def read() -> bytes:
        if published.reads:
            is_asked.set()
            await may_go.wait()
        return await published.read()

    reader = TokenReader(["RS256"], "account_id", clock, jwks=Jwks(read, clock))
    assert await reader.account_of(signed(key)) == "alice"
    clock.seconds += RETRY_SECONDS
    made_up = asyncio.create_task(reader.account_of(signed(other)))
    await is_asked.wait()
    async with asyncio.timeout(10):
        assert await reader.account_of(signed(key)) == "alice"
    assert not made_up.done()
    may_go.set()
    with pytest.raises(Wrong):
        await made_up


RSA = new_key("any").as_dict(private=False)
UNUSABLE: tuple[Json, ...] = (
    {"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA"},
    {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
    {"kty": "OKP", "crv": "X999", "x": "AA"},
    {"kty": "OKP", "crv": "Ed25519", "x": "AA"},
    {"kty": "RSA"},
    {"kty": "RSA", "n": 5, "e": []},
    {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
    {**RSA, "kid": 7},
    {**RSA, "key_ops": "verify"},
    {"kty": ["RSA"]},
    {"kty": "PQ", "pub": "AA"},
    None,
)


async def test_a_key_that_cannot_be_used_spoils_no_other() -> None:
    clock, key, published = Clock(), new_key("good"), Published()
    reader = TokenReader(["RS256"], "account_id", clock, jwks=Jwks(published.read, clock))
    published.document = dumps({"keys": [*UNUSABLE, key.as_dict(private=False), *UNUSABLE]})
    assert await reader.account_of(signed(key)) == "alice"


@pytest.mark.parametrize(
    ("claims", "after", "is_good"),
    [
        ({"exp": 100}, 99, True),
        ({"exp": 100}, 100 + LEEWAY, False),
        ({"nbf": 100}, 99 - LEEWAY, False),
        ({"nbf": 100}, 100, True),
        ({"iat": 100}, 99 - LEEWAY, False),
        ({}, 10**9, True),
    ],
)
async def test_times_are_held_to_the_second(claims: dict[str, int], after: int, is_good: bool) -> None:
    reader = TokenReader(HMAC, "account_id", Clock(float(after)), secret=SECRET)
    token = jwt.encode({"alg": "HS256"}, {"account_id": "alice", **claims}, OctKey.import_key(SECRET))
    if is_good:
        assert await reader.account_of(token) == "alice"
    else:
        # Who signed it is ours, so it is no guess.
        with pytest.raises(ApiError) as refused:
            await reader.account_of(token)
        assert refused.value.code == "auth_invalid_token" and not isinstance(refused.value, Wrong)


def part(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


VALUES: Any = st.one_of(st.none(), st.integers(), st.text(max_size=8), st.lists(st.text(max_size=4)), st.sampled_from(HMAC))
NAMES = st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk", "jku", "zip", "enc"])
HEADS = st.one_of(st.binary(max_size=40), st.builds(dumps, st.dictionaries(NAMES, VALUES)))
BYTES = st.binary(max_size=40)
PARTS = st.builds(lambda *parts: ".".join(map(part, parts)), HEADS, BYTES, BYTES)


@given(st.one_of(st.text(max_size=80), PARTS))
def test_any_text_is_refused_as_a_guess(token: str) -> None:
    reader = TokenReader(HMAC, "account_id", Clock(), secret=SECRET)
    with pytest.raises(Wrong) as refused:
        asyncio.run(reader.account_of(token))
    assert (refused.value.status, refused.value.code) == (403, "auth_invalid_token")
    assert SECRET not in refused.value.message
