"""A key that is revoked is dead at once: in every worker, and in the middle of what it has begun."""

import asyncio
import time
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import aiohttp
import pytest
from sqlalchemy import update

from agentui.accounts.tokens import LEEWAY
from agentui.http.credentials import SIGN_IN_COOKIE
from agentui.store.tables import accounts, client_keys
from tests.accounts.conftest import ALICE, TOKEN, StartTeam, Team, bearer, eventually
from tests.accounts.test_authentication import SECRET, token
from tests.accounts.test_sign_in import PASSWORD, browser, signed_in
from tests.api.callers import DIALECTS, Caller, error_of
from tests.conftest import call
from tests.test_workers import OFTEN, Crew, own_crew
from tests.upstreams.server import API_KEY, Mock


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_stream_ends_with_its_key_and_says_so(team: Team, mock: Mock, dialect: str) -> None:
    await team.account("alice")
    alice = team.person(**bearer(ALICE))
    made, other = await team.key(alice), await team.key(alice)

    async def asks(key: str) -> asyncio.Task[bytes]:
        caller = Caller(dialect, team.server.origin, headers={"x-tavern-client-key": key})
        sent = len(mock.requests)
        asked = asyncio.create_task(caller.ask(model="forever", stream=True))

        async def has_come() -> bool:
            return len(mock.requests) > sent

        await eventually(has_come)
        return asyncio.create_task(body_of(asked))

    async def body_of(asked: "asyncio.Task[object]") -> bytes:
        return (await asked).body  # type: ignore[attr-defined]

    ends, goes_on = await asks(made["secret"]), await asks(other["secret"])
    feed = await team.http.get(f"{team.server.origin}/api/runs/live", headers=bearer(made["secret"]))
    async with feed:
        await alice.post(f"/clients/{made['item']['client_id']}/api-keys/{made['item']['id']}/revoke")
        async with asyncio.timeout(60):
            told = await ends
            with pytest.raises(aiohttp.ClientError):
                while await feed.content.readany():
                    pass
                raise aiohttp.ClientPayloadError  # a feed that ends in good order is over as well
    assert b"revoked" in told
    await mock.was_aborted(1)
    assert not goes_on.done()
    # The account's other keys end with the account.
    await team.operator.call("PATCH", "/accounts/alice", {"status": "disabled"}, {})
    async with asyncio.timeout(60):
        assert b"disabled" in await goes_on
    refused = await Caller(dialect, team.server.origin, key=made["secret"]).ask()
    assert refused.status == 401 and "client's key" in error_of(dialect, refused.json)


async def test_what_was_begun_ends_with_what_let_it_in_whoever_ends_that(team: Team, mock: Mock) -> None:
    for account, fields in {"alice": {}, "bob": {"role": "admin"}, "carol": {}}.items():
        await team.account(account, **fields)
        assert (await team.operator.put(f"/accounts/{account}/password", {"password": PASSWORD})).status == 200
    assert (await team.operator.put("/accounts/default-admin/password", {"password": PASSWORD})).status == 200
    alice, origin = team.person(**bearer(ALICE)), team.server.origin
    cookies = {account: await signed_in(team, account) for account in ("alice", "bob", "carol", "default-admin")}
    keys = {name: await team.key(alice) for name in ("rotated", "overlapping", "good")}

    async with AsyncExitStack() as stack:

        async def feed(**headers: str) -> asyncio.Task[None]:
            """A feed of events, which is read to its end."""
            answer = await stack.enter_async_context(team.http.get(f"{origin}/api/events", headers=headers))
            assert answer.status == 200

            async def read() -> None:
                with suppress(aiohttp.ClientError):
                    while await answer.content.readany():
                        pass

            return asyncio.create_task(read())

        async def feed_of(cookie: str) -> asyncio.Task[None]:
            return await feed(cookie=f"{SIGN_IN_COOKIE}={cookie}")

        async def ends(stream: "asyncio.Task[object]") -> None:
            async with asyncio.timeout(60):
                await stream

        by_key = {name: await feed(**bearer(made["secret"])) for name, made in keys.items()}
        by_sign_in = {account: await feed_of(cookie) for account, cookie in cookies.items()}
        other = await feed_of(await signed_in(team))
        # A sign-in ends: by its owner, and by an admin's reset.
        assert (await browser(team, cookies["alice"]).post("/auth/sign-out", {})).status == 200
        await ends(by_sign_in["alice"])
        assert (await browser(team, cookies["default-admin"]).post("/auth/sign-out", {})).status == 200
        await ends(by_sign_in["default-admin"])
        assert not other.done()
        await team.operator.put("/accounts/alice/password", {"password": PASSWORD})
        await ends(other)
        # A key gets a successor; what has an overlap goes on.
        for name, overlap in (("overlapping", 600), ("rotated", 0)):
            item = keys[name]["item"]
            path = f"/clients/{item['client_id']}/api-keys/{item['id']}/rotate"
            await alice.made(path, overlap_seconds=overlap)
        await ends(by_key["rotated"])
        # Who is an admin no more sees everybody's runs no more, and comes back to see their own.
        await team.operator.call("PATCH", "/accounts/bob", {"role": "user"}, {})
        await ends(by_sign_in["bob"])
        # Nobody tells the server what the shell does, nor what the clock does.
        store = team.server.state.store
        await store.write(
            lambda db: db.execute(update(accounts).where(accounts.c.id == "carol").values(status="disabled")).rowcount
        )
        await ends(by_sign_in["carol"])
        assert not by_key["overlapping"].done() and not by_key["good"].done()
        caller = Caller("openai", origin, headers={"x-tavern-client-key": keys["good"]["secret"]})
        run = asyncio.create_task(caller.ask(model="forever", stream=True))
        await eventually(lambda: asyncio.sleep(0, bool(mock.requests)))
        ended = update(client_keys).where(client_keys.c.id == keys["good"]["item"]["id"]).values(expires_at=1)
        await store.write(lambda db: db.execute(ended).rowcount)
        await ends(by_key["good"])
        async with asyncio.timeout(60):
            assert b"has ended" in (await run).body
        assert not by_key["overlapping"].done()


