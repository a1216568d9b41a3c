"""People sign in by passkeys: those of an authenticator in software here, of a real browser in tests/browser."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.accounts.challenges import SECONDS, Challenges
from agentui.accounts.codes import Wrong
from agentui.accounts.passkey_way import PasskeyWay
from agentui.accounts.passkeys import MOST, KnownPasskey
from agentui.api.keys import SERVICES, SIGN_INS
from agentui.errors import ApiError
from agentui.jsonio import Json
from agentui.store.tables import passkeys
from tests.accounts.authenticator import BACKED_UP, PRESENT, VERIFIED, Authenticator, bytes_of, text_of
from tests.accounts.conftest import TOKEN, StartTeam, Team
from tests.accounts.home import HOME, HOST, Browser, browser_of
from tests.accounts.test_tokens import Clock

PASSWORD = "correct horse battery"


@pytest.fixture
async def house(start_team: StartTeam) -> Team:
    """A server at a public address on which Alice and Bob have passwords."""
    team = await start_team(token_attempts=0, public_url=HOME)
    for account in ("alice", "bob"):
        await team.account(account)
        assert (await team.operator.put(f"/accounts/{account}/password", {"password": PASSWORD})).status == 200
    return team


async def by_password(team: Team, account: str = "alice") -> Browser:
    """A browser in which somebody has signed in by a password."""
    browser = browser_of(team)
    assert (await browser.post("/auth/sign-in", {"account": account, "password": PASSWORD})).status == 200
    return browser


async def asked(browser: Browser, path: str, body: Json = None) -> Any:
    """What a browser is to ask its authenticators with."""
    answer = await browser.post(f"{path}/begin", body)
    assert answer.status == 200, answer.text
    return answer.body["data"]["options"]


async def added(browser: Browser, name: str = "Laptop", **fields: Any) -> tuple[Authenticator, str]:
    """A new passkey of who is signed in there, and its id."""
    authenticator = Authenticator(HOME, HOST, **fields)
    made = authenticator.make(await asked(browser, "/auth/passkeys"))
    answer = await browser.made("/auth/passkeys", name=name, credential=made)
    return authenticator, answer["data"]["id"]


async def entered(team: Team, authenticator: Authenticator, browser: Browser | None = None) -> tuple[Browser, Any]:
    """A browser in which somebody tries to sign in, and what it was answered."""
    browser = browser or browser_of(team)
    options = await asked(browser, "/auth/sign-in", {"way": "passkey"})
    return browser, await browser.post("/auth/sign-in", {"way": "passkey", "credential": authenticator.sign(options)})


async def test_a_passkey_signs_in_without_a_name_and_the_sign_in_is_new(house: Team) -> None:
    alice = await by_password(house)
    ways = (await alice.get("/auth/ways")).body["data"]
    assert (ways["ways"], ways["public_url"], ways["provider_name"]) == (["password", "passkey"], HOME, None)
    options = await asked(alice, "/auth/passkeys")
    assert options["rp"]["id"] == HOST and options["authenticatorSelection"]["residentKey"] == "required"
    assert options["authenticatorSelection"]["userVerification"] == "required"
    authenticator, id = await added(alice, "Phone", flags=PRESENT | VERIFIED | BACKED_UP)
    (listed,) = (await alice.get("/auth/passkeys")).body["data"]
    assert (listed["id"], listed["name"], listed["is_backed_up"], listed["last_used_at"]) == (id, "Phone", True, None)
    # No name is asked for, and the challenge names no passkey that there is.
    browser = browser_of(house, agentui_sign_in="planted-by-somebody-else")
    options = await asked(browser, "/auth/sign-in", {"way": "passkey"})
    assert options["allowCredentials"] == [] and options["userVerification"] == "required" and options["rpId"] == HOST
    browser, answer = await entered(house, authenticator, browser)
    assert (answer.status, answer.body["data"]["account_id"]) == (200, "alice"), answer.text
    header = next(each for each in answer.headers.getall("Set-Cookie") if "agentui_sign_in" in each)
    assert "Secure" in header and "HttpOnly" in header and "SameSite=Strict" in header
    assert browser.signed_in not in (None, alice.signed_in, "planted-by-somebody-else")
    assert list(browser.jar) == ["agentui_sign_in"]  # what it was begun with is forgotten
    assert await browser.whose() == "alice"
    methods = [each["method"] for each in (await browser.get("/auth/sign-ins")).body["data"]]
    assert sorted(methods) == ["passkey", "password"]
    assert (await browser.get("/auth/passkeys")).body["data"][0]["last_used_at"] is not None
    # An authenticator that has one already is told so.
    again = await asked(browser, "/auth/passkeys")
    assert [each["id"] for each in again["excludeCredentials"]] == [text_of(authenticator.id)]
    assert again["user"]["id"] == authenticator.handle and "alice" not in authenticator.handle
    refused = await browser.post("/auth/passkeys", {"name": "Again", "credential": authenticator.make(again)})
    assert (refused.status, refused.code) == (409, "passkey_conflict")


async def test_an_answer_counts_once_in_one_browser_and_for_a_while(house: Team) -> None:
    authenticator, _ = await added(await by_password(house))
    browser = browser_of(house)
    options = await asked(browser, "/auth/sign-in", {"way": "passkey"})
    kept, answer = dict(browser.jar), {"way": "passkey", "credential": authenticator.sign(options)}
    stranger = browser_of(house)
    assert (await stranger.post("/auth/sign-in", answer)).code == "sign_in_expired"
    await asked(stranger, "/auth/sign-in", {"way": "passkey"})
    assert (await stranger.post("/auth/sign-in", answer)).code == "sign_in_failed"
    assert (await browser.post("/auth/sign-in", answer)).status == 200
    # Also for who has copied all that the browser kept.
    again = await browser_of(house, **kept).post("/auth/sign-in", answer)
    assert (again.status, again.code) == (409, "sign_in_expired")
    # What was begun to add a passkey signs nobody in, and the other way round; nor does a made-up cookie.
    alice = await by_password(house)
    options = await asked(alice, "/auth/passkeys")
    crossed = {"way": "passkey", "credential": authenticator.sign(options)}
    assert (await browser_of(house, **alice.jar).post("/auth/sign-in", crossed)).code == "sign_in_expired"
    bob = await by_password(house, "bob")
    bob.jar["agentui_begun_passkey"] = alice.jar["agentui_begun_passkey"]
    stolen = await bob.post("/auth/passkeys", {"name": "x", "credential": Authenticator(HOME, HOST).make(options)})
    assert (stolen.status, stolen.code) == (409, "sign_in_expired")
    for made_up in ("", "x", "x" * 5000, kept["agentui_begun_passkey"][:-2]):
        tried = browser_of(house, agentui_begun_passkey=made_up)
        assert (await tried.post("/auth/sign-in", answer)).code == "sign_in_expired"


async def test_what_an_authenticator_says_has_to_be_for_this_server(house: Team) -> None:
    alice = await by_password(house)
    authenticator, _ = await added(alice)
    wrong: list[dict[str, Any]] = [
        {"origin": "https://agents.example.evil.example"},
        {"origin": "http://agents.example"},
        {"host": "evil.example"},
        {"flags": PRESENT},
        {"flags": VERIFIED},
        {"key": Authenticator(HOME).key},
        {"id": b"another passkey"},
        {"handle": text_of(b"somebody else")},
        {"handle": ""},
    ]
    texts = set()
    for fields in wrong:
        before = {name: getattr(authenticator, name) for name in fields}
        for name, value in fields.items():
            setattr(authenticator, name, value)
        browser, answer = await entered(house, authenticator)
        assert (answer.status, answer.code, browser.signed_in) == (401, "sign_in_failed", None), fields
        texts.add(answer.text)
        for name, value in before.items():
            setattr(authenticator, name, value)
    # What no authenticator calls a passkey, which PostgreSQL does not even look for.
    browser = browser_of(house)
    made = authenticator.sign(await asked(browser, "/auth/sign-in", {"way": "passkey"}))
    answer = await browser.post("/auth/sign-in", {"way": "passkey", "credential": {**made, "id": "a\0b"}})
    assert (answer.status, answer.code) == (401, "sign_in_failed"), answer.text
    texts.add(answer.text)
    assert len(texts) == 1
    assert (await entered(house, authenticator))[1].status == 200
    for fields in wrong[:4]:
        liar = Authenticator(**{"origin": HOME, "host": HOST, **fields})
        made = liar.make(await asked(alice, "/auth/passkeys"))
        refused = await alice.post("/auth/passkeys", {"name": "x", "credential": made})
        assert (refused.status, refused.code) == (400, "passkey_invalid"), fields
    # The page has to be open at the address that passkeys are for.
    own = house.server.origin.removeprefix("http://")
    for path, body in (("/auth/sign-in/begin", {"way": "passkey"}), ("/auth/passkeys/begin", {})):
        elsewhere = await alice.post(path, body, host=own, origin=f"http://{own}")
        assert (elsewhere.status, elsewhere.code) == (409, "sign_in_elsewhere")
        assert elsewhere.body["error"]["details"]["public_url"] == HOME


async def test_a_count_that_stands_still_is_a_copys(house: Team) -> None:
    authenticator, id = await added(await by_password(house), count=5)
    authenticator.count = 7
    assert (await entered(house, authenticator))[1].status == 200
    for count in (7, 6, 0):
        authenticator.count = count
        assert (await entered(house, authenticator))[1].code == "sign_in_failed"
    authenticator.count = 8
    assert (await entered(house, authenticator))[1].status == 200
    # Both of an authenticator and of its copy are asked at the same time: one of them is let in.
    authenticator.count = 9
    ways = [way for way in house.server.app[SIGN_INS].ways if isinstance(way, PasskeyWay)]
    begun = [await ways[0].begin() for _ in range(2)]
    said = [{"credential": authenticator.sign(each.answer["options"])} for each in begun]
    proven = [await ways[0].finish(answer, each.kept) for answer, each in zip(said, begun, strict=True)]
    store = house.server.state.store
    assert [await store.write(lambda db, each=each: each.account(db, 1)) for each in proven] == ["alice", None]
    # Who has taken a passkey away while it was looked at has taken it away.
    authenticator.count = 10
    last = await ways[0].begin()
    proof = await ways[0].finish({"credential": authenticator.sign(last.answer["options"])}, last.kept)
    await store.write(lambda db: db.execute(passkeys.delete().where(passkeys.c.id == id)).rowcount)
    assert await store.write(lambda db: proof.account(db, 1)) is None


async def test_passkeys_are_named_and_removed_but_not_the_last_way_in(house: Team) -> None:
    alice, bob = await by_password(house), await by_password(house, "bob")
    first, id = await added(alice)
    _, other = await added(alice, "Key ring")
    renamed = await alice.call("PATCH", f"/auth/passkeys/{id}", {"name": "Old laptop"}, {})
    assert (renamed.status, renamed.body["data"]["name"]) == (200, "Old laptop")
    for method, body in (("PATCH", {"name": "Mine"}), ("DELETE", None)):
        assert (await bob.call(method, f"/auth/passkeys/{id}", body, {})).code == "passkey_not_found"
    assert (await bob.get("/auth/passkeys")).body["data"] == []
    # Without a password a passkey is the only way in: it is not removed by mistake.
    await house.server.state.store.write(lambda db: db.exec_driver_sql("DELETE FROM passwords").rowcount)
    assert (await alice.delete(f"/auth/passkeys/{other}")).status == 200
    refused = await alice.delete(f"/auth/passkeys/{id}")
    assert (refused.status, refused.code) == (409, "sign_in_last_way")
    assert (await entered(house, first))[1].status == 200
    # The way back in: an admin gives a password, and takes away what a thief may hold.
    kept = await house.operator.put("/accounts/alice/password", {"password": PASSWORD})
    assert kept.status == 200 and (await entered(house, first))[1].status == 200
    reset = await house.operator.put("/accounts/alice/password", {"password": PASSWORD, "only": True})
    assert reset.status == 200 and (await entered(house, first))[1].code == "sign_in_failed"
    assert (await (await by_password(house)).get("/auth/passkeys")).body["data"] == []
    # What was done is in the account's log, without what it was done by.
    log = (await (await by_password(house)).get("/operation-logs?actor_account_id=alice&limit=50")).body["data"]
    assert {"account.add_passkey", "account.rename_passkey", "account.remove_passkey"} <= {entry["action"] for entry in log}


async def test_of_two_last_ways_that_are_removed_at_once_one_stays(house: Team) -> None:
    alice = await by_password(house)
    ids = [(await added(alice, name))[1] for name in ("Phone", "Laptop", "Key ring")]
    await house.server.state.store.write(lambda db: db.exec_driver_sql("DELETE FROM passwords").rowcount)
    told = await asyncio.gather(*(alice.delete(f"/auth/passkeys/{id}") for id in ids))
    assert sorted(answer.status for answer in told) == [200, 200, 409]
    assert len((await alice.get("/auth/passkeys")).body["data"]) == 1


async def test_a_key_manages_no_passkeys_and_an_account_has_so_many(house: Team) -> None:
    secret = (await house.key(house.operator))["secret"]
    program = house.person(authorization=f"Bearer {secret}")
    for method, path in (("GET", ""), ("POST", "/begin"), ("POST", ""), ("PATCH", "/x"), ("DELETE", "/x")):
        refused = await program.call(method, f"/auth/passkeys{path}", {} if method != "GET" else None, {})
        assert (refused.status, refused.code) == (403, "client_management_actor_invalid")
    alice = await by_password(house)
    for number in range(MOST):
        await added(alice, f"No. {number}")
    options = await asked(alice, "/auth/passkeys")
    late = {"name": "late", "credential": Authenticator(HOME, HOST).make(options)}
    assert (await alice.post("/auth/passkeys", late)).code == "too_many_passkeys"


async def test_passkeys_are_off_without_a_public_address(start_team: StartTeam) -> None:
    team = await start_team()
    assert (await team.person().get("/auth/ways")).body["data"]["ways"] == ["password"]
    begun = await team.person().post("/auth/sign-in/begin", {"way": "passkey"})
    assert (begun.status, begun.code) == (400, "sign_in_way_unknown")
    assert (await team.person().post("/auth/sign-in/begin", {"way": "password"})).code == "sign_in_way_unknown"
    assert (await team.operator.post("/auth/passkeys/begin", {})).code == "sign_in_way_unknown"
    bare = await start_team(public_url=HOME, sign_in_ways="passkey")
    # Where passwords are off one is no way in that would be left.
    await bare.operator.put("/accounts/default-admin/password", {"password": PASSWORD})
    operator = browser_of(bare)
    operator.shows = {"x_agentui_token": TOKEN}
    _, id = await added(operator)
    assert (await operator.delete(f"/auth/passkeys/{id}")).code == "sign_in_last_way"
    assert (await bare.person().get("/auth/ways")).body["data"]["ways"] == ["passkey"]
    refused = await bare.person().post("/auth/sign-in", {"account": "default-admin", "password": PASSWORD})
    assert refused.code == "sign_in_way_unknown"


async def test_a_challenge_ends(house: Team) -> None:
    clock, secrets = Clock(), house.server.app[SERVICES].secrets
    challenges = Challenges(secrets.seal, secrets.unseal, clock)
    kept = challenges.issue("passkey", "sign in", challenge="abc")
    assert challenges.read("passkey", "sign in", kept).values == {"challenge": "abc"}
    clock.seconds += SECONDS
    with pytest.raises(Wrong):
        challenges.read("passkey", "sign in", kept)


bytes_ = st.binary(max_size=60).map(text_of)
json_ = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | bytes_, lambda inner: st.lists(inner, max_size=3)
)
answers = st.fixed_dictionaries(
    {},
    optional={
        "id": json_,
        "rawId": json_,
        "type": st.just("public-key") | json_,
        "response": json_ | st.dictionaries(st.sampled_from(["clientDataJSON", "attestationObject", "authenticatorData",
                                                             "signature", "userHandle"]), json_),
    },
)  # fmt: skip


@given(answers, st.binary(max_size=80), st.booleans())
def test_no_answer_makes_it_fail_otherwise_than_by_a_refusal(answer: dict[str, Any], noise: bytes, is_whole: bool) -> None:
    way = PasskeyWay(None, None, HOME)  # type: ignore[arg-type]  # neither is asked by what looks at an answer
    options = {"challenge": text_of(b"c" * 32), "user": {"id": "aGFuZGxl"}}
    challenge = Challenges(lambda _, data: data.decode(), lambda _, text: text.encode(), Clock())
    kept = challenge.read("passkey", "x", challenge.issue("passkey", "x", challenge=options["challenge"], handle="aGFuZGxl"))
    if is_whole:
        # Nearly right: what an authenticator has said, cut off, and other bytes in place of the rest.
        answer = Authenticator(HOME, HOST).make(options)
        said = bytes_of(answer["response"]["attestationObject"])
        answer["response"]["attestationObject"] = text_of(said[: len(noise) * 3] + noise)
    with pytest.raises(ApiError) as refused:
        way._registered(answer, kept)
    assert refused.value.code == "passkey_invalid"
    if is_whole:
        answer = Authenticator(HOME, HOST).sign(options)
        answer["response"]["authenticatorData"] = text_of(
            bytes_of(answer["response"]["authenticatorData"])[: len(noise)] + noise
        )
    known = KnownPasskey("id", "alice", "aGFuZGxl", text_of(noise), 0)
    with pytest.raises(Wrong):
        way._checked(answer, known, kept)
