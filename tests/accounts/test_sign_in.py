"""People sign in to the page, and nobody else does it for them."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import ClientSession, CookieJar
from sqlalchemy import select

from agentui.accounts.codes import Wrong
from agentui.accounts.passwords import Passwords, change_password, find_password
from agentui.accounts.sign_in import Begun, Proven, SignInService
from agentui.api.accounts.attempts import PER_ACCOUNT, PER_ADDRESS
from agentui.api.keys import SIGN_INS
from agentui.errors import ApiError
from agentui.http.credentials import SIGN_IN_COOKIE
from agentui.http.keys import AUTHENTICATOR
from agentui.ids import SystemClock
from agentui.jsonio import Json
from agentui.store.tables import passwords, sign_ins
from tests.accounts.conftest import Person, StartTeam, Team
from tests.api.callers import Caller
from tests.upstreams.server import Mock

PASSWORD = "correct horse battery"


def browser(team: Team, cookie: str = "", **shows: str) -> Person:
    """A browser with the page of this server open, and with this cookie."""
    kept = {"cookie": f"theme=dark; {SIGN_IN_COOKIE}={cookie}"} if cookie else {}
    return team.person(**{"origin": team.server.origin, **kept, **shows})


async def signed_in(team: Team, account: str = "alice", password: str = PASSWORD, before: str = "") -> str:
    """Sign in: what the browser keeps."""
    answer = await browser(team, before).post("/auth/sign-in", {"account": account, "password": password})
    assert answer.status == 200, answer.text
    return cookie_of(answer.headers["Set-Cookie"])


def cookie_of(header: str) -> str:
    found = re.match(rf"{SIGN_IN_COOKIE}=([\w-]+);", header)
    assert found is not None, header
    return found[1]


@pytest.fixture
async def house(start_team: StartTeam) -> Team:
    """A server on which Alice and an admin called Root have passwords."""
    team = await start_team(token_attempts=0)
    await team.account("alice")
    await team.account("root", role="admin")
    for account in ("alice", "root", "default-admin"):
        assert (await team.operator.put(f"/accounts/{account}/password", {"password": PASSWORD})).status == 200
    return team


async def test_who_signs_in_is_who_asks_until_signed_out(house: Team) -> None:
    assert (await house.person().get("/auth/ways")).body["data"] == {
        "auth_mode": "api_key",
        "account_mode": "multi",
        "ways": ["password"],
        "provider_name": None,
        "public_url": None,
    }
    answer = await browser(house).post("/auth/sign-in", {"account": "alice", "password": PASSWORD}, user_agent="Firefox")
    told = {"account_id": "alice", "name": "Alice", "role": "user", "may_edit": False, "client_id": None, "key_id": None}
    assert answer.body == {"data": told}
    header = answer.headers["Set-Cookie"]
    for word in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"):
        assert word in header
    assert "Secure" not in header
    cookie = cookie_of(header)
    alice = browser(house, cookie)
    assert (await alice.get("/auth/me")).body == {"data": told}
    assert (await alice.post("/sessions", {"title": "Mine"})).status == 201
    assert (await alice.get("/accounts")).code == "account_forbidden"
    # A person makes keys, which a key does not.
    made = (await alice.post("/clients/cli_default_alice/api-keys", {"name": "phone"})).body
    assert [key["id"] for key in (await alice.get("/auth/keys")).body["items"]] == [made["item"]["id"]]
    (listed,) = (await alice.get("/auth/sign-ins")).body["data"]
    assert (listed["device"], listed["method"], listed["is_this"]) == ("Firefox", "password", True)
    out = await alice.post("/auth/sign-out", {})
    assert out.status == 200 and "Max-Age=0" in out.headers["Set-Cookie"]
    assert (await alice.get("/auth/me")).code == "auth_required"


async def test_every_sign_in_is_new_and_the_one_before_is_over(house: Team) -> None:
    planted = "planted-by-somebody-else"
    first = await signed_in(house, before=planted)
    second = await signed_in(house, before=first)
    assert len({planted, first, second}) == 3
    assert [(await browser(house, each).get("/auth/me")).status for each in (planted, first, second)] == [401, 401, 200]
    tables = (sign_ins, passwords)
    kept = await house.server.state.store.read(lambda db: [tuple(row) for each in tables for row in db.execute(select(each))])
    assert second not in repr(kept) and PASSWORD not in repr(kept)


async def test_a_cookie_writes_from_the_servers_own_page_only(house: Team) -> None:
    cookie = await signed_in(house)
    own = house.server.origin
    elsewhere: list[dict[str, str]] = [
        {"origin": "http://127.0.0.1:1"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": own.replace("127.0.0.1", "localhost")},
    ]
    for shows in elsewhere:
        assert (await browser(house, cookie, **shows).post("/sessions", {})).status == 403, shows
    bare = house.person(cookie=f"{SIGN_IN_COOKIE}={cookie}")
    for site, status in (("cross-site", 403), ("same-site", 403), ("none", 403), ("same-origin", 201)):
        assert (await bare.post("/sessions", {}, sec_fetch_site=site)).status == status, site
    # A program that says nothing of where it comes from has keys for that.
    assert (await bare.post("/sessions", {})).status == 403
    assert (await bare.get("/sessions")).status == 200
    assert (await bare.call("DELETE", "/sessions/x", None, {})).status == 403
    secure = await browser(house, origin=own.replace("http:", "https:")).post(
        "/auth/sign-in", {"account": "alice", "password": PASSWORD}
    )
    assert "Secure" in secure.headers["Set-Cookie"]


async def test_an_allowed_origin_reads_and_writes_nothing_by_a_cookie(start_team: StartTeam) -> None:
    team = await start_team(cors_origins="http://localhost:3000")
    await team.account("alice")
    await team.operator.put("/accounts/alice/password", {"password": PASSWORD})
    cookie = await signed_in(team)
    refused = await browser(team, cookie, origin="http://localhost:3000").post("/sessions", {})
    assert refused.status == 403
    read = await browser(team, cookie, origin="http://localhost:3000").get("/sessions")
    assert "Access-Control-Allow-Credentials" not in read.headers


async def test_what_is_wrong_is_told_in_the_same_words(house: Team) -> None:
    await house.operator.call("PATCH", "/accounts/root", {"status": "disabled"}, {})
    said: list[dict[str, Any]] = [
        {"account": "alice", "password": "wrong horse"},
        {"account": "nobody", "password": PASSWORD},
        {"account": "alice"},
        {"password": PASSWORD},
        {},
        {"account": "alice", "password": ""},
    ]
    texts = set()
    for body in said:
        answer = await browser(house).post("/auth/sign-in", body)
        assert (answer.status, answer.code) == (401, "sign_in_failed"), body
        assert "Set-Cookie" not in answer.headers
        texts.add(answer.text)
    assert len(texts) == 1
    # Who knows the password may know that it is of no use.
    assert (
        await browser(house).post("/auth/sign-in", {"account": "root", "password": PASSWORD})
    ).code == "auth_account_disabled"
    assert (await browser(house).post("/auth/sign-in", {"way": "magic"})).code == "sign_in_way_unknown"
    assert (await house.person(origin="https://evil.example").post("/auth/sign-in", said[0])).status == 403


async def test_passwords_are_tried_a_few_times_a_minute(house: Team) -> None:
    for number in range(PER_ADDRESS):
        answer = await browser(house).post("/auth/sign-in", {"account": "Alice" if number % 2 else "alice", "password": "x"})
        assert answer.code == "sign_in_failed"
    late = await browser(house).post("/auth/sign-in", {"account": "alice", "password": PASSWORD})
    assert late.status == 429 and int(late.headers["retry-after"]) >= 1
    assert (await browser(house).post("/auth/sign-in", {"account": "root", "password": PASSWORD})).status == 200


async def test_many_passwords_at_once_are_as_few_as_one_after_another(house: Team) -> None:
    guesses = [browser(house).post("/auth/sign-in", {"account": "alice", "password": f"guess {n}"}) for n in range(40)]
    told = sorted(answer.status for answer in await asyncio.gather(*guesses))
    assert told == [401] * PER_ADDRESS + [429] * (40 - PER_ADDRESS)


async def test_who_guesses_at_an_account_does_not_shut_its_owner_out(start_team: StartTeam) -> None:
    team = await start_team(token_attempts=0, trusted_proxies="127.0.0.1")
    await team.account("alice")
    await team.operator.put("/accounts/alice/password", {"password": PASSWORD})

    async def tries(address: str, password: str) -> int:
        asked = browser(team, x_forwarded_for=address)
        return (await asked.post("/auth/sign-in", {"account": "alice", "password": password})).status

    assert await tries("198.51.100.7", PASSWORD) == 200
    guessed = [await tries("203.0.113.1", f"guess {n}") for n in range(PER_ADDRESS + 1)]
    assert guessed == [401] * PER_ADDRESS + [429]
    assert await tries("198.51.100.8", PASSWORD) == 200  # somebody at a new place
    # Many addresses that guess together are told to wait, and so is a new one; where Alice was before she still gets in.
    for n in range(PER_ACCOUNT):
        await tries(f"192.0.2.{n}", f"guess {n}")
    assert await tries("203.0.113.99", PASSWORD) == 429
    assert [await tries(f"198.51.100.{n}", PASSWORD) for n in (7, 8)] == [200, 200]


async def test_passwords_that_are_tried_at_once_count_before_they_are_looked_at(start_team: StartTeam) -> None:
    team = await start_team(token_attempts=3)
    asked = (browser(team).post("/auth/sign-in", {"account": f"a{n}", "password": "guess"}) for n in range(12))
    assert sorted(answer.status for answer in await asyncio.gather(*asked)) == [401] * 3 + [429] * 9


async def test_a_right_password_and_a_fault_count_as_no_guess(start_team: StartTeam) -> None:
    team = await start_team(token_attempts=3)
    await team.operator.put("/accounts/default-admin/password", {"password": PASSWORD})
    for _ in range(5):
        await signed_in(team, "default-admin")
        assert (await browser(team).post("/auth/sign-in", {"way": "magic"})).status == 400
    assert (await team.operator.get("/sessions")).status == 200


async def test_a_password_that_is_replaced_while_it_is_looked_at_lets_nobody_in(house: Team) -> None:
    """Who knows an old password must not win the race against the reset that takes it away."""
    store, ways = house.server.state.store, house.server.app[SIGN_INS].ways
    (way,) = ways
    proven = await way.finish({"account": "alice", "password": PASSWORD}, None)
    old = await store.read(find_password, "alice")
    assert await store.read(lambda db: proven.account(db, 0)) == "alice"
    assert (await house.operator.put("/accounts/alice/password", {"password": PASSWORD})).status == 200
    # The same words, and yet another password: whoever was signed out by it is to sign in anew.
    assert await store.read(lambda db: proven.account(db, 0)) is None

    @dataclass
    class Slow:
        name: str = "slow"

        async def begin(self) -> Begun:
            return Begun({}, "")

        async def finish(self, said: Mapping[str, Json], kept: str | None) -> Proven:
            return proven

    service = SignInService(store, SystemClock(), (Slow(),), 60)
    with pytest.raises(Wrong):
        await service.sign_in("slow", {}, "", None, is_multi=True)
    with pytest.raises(ApiError) as refused:
        await store.write(change_password, "alice", old, "a hash of the thief's", 1)
    assert refused.value.code == "password_wrong"
    await signed_in(house)


async def test_an_address_guesses_a_few_times_a_minute_whatever_the_account(start_team: StartTeam) -> None:
    team = await start_team(token_attempts=2)
    for account in ("a", "b"):
        assert (await browser(team).post("/auth/sign-in", {"account": account, "password": "guess"})).status == 401
    assert (await browser(team).post("/auth/sign-in", {"account": "c", "password": "guess"})).status == 429
    assert (await team.operator.get("/sessions")).status == 429


async def test_a_new_password_signs_out_everywhere_else(house: Team) -> None:
    here, there = await signed_in(house), await signed_in(house)
    alice, other = browser(house, here), browser(house, there)
    refused = await alice.put("/auth/password", {"password": "another horse", "current_password": "wrong"})
    assert (refused.status, refused.code) == (403, "password_wrong")
    assert (await alice.put("/auth/password", {"password": "short", "current_password": PASSWORD})).code == "validation_error"
    changed = await alice.put("/auth/password", {"password": "another horse", "current_password": PASSWORD})
    assert changed.status == 200
    now = cookie_of(changed.headers["Set-Cookie"])
    assert [(await each.get("/auth/me")).status for each in (alice, other, browser(house, now))] == [401, 401, 200]
    assert (await browser(house).post("/auth/sign-in", {"account": "alice", "password": PASSWORD})).status == 401
    second = await signed_in(house, password="another horse")
    listed = (await browser(house, now).get("/auth/sign-ins")).body["data"]
    assert [each["is_this"] for each in listed] == [False, True]
    assert (await browser(house, now).delete(f"/auth/sign-ins/{listed[0]['id']}")).status == 200
    assert (await browser(house, second).get("/auth/me")).status == 401
    assert (await browser(house, now).delete("/auth/sign-ins/nothing")).code == "sign_in_not_found"
    # An admin's reset, and an account that is disabled, end all of them.
    await house.operator.put("/accounts/alice/password", {"password": PASSWORD})
    assert (await browser(house, now).get("/auth/me")).status == 401
    last = await signed_in(house)
    await house.operator.call("PATCH", "/accounts/alice", {"status": "disabled"}, {})
    assert (await browser(house, last).get("/auth/me")).status == 401


async def test_a_sign_in_ends_by_itself(start_team: StartTeam) -> None:
    team = await start_team()
    await team.operator.put("/accounts/default-admin/password", {"password": PASSWORD})
    cookie = await signed_in(team, "default-admin")
    assert (await browser(team, cookie).get("/auth/me")).status == 200
    await team.server.state.store.write(lambda db: db.execute(sign_ins.update().values(expires_at=1)).rowcount)
    team.server.app[AUTHENTICATOR].forget()
    assert (await browser(team, cookie).get("/auth/me")).status == 401


async def test_keys_win_over_a_sign_in_and_manage_no_passwords(house: Team) -> None:
    cookie = await signed_in(house)
    secret = (await house.key(house.operator))["secret"]
    both = browser(house, cookie, authorization=f"Bearer {secret}")
    assert (await both.get("/auth/me")).body["data"]["account_id"] == "default-admin"
    for method, path in (
        ("PUT", "/accounts/alice/password"),
        ("PUT", "/auth/password"),
        ("GET", "/auth/sign-ins"),
        ("GET", "/auth/keys"),
    ):
        refused = await both.call(method, path, {"password": PASSWORD} if method == "PUT" else None, {})
        assert (refused.status, refused.code) == (403, "client_management_actor_invalid")
    # A key of a provider is none of ours, and goes where the pipeline sends it.
    assert (await browser(house, cookie, authorization="Bearer sk-provider-key").get("/auth/me")).body["data"][
        "account_id"
    ] == "alice"
    assert (await browser(house, cookie).put("/accounts/root/password", {"password": PASSWORD})).code == "account_forbidden"


async def test_the_cookie_goes_to_no_upstream_and_into_no_run(house: Team, mock: Mock) -> None:
    cookie = await signed_in(house)
    headers = {"cookie": f"{SIGN_IN_COOKIE}={cookie}", "origin": house.server.origin}
    got = await Caller("openai", house.server.origin, headers=headers).ask()
    assert got.status == 200, got.body
    assert cookie not in f"{mock.last.headers} {mock.last.raw!r}"
    (run,) = (await house.operator.get("/api/runs")).body
    for part in ("", "/request"):
        assert cookie not in (await house.operator.get(f"/api/runs/{run['id']}{part}")).text


async def test_where_nobody_signs_in_nothing_is_opened_to_say_so(start_team: StartTeam, engine: str) -> None:
    settings: dict[str, Any] = {
        "auth_mode": "off",
        "account_mode": "single",
        "auth_api_keys": None,
        "auth_api_key_accounts": None,
    }
    team = await start_team(**settings, token=None)
    everybody = team.person()
    me = (await everybody.get("/auth/me")).body["data"]
    assert (me["account_id"], me["name"], me["role"], me["may_edit"]) == ("default-admin", None, "admin", True)
    assert (await everybody.get("/auth/ways")).body["data"] == {
        "auth_mode": "off",
        "account_mode": "single",
        "ways": [],
        "provider_name": None,
        "public_url": None,
    }
    assert (await everybody.post("/auth/sign-in", {"account": "default-admin", "password": PASSWORD})).code == "sign_in_off"
    if engine == "sqlite":
        assert not (team.server.data / "agentui.db").exists()
        keyed = await start_team(account_mode="single")
        me = (await keyed.operator.get("/auth/me")).body["data"]
        assert (me["account_id"], me["name"]) == ("default-admin", None)
        assert not (keyed.server.data / "agentui.db").exists()


async def test_a_real_jar_keeps_the_cookie_and_gives_it_back(house: Team) -> None:
    async with ClientSession(house.server.origin, cookie_jar=CookieJar(unsafe=True)) as http:
        own = {"origin": house.server.origin}
        async with http.post("/auth/sign-in", json={"account": "alice", "password": PASSWORD}, headers=own) as answer:
            assert answer.status == 200
        async with http.get("/auth/me") as answer:
            assert (await answer.json())["data"]["account_id"] == "alice"


async def test_passwords_are_the_same_however_a_keyboard_writes_them() -> None:
    checking = Passwords()
    hash = await checking.hash("caf\u00e9 noir")
    assert hash.startswith("$argon2id$") and await checking.matches(hash, "cafe\u0301 noir")
    assert hash != await checking.hash("caf\u00e9 noir")
    assert not await checking.matches(hash, "cafe noir")
    assert not await checking.matches(None, "nobody has this password")
    assert not await checking.matches("no hash at all", "x")