async def test_a_feed_ends_with_the_token_that_began_it(start_team: StartTeam) -> None:
    team = await start_team(auth_mode="jwt", auth_jwt_secret=SECRET)
    await team.account("alice")
    url = f"{team.server.origin}/api/events"
    # It is good for two seconds more, for clocks may differ.
    short = token({"account_id": "alice", "exp": time.time() + 2 - LEEWAY})
    async with AsyncExitStack() as stack:
        ends, goes_on = [
            await stack.enter_async_context(team.http.get(url, headers=bearer(each)))
            for each in (short, token({"account_id": "alice"}))
        ]
        async with asyncio.timeout(60):
            with suppress(aiohttp.ClientError):
                while await ends.content.readany():
                    pass
        assert goes_on.status == 200 and not goes_on.content.at_eof()


@pytest.mark.timeout(300)
async def test_every_worker_knows_at_once_and_ends_what_it_does_for_the_key(tmp_path: Path, mock: Mock, database: str) -> None:
    env = {
        "AGENTUI_TOKEN": TOKEN,
        "AGENTUI_AUTH_MODE": "api_key",
        "AGENTUI_ACCOUNT_MODE": "multi",
        "AGENTUI_DATABASE_URL": database,
    }
    async with own_crew(tmp_path, call("caller", mock.origin), **env) as crew:
        status, _, _ = await crew.call("POST", "/accounts", {"id": "alice", "name": "Alice"})
        assert status == 201
        status, _, made = await crew.call("POST", "/clients/cli_default_default-admin/api-keys", {})
        assert status == 201
        alone = Crew(crew.server, aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True, limit=0)))
        shows = {"x-tavern-client-key": made["secret"]}
        async with alone.http, AsyncExitStack() as stack:
            # Nobody is let in without anything, by any worker, and each worker has seen the key.
            assert {(await alone.call("GET", "/api/runs"))[0] for _ in range(OFTEN)} == {401}
            assert {(await alone.call("GET", "/api/runs", headers=shows))[0] for _ in range(OFTEN)} == {200}
            streams = []
            while len({answer.headers["x-agentui-run"].rpartition("-")[2] for answer in streams}) < 2:
                body = {"model": "forever", "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
                headers = {**shows, "authorization": f"Bearer {API_KEY}"}
                asked = alone.http.post(f"{crew.origin}/v1/chat/completions", json=body, headers=headers)
                streams.append(await stack.enter_async_context(asked))
            key = f"/clients/cli_default_default-admin/api-keys/{made['item']['id']}"
            # What it is kept to counts as fast; what it has begun goes on.
            for routes, told in ((["chat"], 403), (None, 200)):
                assert (await crew.call("PATCH", key, {"restrictions": {"routes": routes}}))[0] == 200
                assert {(await alone.call("GET", "/api/runs", headers=shows))[0] for _ in range(OFTEN)} == {told}
            assert (await crew.call("POST", f"{key}/revoke", {}))[0] == 200
            assert {(await alone.call("GET", "/api/runs", headers=shows))[0] for _ in range(OFTEN)} == {401}
            async with asyncio.timeout(120):
                for answer in streams:
                    assert b"revoked" in await answer.read()


@pytest.mark.timeout(300)
async def test_a_key_in_the_query_shows_its_own_account_in_every_worker(tmp_path: Path, mock: Mock, database: str) -> None:
    env = {
        "AGENTUI_TOKEN": TOKEN,
        "AGENTUI_AUTH_MODE": "api_key",
        "AGENTUI_ACCOUNT_MODE": "multi",
        "AGENTUI_AUTH_API_KEY_ACCOUNTS": f"{ALICE}:alice",
        "AGENTUI_DATABASE_URL": database,
    }
    async with own_crew(tmp_path, call("caller", mock.origin), **env) as crew:
        assert (await crew.call("POST", "/accounts", {"id": "alice", "name": "Alice"}))[0] == 201
        connector = aiohttp.TCPConnector(force_close=True, limit=0)
        alices = aiohttp.ClientSession(connector=connector, headers={"x-agentui-token": ALICE})
        async with alices, aiohttp.ClientSession(connector=connector, connector_owner=False) as http:
            async with http.get(f"{crew.origin}/api/runs/live?key={ALICE}") as feed:
                assert feed.status == 200
                theirs = set((await crew.one_run_each()).values())
                own = set((await Crew(crew.server, alices).one_run_each()).values())
                told = ""
                async with asyncio.timeout(120):
                    while not all(run in told for run in own):
                        told += (await feed.content.readany()).decode()
            assert not any(run in told for run in theirs)
            async with http.get(f"{crew.origin}/api/runs?key={ALICE}") as listed:
                seen = {run["id"] for run in await listed.json()}
            assert own <= seen and not theirs & seen
