"""In whose name a request is made: the table of TavernHeadless' contract, part 5.1, and what keys may not do."""

import asyncio
import base64
import hmac
import time
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey
from multidict import CIMultiDict

from agentui.accounts.authentication import BELIEVED_SECONDS
from agentui.http.credentials import SIGN_IN_COOKIE
from agentui.http.keys import AUTHENTICATOR
from agentui.jsonio import Json, dumps, loads
from tests.accounts.conftest import ALICE, BOB, NOBODY, TOKEN, StartTeam, Team, bearer, eventually
from tests.api.callers import DIALECTS, Caller, error_of, text_of
from tests.costs import counting
from tests.upstreams.server import API_KEY, Mock

SECRET = "a-secret-of-more-than-32-characters!"
DIALECT_PATHS = ("/v1/chat/completions", "/v1/messages", "/v1beta/models/text:generateContent", "/sessions", "/no/such/route")


def token(claims: Json, secret: str = SECRET, alg: str = "HS256", **head: Json) -> str:
    return jwt.encode({"alg": alg, **head}, claims, OctKey.import_key(secret), algorithms=[alg])


def signed_by_hand(head: Json, claims: Json, secret: bytes) -> str:
    """A token that libraries refuse to make."""
    parts = [base64.urlsafe_b64encode(dumps(each)).rstrip(b"=") for each in (head, claims)]
    signature = hmac.new(secret, b".".join(parts), "sha256").digest()
    return b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()


async def codes(team: Team, **shows: str) -> tuple[int, str]:
    """How the memory's API refuses, which is how every route does."""
    answer = await team.person(**shows).get("/sessions")
    return answer.status, "" if answer.status == 200 else answer.code


async def test_by_keys_the_table_of_answers_holds(team: Team) -> None:
    assert await codes(team) == (401, "auth_required")
    assert await codes(team, **bearer("no-such-key-at-all")) == (403, "auth_invalid_credentials")
    assert await codes(team, **bearer(NOBODY)) == (403, "auth_account_unresolved")
    assert await codes(team, **bearer(ALICE)) == (401, "auth_account_not_found")
    await team.account("alice")
    assert await codes(team, **bearer(ALICE)) == (200, "")
    assert await codes(team, x_api_key=ALICE) == (200, "")
    # The header is a hint only, in either direction (seed 001).
    assert await codes(team, x_account_id="default-admin", **bearer(BOB)) == (401, "auth_account_not_found")
    seen = await team.person(x_account_id="bob", **bearer(ALICE)).get("/clients")
    assert [client["account_id"] for client in seen.body["items"]] == ["alice"]
    await team.operator.call("PATCH", "/accounts/alice", {"status": "disabled"}, {})
    assert await codes(team, **bearer(ALICE)) == (403, "auth_account_disabled")
    for path in ("/health", "/version", "/openapi.json"):
        assert (await team.person().get(path)).status == 200
    # Whoever is not let in learns of no route whether it is there.
    assert (await team.person().get("/no/such/route")).code == "auth_required"
    assert (await team.operator.get("/no/such/route")).status == 404


async def test_by_tokens_the_table_of_answers_holds(start_team: StartTeam) -> None:
    team = await start_team(auth_mode="jwt", auth_jwt_secret=SECRET, token_attempts=0)
    now = int(time.time())
    good = {"account_id": "alice", "exp": now + 600}
    assert await codes(team) == (401, "auth_required")
    assert await codes(team, **bearer(token(good))) == (401, "auth_account_not_found")
    await team.account("alice")
    assert await codes(team, **bearer(token(good))) == (200, "")
    assert await codes(team, **bearer(token(good, alg="HS512"))) == (200, "")
    # What a token says of a role makes nobody an admin.
    admin = await team.person(**bearer(token({**good, "role": "admin"}))).get("/accounts")
    assert admin.code == "account_forbidden"

    head, claims, signature = token(good).split(".")
    rsa, ec = RSAKey.generate_key(2048), ECKey.generate_key("P-256")
    unsigned = token({"account_id": "alice"}).split(".")[1]
    none = "eyJhbGciOiJub25lIn0"
    bad = {
        "junk": "not-a-token-at-all",
        "unsigned": f"{none}.{unsigned}.",
        "none in capitals": f"eyJhbGciOiJOT05FIn0.{unsigned}.",
        "none with a signature": f"{none}.{claims}.{signature}",
        "another secret": token(good, "x" * 40),
        "cut": f"{head}.{claims}.{signature[:-2]}",
        "other claims": f"{head}.{token({'account_id': 'bob'}).split('.')[1]}.{signature}",
        "expired": token({**good, "exp": now - 60}),
        "not yet": token({**good, "nbf": now + 600}),
        "from tomorrow": token({**good, "iat": now + 86_400}),
        "expires never and nowhere": token({**good, "exp": "never"}),
        "no object": jwt.encode({"alg": "HS256"}, good, OctKey.import_key(SECRET)).replace(claims, "WzFd"),
        "RS256": jwt.encode({"alg": "RS256"}, good, rsa),
        "ES256": jwt.encode({"alg": "ES256"}, good, ec),
        "a key that it brings along": jwt.encode({"alg": "RS256", "jwk": loads(dumps(rsa.as_dict(private=False)))}, good, rsa),
        "kid of a file": token(good, "x" * 40, kid="../../../../dev/null"),
        "kid of an empty secret": token(good, "x" * 40, kid="' UNION SELECT ''--"),
        "address of keys": token(good, "x" * 40, jku="http://127.0.0.1:1/keys"),
        "critical": token(good) and f"{head}.{claims}.{signature}.x",
        "deep": f"{'[' * 5000}.{claims}.{signature}",
        "long": f"{head}.{'x' * 7000}.{signature}",
        "not ASCII": f"{head}.\u00e9.{signature}",
    }
    for name, each in bad.items():
        assert await codes(team, **bearer(each)) == (403, "auth_invalid_token"), name
    for claim in ({}, {"account_id": ""}, {"account_id": 7}, {"account_id": None}, {"sub": "alice"}, {"account_id": "x" * 121}):
        assert await codes(team, **bearer(token({"exp": now + 600, **claim}))) == (403, "auth_account_unresolved"), claim
    await team.operator.call("PATCH", "/accounts/alice", {"status": "disabled"}, {})
    assert await codes(team, **bearer(token(good))) == (403, "auth_account_disabled")


async def test_a_claim_an_issuer_and_an_audience_may_be_chosen(start_team: StartTeam) -> None:
    chosen = {"auth_jwt_account_claim": "sub", "auth_jwt_issuer": "https://id.example", "auth_jwt_audience": "agentui"}
    team = await start_team(auth_mode="jwt", auth_jwt_secret=SECRET, **chosen)
    await team.account("alice")
    good = {"sub": "alice", "iss": "https://id.example", "aud": ["other", "agentui"]}
    assert await codes(team, **bearer(token(good))) == (200, "")
    for wrong in ({"iss": "https://evil.example"}, {"aud": "other"}, {"aud": None}):
        assert await codes(team, **bearer(token({**good, **wrong}))) == (403, "auth_invalid_token"), wrong


async def test_public_keys_check_tokens_and_nothing_else_does(start_team: StartTeam, tmp_path: Any) -> None:
    old, new, rogue = (RSAKey.generate_key(2048, {"kid": kid}) for kid in ("old", "new", "new"))
    shared = OctKey.import_key(SECRET, {"kid": "shared"})
    file = tmp_path / "jwks.json"
    file.write_bytes(dumps({"keys": [old.as_dict(private=False), new.as_dict(private=False), shared.as_dict()]}))
    team = await start_team(auth_mode="jwt", auth_jwt_jwks=str(file), auth_jwt_algorithms="RS256", token_attempts=0)
    await team.account("alice")
    claims = {"account_id": "alice"}
    for key in (old, new):
        assert await codes(team, **bearer(jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key))) == (200, "")
    confused = signed_by_hand({"alg": "HS256", "kid": "new"}, claims, new.as_pem(private=False))
    for wrong in (
        jwt.encode({"alg": "RS256", "kid": "new"}, claims, rogue),
        jwt.encode({"alg": "RS256", "kid": "unknown"}, claims, new),
        jwt.encode({"alg": "RS512", "kid": "new"}, claims, new, algorithms=["RS512"]),
        # The public key as a secret of HMAC, and a secret that stands in a public document.
        confused,
        jwt.encode({"alg": "HS256", "kid": "shared"}, claims, shared),
    ):
        assert await codes(team, **bearer(wrong)) == (403, "auth_invalid_token")


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_clients_key_comes_in_where_every_dialect_puts_its_own_and_goes_no_further(
    start_team: StartTeam, mock: Mock, dialect: str, caplog: pytest.LogCaptureFixture
) -> None:
    team = await start_team(log_requests=True)
    await team.account("alice")
    secret = (await team.key(team.person(**bearer(ALICE))))["secret"]
    origin = team.server.origin
    ways = [
        Caller(dialect, origin, key=secret),
        Caller(dialect, origin, key="sk-upstream-key-0123", headers={"x-tavern-client-key": secret}),
        Caller(dialect, origin, key="sk-upstream-key-0123", query=f"key={secret}"),
        Caller(dialect, origin, key="", headers={"authorization": f"bearer  {secret}", "x-api-key": secret}),
    ]
    for way in ways:
        for stream in (False, True):
            got = await way.ask(stream=stream)
            # The mock knows no such key, or none at all: it is asked, and says so.
            assert got.status in (200, 400, 401, 403), got.body
            sent = mock.last
            assert secret not in f"{sent.path} {dict(sent.headers)} {sent.raw.decode()}"
            assert secret.encode() not in got.body
    assert secret not in caplog.text
    runs = await team.operator.get("/api/runs")
    for run in runs.body:
        for part in ("", "/request", "/events"):
            async with team.http.get(f"{origin}/api/runs/{run['id']}{part}", headers={"x-agentui-token": TOKEN}) as shown:
                assert secret not in await shown.text()
    refused = await Caller(dialect, origin, key=f"{secret[:-1]}~").ask()
    assert refused.status == 401 and "client's key" in error_of(dialect, refused.json)
    nothing = await Caller(dialect, origin, key="").ask()
    assert nothing.status == 401 and "Sign in" in error_of(dialect, nothing.json)


async def test_a_clients_key_wins_over_all_else_and_is_asked_for_in_every_mode(start_team: StartTeam, engine: str) -> None:
    settings: dict[str, Any] = {
        "auth_mode": "off",
        "account_mode": "single",
        "auth_api_keys": None,
        "auth_api_key_accounts": None,
    }
    team = await start_team(**settings, token=None)
    everybody = team.person()
    made = await team.key(everybody)
    holder = team.person(**bearer(made["secret"]))
    assert (await everybody.get("/clients")).status == 200
    assert (await holder.get("/clients")).code == "client_management_actor_invalid"
    await everybody.post(f"/clients/{made['item']['client_id']}/disable")
    assert await codes(team, **bearer(made["secret"])) == (401, "client_api_key_invalid")
    for shows in ({"x_tavern_client_key": "tvk_live_nothing"}, {"x_tavern_client_key": "x"}, {"x_tavern_client_key": ""}):
        assert await codes(team, **shows) == (401, "client_api_key_invalid")


async def test_keys_end_by_every_way_there_is(team: Team) -> None:
    await team.account("alice")
    alice = team.person(**bearer(ALICE))
    client = (await alice.made("/clients", name="Laptop"))["item"]["id"]
    refused = (401, "client_api_key_invalid")

    async def key(**fields: Json) -> tuple[str, str]:
        made = await team.key(alice, client, **fields)
        assert await codes(team, **bearer(made["secret"])) == (200, "")
        return made["item"]["id"], made["secret"]

    id, secret = await key()
    await alice.post(f"/clients/{client}/api-keys/{id}/revoke")
    assert await codes(team, **bearer(secret)) == refused
    _, short = await key(expires_at=time.time_ns() // 1_000_000 + 1500)
    id, first = await key()
    second = (await alice.made(f"/clients/{client}/api-keys/{id}/rotate", overlap_seconds=600))["secret"]
    assert [await codes(team, **bearer(each)) for each in (first, second)] == [(200, ""), (200, "")]
    rotated = await alice.made(f"/clients/{client}/api-keys/{id}/rotate")
    assert rotated["item"]["id"] == id and rotated["item"]["key_prefix"] == rotated["secret"][:18]
    found = [await codes(team, **bearer(each)) for each in (first, second, rotated["secret"])]
    assert found == [refused, refused, (200, "")]
    await alice.post(f"/clients/{client}/disable")
    assert await codes(team, **bearer(rotated["secret"])) == refused
    await alice.post(f"/clients/{client}/enable")
    assert await codes(team, **bearer(rotated["secret"])) == (200, "")
    await team.operator.call("PATCH", "/accounts/alice", {"status": "disabled"}, {})
    assert await codes(team, **bearer(rotated["secret"])) == refused
    await team.operator.call("PATCH", "/accounts/alice", {"status": "active"}, {})

    async def has_expired() -> bool:
        return await codes(team, **bearer(short)) == refused

    await eventually(has_expired)
    assert await codes(team, **bearer(rotated["secret"])) == (200, "")


async def test_what_somebody_else_changed_in_the_database_counts_within_a_second(team: Team) -> None:
    await team.account("alice")
    alice = team.person(**bearer(ALICE))
    made = await team.key(alice)
    assert await codes(team, **bearer(made["secret"])) == (200, "")
    assert BELIEVED_SECONDS < 1
    # As the shell does, which no server hears.
    await team.server.state.store.write(
        lambda db: db.exec_driver_sql(f"UPDATE client_keys SET status = 'revoked' WHERE id = '{made['item']['id']}'").rowcount
    )
    begun = time.monotonic()
    while await codes(team, **bearer(made["secret"])) == (200, ""):
        assert time.monotonic() - begun < 60


async def test_its_last_use_is_noted_once_a_minute(team: Team) -> None:
    made = await team.key(team.operator)
    path = f"/clients/{made['item']['client_id']}/api-keys"

    async def used() -> int | None:
        last: int | None = (await team.operator.get(path)).body["items"][0]["last_used_at"]
        return last

    async def is_noted() -> bool:
        return await used() is not None

    await codes(team, **bearer(made["secret"]))
    await eventually(is_noted)
    first = await used()
    for _ in range(3):
        await codes(team, **bearer(made["secret"]))
    assert await used() == first
    # Many at once are one use.
    fresh = await team.key(team.operator, made["item"]["client_id"])
    with counting() as counted, counted.all() as costs:
        asked = await asyncio.gather(*(codes(team, **bearer(fresh["secret"])) for _ in range(20)))
        await team.server.app[AUTHENTICATOR].close()
    assert set(asked) == {(200, "")}
    assert len([statement for statement in costs.built if statement.startswith("UPDATE client_keys")]) == 1


async def test_guesses_are_few(start_team: StartTeam) -> None:
    team = await start_team(token_attempts=3)
    await team.account("alice")
    for guess in ("tvk_live_guess-1", "static-guess-2"):
        assert (await codes(team, **bearer(guess)))[0] in (401, 403)
    # Who has a key that only ended, or whose account is not there, guesses nothing.
    for _ in range(5):
        assert await codes(team, **bearer(BOB)) == (401, "auth_account_not_found")
    assert await codes(team, **bearer("static-guess-3")) == (403, "auth_invalid_credentials")
    assert (await codes(team, **bearer(ALICE)))[0] == 429


async def test_providers_keys_pass_beside_the_servers_own(team: Team, mock: Mock) -> None:
    secret = (await team.key(team.operator))["secret"]
    got = await Caller("openai", team.server.origin, headers={"x-tavern-client-key": secret}).ask()
    assert got.status == 200 and text_of("openai", got.json)
    got = await Caller("openai", team.server.origin, headers={"x-agentui-token": TOKEN}).ask()
    assert got.status == 200
    assert "x-tavern-client-key" not in mock.last.headers


async def test_what_stands_beside_the_credential_that_counts_goes_no_further_either(team: Team, mock: Mock) -> None:
    await team.account("alice")
    client_key = (await team.key(team.operator))["secret"]
    cookie = f"{SIGN_IN_COOKIE}=what-a-browser-keeps-0123"
    ways: list[dict[str, str]] = [
        {"x-tavern-client-key": client_key, **bearer(ALICE)},
        {"x-tavern-client-key": client_key, **bearer(BOB), "x-api-key": TOKEN, "cookie": cookie},
        {"x-agentui-token": TOKEN, **bearer(ALICE), "x-goog-api-key": BOB},
        {"x-api-key": ALICE, "authorization": f"Bearer {BOB}, Bearer sk-provider-key"},
    ]
    for shows in ways:
        for dialect in ("openai", "gemini"):
            await Caller(dialect, team.server.origin, key="", headers=shows).ask()
            sent = f"{mock.last.path} {dict(mock.last.headers)} {mock.last.raw.decode()}"
            (run, *_) = (await team.operator.get("/api/runs")).body
            seen = sent + (await team.operator.get(f"/api/runs/{run['id']}/request")).text
            for secret in (client_key, ALICE, BOB, TOKEN, "what-a-browser-keeps"):
                assert secret not in seen, (shows, secret)
    # What is none of ours goes on.
    got = await Caller("openai", team.server.origin, headers={"x-agentui-token": ALICE}).ask()
    assert got.status == 200 and API_KEY in mock.last.headers["authorization"]


async def test_a_second_token_of_this_server_goes_no_further(start_team: StartTeam, mock: Mock) -> None:
    team = await start_team(auth_mode="jwt", auth_jwt_secret=SECRET, token_attempts=0)
    await team.account("alice")
    good, old, foreign = (
        token({"account_id": "alice"}),
        token({"account_id": "alice", "exp": 1}),
        token({"account_id": "alice"}, "x" * 40),
    )
    for first, second in ((good, token({"account_id": "bob"})), (good, old), (old, good), (TOKEN, good)):
        await Caller("openai", team.server.origin, key=second, headers={"x-agentui-token": first}).ask()
        assert second not in str(dict(mock.last.headers))
    # A provider's keys may look like tokens.
    await Caller("openai", team.server.origin, key=foreign, headers={"x-agentui-token": good}).ask()
    assert foreign in mock.last.headers["authorization"]


async def test_where_nobody_signs_in_a_client_key_is_seen_in_every_header_and_taken_for_none_elsewhere(
    start_team: StartTeam, mock: Mock
) -> None:
    settings: dict[str, Any] = {"auth_mode": "off", "account_mode": "single", "auth_api_keys": None}
    team = await start_team(**settings, auth_api_key_accounts=None, token=None)
    everybody = team.person()
    made = await team.key(everybody)
    twice = CIMultiDict([("authorization", "Bearer sk-provider-key"), ("authorization", f"Bearer {made['secret']}")])
    body = {"model": "text", "messages": [{"role": "user", "content": "Hello"}]}
    async with team.http.post(f"{team.server.origin}/v1/chat/completions", json=body, headers=twice) as answer:
        await answer.read()
    assert made["secret"] not in str(dict(mock.last.headers))
    # The words are no key where no key stands.
    assert (await everybody.get("/characters?keyword=tvk_live_")).status == 200
    assert (await everybody.get("/sessions", authorization="Basic tvk_live_0123")).status == 200


async def test_a_claim_that_no_database_takes_names_no_account(start_team: StartTeam) -> None:
    team = await start_team(auth_mode="jwt", auth_jwt_secret=SECRET)
    halved = rb'{"account_id": "alice\ud800"}'
    parts = [base64.urlsafe_b64encode(each).rstrip(b"=") for each in (b'{"alg":"HS256"}', halved)]
    signature = base64.urlsafe_b64encode(hmac.digest(SECRET.encode(), b".".join(parts), "sha256")).rstrip(b"=")
    signed = b".".join([*parts, signature]).decode()
    assert await codes(team, **bearer(signed)) == (403, "auth_account_unresolved")


async def test_a_program_that_goes_on_with_a_revoked_key_shuts_out_nobody(start_team: StartTeam) -> None:
    team = await start_team(token_attempts=3)
    made = await team.key(team.operator)
    await team.operator.post(f"/clients/{made['item']['client_id']}/api-keys/{made['item']['id']}/revoke")
    for _ in range(6):
        assert await codes(team, **bearer(made["secret"])) == (401, "client_api_key_invalid")
    assert await codes(team, x_agentui_token=TOKEN) == (200, "")


async def test_one_account_is_everybodys_where_there_is_one(start_team: StartTeam) -> None:
    team = await start_team(account_mode="single")
    assert await codes(team, **bearer(NOBODY)) == (200, "")
    # A key for another account would be an admin's here.
    assert await codes(team, **bearer(ALICE)) == (403, "auth_account_unresolved")
