"""People sign in at an identity provider: a real one on loopback that keeps the rules of OpenID Connect, and breaks them."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientError, ClientSession

from agentui.accounts.challenges import SECONDS, Challenges
from agentui.accounts.codes import Wrong
from agentui.accounts.provider import BELIEVED_SECONDS, LARGEST, RETRY_SECONDS, Provider
from agentui.accounts.tokens import RETRY_SECONDS as KEYS_RETRY_SECONDS
from agentui.api.keys import STORE
from agentui.errors import ApiError, Busy
from agentui.jsonio import Json
from tests.accounts.conftest import StartTeam, Team
from tests.accounts.home import HOME, Browser, browser_of
from tests.accounts.identity_provider import CLIENT, SECRET, IdentityProvider, identity_provider, sent_back_with
from tests.accounts.test_tokens import Clock

BACK = f"{HOME}/ui/"
JANE: dict[str, Json] = {"sub": "jane-1", "name": "Jane Doe", "email": "jane@house.example", "email_verified": True}
StartHouse = Callable[..., Awaitable[Team]]


@pytest.fixture
async def provider() -> AsyncIterator[IdentityProvider]:
    async with identity_provider(BACK) as made:
        yield made


@pytest.fixture
def start_house(start_team: StartTeam, provider: IdentityProvider) -> StartHouse:
    """Start servers at a public address that know the provider."""

    async def start(**settings: Any) -> Team:
        known = {"public_url": HOME, "oidc_issuer": provider.issuer, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET}
        return await start_team(**{"token_attempts": 0, **known, **settings})

    return start


class Asking:
    """Asks a provider as this server does. ``is_cut`` says that nothing gets through."""

    def __init__(self, provider: IdentityProvider, clock: Clock, http: ClientSession) -> None:
        self.provider, self.clock, self.http, self.is_cut = provider, clock, http, False
        self.sealed = Challenges(lambda _, data: data.decode(), lambda _, text: text.encode(), clock)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Know nothing of the provider."""
        known = (self.provider.issuer, CLIENT, SECRET, BACK, ["openid"], ["RS256", "ES256"], "groups")
        self.by = Provider(self._fetch, self.sealed, self.clock, *known)

    async def sign_in(self) -> str:
        """Who has signed in."""
        url, kept = await self.by.begin("oidc", "sign in")
        async with self.http.get(f"{url}&agreed=1", allow_redirects=False) as answer:
            back = sent_back_with(answer.headers.get("Location", ""))
        now = int(self.clock.seconds)
        own, challenge = self.provider.says, self.sealed.read("oidc", "sign in", kept)
        self.provider.says = {"iat": now, "exp": now + 300, **own}
        try:
            return (await self.by.person(challenge, {"state": challenge.values["state"], **back})).subject
        finally:
            self.provider.says = own

    async def _fetch(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, bytes]:
        if self.is_cut:
            raise Busy("It does not answer.")
        try:
            async with self.http.request(method, url, headers=headers, data=body, allow_redirects=False) as answer:
                return answer.status, await answer.read()
        except ClientError as error:
            raise Busy("It cannot be reached.") from error


async def begun(browser: Browser, path: str = "/auth/sign-in") -> str:
    """The provider's address that a browser goes to."""
    answer = await browser.post(f"{path}/begin", {"way": "oidc"})
    assert answer.status == 200, answer.text
    return str(answer.body["data"]["url"])


async def agreed(team: Team, url: str) -> dict[str, str]:
    """What the provider sends back with, once somebody has agreed there."""
    async with team.http.get(url, allow_redirects=False) as page:
        assert page.status == 200 and "Yes, it is me" in await page.text()
    async with team.http.get(f"{url}&agreed=1", allow_redirects=False) as answer:
        location = answer.headers["Location"]
    assert location.startswith(f"{BACK}?")
    return sent_back_with(location)


async def entered(team: Team, browser: Browser | None = None) -> tuple[Browser, Any]:
    """A browser in which somebody signs in at the provider, and what this server answers."""
    browser = browser or browser_of(team)
    back = await agreed(team, await begun(browser))
    return browser, await browser.post("/auth/sign-in", {"way": "oidc", **back})


async def test_who_signs_in_at_the_provider_gets_an_account_and_it_again(
    start_house: StartHouse, provider: IdentityProvider
) -> None:
    # Pipelines may not call private addresses; the provider, which the operator has named, is at one.
    team = await start_house(oidc_create_accounts=True, oidc_name="House ID", allow_private=False)
    assert (await team.person().get("/auth/ways")).body["data"]["ways"] == ["password", "passkey", "oidc"]
    assert (await team.person().get("/auth/ways")).body["data"]["provider_name"] == "House ID"
    provider.person = JANE
    browser = browser_of(team, agentui_sign_in="planted-by-somebody-else")
    url = await begun(browser)
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert url.startswith(f"{provider.issuer}/authorize?") and query["redirect_uri"] == BACK
    assert (query["scope"], query["code_challenge_method"]) == ("openid profile email", "S256")
    # Neither the proof key nor the client's secret is shown to the browser.
    assert "verifier" not in url and SECRET not in url + str(browser.jar)
    back = await agreed(team, url)
    answer = await browser.post("/auth/sign-in", {"way": "oidc", **back})
    assert (answer.status, answer.body["data"]["name"], answer.body["data"]["role"]) == (200, "Jane Doe", "user"), answer.text
    assert browser.signed_in not in (None, "planted-by-somebody-else") and list(browser.jar) == ["agentui_sign_in"]
    jane = await browser.whose()
    (linked,) = (await browser.get("/auth/identities")).body["data"]
    assert (linked["subject"], linked["email"], linked["issuer"]) == ("jane-1", "jane@house.example", provider.issuer)
    # The subject counts: another name and address are the same person, the same address is not.
    provider.person = {"sub": "jane-1", "name": "Jane Roe", "email": "roe@house.example"}
    assert (await entered(team))[1].body["data"]["account_id"] == jane
    provider.person = {**JANE, "sub": "jane-2"}
    other, answer = await entered(team)
    assert answer.status == 200 and await other.whose() not in (jane, None)
    # What was found at the provider is read once, and its keys once.
    assert (provider.asked["/.well-known/openid-configuration"], provider.asked["/keys"]) == (1, 1)


async def test_nobody_is_let_in_by_an_address_alone(start_house: StartHouse, provider: IdentityProvider) -> None:
    team = await start_house()
    await team.account("jane")
    await team.account("bob")
    provider.person = JANE
    browser, answer = await entered(team)
    assert (answer.status, answer.code, browser.signed_in) == (403, "sign_in_not_allowed", None)
    # An admin has to say that who has the address is whose account this is; and the provider, that it has made sure of it.
    links = "/accounts/jane/identities"
    made = await team.operator.post(links, {"email": "Jane@house.example"})
    assert (made.status, made.body["data"]["subject"]) == (201, None)
    again = await team.operator.post("/accounts/bob/identities", {"email": "jane@House.example"})
    assert (again.status, again.code) == (409, "identity_conflict")
    provider.person = {**JANE, "email_verified": False}
    assert (await entered(team))[1].code == "sign_in_not_allowed"
    provider.person = {**JANE, "email_verified": "true"}
    assert (await entered(team))[1].code == "sign_in_not_allowed"
    # The token and what is told of a person each speak of their own address.
    for said, told in (
        ({"email": JANE["email"]}, {"email": "other@house.example", "email_verified": True}),
        ({"email_verified": True}, {"email": JANE["email"], "email_verified": False}),
    ):
        provider.person, provider.told_later = {"sub": JANE["sub"], **said}, told
        assert (await entered(team))[1].code == "sign_in_not_allowed", said
    provider.person, provider.told_later = {"sub": JANE["sub"], "email": JANE["email"]}, JANE
    assert (await entered(team))[1].body["data"]["account_id"] == "jane"
    provider.told_later = {}
    # From then on it is the person's, not the address's.
    provider.person = {**JANE, "sub": "who-got-the-address-later"}
    assert (await entered(team))[1].code == "sign_in_not_allowed"
    # An admin takes a link away, whatever remains.
    (link,) = (await team.operator.get(links)).body["data"]
    assert link["subject"] == "jane-1"
    assert (await team.operator.delete(f"/accounts/bob/identities/{link['id']}")).code == "identity_not_found"
    assert (await team.operator.delete(f"{links}/{link['id']}")).status == 200
    provider.person = JANE
    assert (await entered(team))[1].code == "sign_in_not_allowed"
    for wrong in ({}, {"email": "x"}, {"email": "a@b", "subject": "c"}, {"subject": "\0"}):
        assert (await team.operator.post(links, wrong)).code == "validation_error", wrong
    assert (await team.operator.post(links, {"subject": "jane-1"})).status == 201
    assert (await entered(team))[1].status == 200
    assert (await team.operator.post("/accounts/nobody/identities", {"subject": "x"})).code == "account_not_found"


async def test_who_is_signed_in_links_a_sign_on_and_not_another_ones(
    start_house: StartHouse, provider: IdentityProvider
) -> None:
    team = await start_house()
    browsers = {}
    for account in ("alice", "bob"):
        await team.account(account)
        await team.operator.put(f"/accounts/{account}/password", {"password": "correct horse"})
        browsers[account] = browser_of(team)
        assert (await browsers[account].post("/auth/sign-in", {"account": account, "password": "correct horse"})).status == 200
    alice, bob = browsers["alice"], browsers["bob"]
    back = await agreed(team, await begun(alice, "/auth/identities"))
    # Bob is sent where Alice has been; and what was begun to link signs nobody in.
    assert (await bob.post("/auth/identities", back)).code == "sign_in_expired"
    bob.jar["agentui_begun_sign_on"] = alice.jar["agentui_begun_sign_on"]
    assert (await bob.post("/auth/identities", back)).code == "sign_in_expired"
    assert (await bob.post("/auth/sign-in", {"way": "oidc", **back})).code == "sign_in_expired"
    linked = await alice.post("/auth/identities", back)
    assert (linked.status, linked.body["data"]["account_id"]) == (201, "alice")
    assert (await entered(team))[1].body["data"]["account_id"] == "alice"
    back = await agreed(team, await begun(bob, "/auth/identities"))
    assert (await bob.post("/auth/identities", back)).code == "identity_conflict"
    # With a password beside it the link may go; without one it is the last way in.
    id = linked.body["data"]["id"]
    assert (await bob.delete(f"/auth/identities/{id}")).code == "identity_not_found"
    await team.server.app[STORE].write(
        lambda db: db.exec_driver_sql("DELETE FROM passwords WHERE account_id = 'alice'").rowcount
    )
    assert (await alice.delete(f"/auth/identities/{id}")).code == "sign_in_last_way"
    await team.operator.put("/accounts/alice/password", {"password": "correct horse"})
    assert (await alice.post("/auth/sign-in", {"account": "alice", "password": "correct horse"})).status == 200
    assert (await alice.delete(f"/auth/identities/{id}")).status == 200
    secret = (await team.key(team.operator))["secret"]
    program = team.person(authorization=f"Bearer {secret}")
    for method, path in (("GET", ""), ("POST", "/begin"), ("POST", ""), ("DELETE", "/x")):
        for place in ("/auth", "/accounts/alice"):
            if place == "/auth" or path != "/begin":
                body = None if method == "GET" else {"state": "x", "subject": "x"}
                refused = await program.call(method, f"{place}/identities{path}", body, {})
                assert (refused.status, refused.code) == (403, "client_management_actor_invalid"), (method, place, path)


async def test_an_answer_counts_once_and_in_its_browser(start_house: StartHouse, provider: IdentityProvider) -> None:
    team = await start_house(oidc_create_accounts=True)
    one, two = browser_of(team), browser_of(team)
    back_of_one, back_of_two = await agreed(team, await begun(one)), await agreed(team, await begun(two))
    kept = dict(one.jar)
    # Two browsers that were mixed up, on purpose or not (a sign-in that somebody else has begun).
    crossed = [
        await one.post("/auth/sign-in", {"way": "oidc", **back_of_two}),
        await browser_of(team).post("/auth/sign-in", {"way": "oidc", **back_of_one}),
    ]
    assert [answer.code for answer in crossed] == ["sign_in_expired"] * 2
    # Another browser's code with one's own state: the proof key is another.
    mixed = await one.post("/auth/sign-in", {"way": "oidc", **back_of_one, "code": back_of_two["code"]})
    assert (mixed.status, mixed.code) == (502, "sign_in_provider_failed") and "invalid_grant" in mixed.text
    assert (await one.post("/auth/sign-in", {"way": "oidc", **back_of_one})).status == 200
    again = browser_of(team, **kept)
    assert (await again.post("/auth/sign-in", {"way": "oidc", **back_of_one})).code == "sign_in_provider_failed"
    # Were a provider to take a code twice, the challenge counts once all the same.
    provider.used.clear()
    assert (await again.post("/auth/sign-in", {"way": "oidc", **back_of_one})).code == "sign_in_expired"
    for fields in ({}, {"state": back_of_two["state"]}, {"state": "x", "code": "x"}):
        assert (await two.post("/auth/sign-in", {"way": "oidc", "state": "", **fields})).status in (409, 502), fields
    assert (await two.post("/auth/sign-in", {"way": "oidc", **back_of_two})).status == 200


LIES: dict[str, Any] = {
    **{lie: {} for lie in ("alg none", "alg HS256 by the public key", "alg that nobody has pinned", "a damaged token",
                           "no token", "a key that it has not published",
                           "a kid that it has not published", "a key in the header",
                           "another issuer", "no issuer", "tells of another person")},
    "nonce": {"nonce": "another"}, "no nonce": {"nonce": None}, "issuer": {"iss": "https://elsewhere.example"},
    "audience": {"aud": "somebody-else"}, "no audience": {"aud": None}, "azp": {"aud": [CLIENT, "other"], "azp": "other"},
    "no azp": {"aud": [CLIENT, "other"]}, "expired": {"exp": 1}, "no exp": {"exp": None}, "made tomorrow": {"iat": 2**40},
    "not yet": {"nbf": 2**40}, "exp of a wrong kind": {"exp": "soon"}, "no iat": {"iat": None}, "at_hash": {"at_hash": "AAAA"},
    "no subject": {"sub": None}, "empty subject": {"sub": ""}, "subject of a wrong kind": {"sub": 7},
    "long subject": {"sub": "x" * 300}, "subject no database takes": {"sub": "a\0b"},
}  # fmt: skip


async def test_no_lie_of_a_provider_lets_anybody_in(start_house: StartHouse, provider: IdentityProvider) -> None:
    team = await start_house(oidc_create_accounts=True)
    provider.person = {"sub": "jane-1"}
    for lie, says in LIES.items():
        provider.lie, provider.says = lie, says
        browser, answer = await entered(team)
        assert (answer.status, answer.code, browser.signed_in) == (502, "sign_in_provider_failed", None), (lie, answer.text)
        assert "The identity provider cannot be used now: " in answer.text and SECRET not in answer.text
    accounts = (await team.operator.get("/accounts")).body["data"]
    assert [account["id"] for account in accounts] == ["default-admin"]
    provider.lie, provider.says = "", {"aud": [CLIENT, "other"], "azp": CLIENT}
    assert (await entered(team))[1].status == 200
    provider.error = "access_denied"
    answer = (await entered(team))[1]
    assert (answer.status, answer.code) == (403, "sign_in_refused") and "access_denied" in answer.text
    # What stands in a link is not repeated to who follows it.
    provider.error = "Call +1 555 0100 to get your account back"
    assert "555" not in (await entered(team))[1].text


ODD: tuple[Json, ...] = (7, -1.5, True, "x", "\ud800", [], [None], {}, {"a": []}, 10**400)
CLAIMS = ("iss", "sub", "aud", "azp", "nonce", "exp", "iat", "nbf", "at_hash", "auth_time", "amr", "acr", "name", "email",
          "email_verified", "preferred_username", "groups")  # fmt: skip
FIELDS = ("token_endpoint_auth_methods_supported", "authorization_response_iss_parameter_supported", "userinfo_endpoint",
          "end_session_endpoint", "issuer", "jwks_uri", "token_endpoint", "authorization_endpoint")  # fmt: skip


@asynccontextmanager
async def asking(provider: IdentityProvider, clock: Clock) -> AsyncIterator[Asking]:
    """What asks a provider, without a server around it."""
    async with ClientSession() as http:
        yield Asking(provider, clock, http)


async def test_whatever_kind_a_provider_says_things_in_it_is_told_and_nothing_fails(provider: IdentityProvider) -> None:
    async with asking(provider, Clock(time.time())) as asked:

        async def let_in() -> bool:
            try:
                await asked.sign_in()
            except ApiError as error:
                assert error.code == "sign_in_provider_failed"
                return False
            return True

        for name in CLAIMS:
            for value in ODD:
                provider.says = {name: value}
                # What decides whom and when a token is for has to be said rightly.
                assert not await let_in() or name not in CLAIMS[:5] or not value or (name, value) == ("sub", "x"), (name, value)
        provider.says = {}
        for value in ODD:
            provider.tells = value
            await let_in()
        provider.tells = None
        for name in FIELDS:
            for value in ODD:
                provider.document = {"token_endpoint_auth_methods_supported": ["client_secret_basic"], name: value}
                asked.begin_anew()
                await let_in()
                assert await asked.by.sign_out_address(BACK) is None or name != "end_session_endpoint"


async def test_a_provider_that_is_away_slow_or_somebody_else_is_told_of(
    start_house: StartHouse, provider: IdentityProvider
) -> None:
    documents: list[tuple[dict[str, Json], str]] = [
        ({"issuer": "https://elsewhere.example"}, "it calls itself"),
        ({"token_endpoint": "http://elsewhere.example/token"}, "no token_endpoint"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "no authorization_endpoint"),
        ({"authorization_endpoint": "https://user@elsewhere.example"}, "no authorization_endpoint"),
        ({"jwks_uri": None}, "no jwks_uri"),
        ({"padding": "x" * LARGEST}, "is larger than"),
    ]
    for document, reason in documents:
        provider.document = document
        browser = browser_of(await start_house())
        answer = await browser.post("/auth/sign-in/begin", {"way": "oidc"})
        assert (answer.status, answer.code) == (502, "sign_in_provider_failed") and reason in answer.text, answer.text
    provider.document, provider.lie = {}, "no json"
    answer = await browser_of(await start_house()).post("/auth/sign-in/begin", {"way": "oidc"})
    assert answer.status == 502 and "its document is no JSON" in answer.text
    provider.lie = ""
    gone = await start_house(oidc_issuer="http://127.0.0.1:9")
    answer = await browser_of(gone).post("/auth/sign-in/begin", {"way": "oidc"})
    assert answer.status == 502 and "cannot be read" in answer.text
    # While one waits for a provider that does not answer, others are served.
    provider.holds = asyncio.Event()
    team = await start_house()
    waiting = asyncio.create_task(browser_of(team).post("/auth/sign-in/begin", {"way": "oidc"}))
    await provider.is_held.wait()
    assert (await team.operator.get("/sessions")).status == 200 and not waiting.done()
    provider.holds.set()
    assert (await waiting).status == 200


async def test_who_may_come_and_as_what_the_provider_says_each_time(
    start_house: StartHouse, provider: IdentityProvider
) -> None:
    team = await start_house(
        oidc_create_accounts=True,
        oidc_email_domains="House.example",
        oidc_groups_claim="roles",
        oidc_groups="agents,admins",
        oidc_admin_groups="admins",
    )
    provider.person = {**JANE, "roles": ["agents", "admins", 7]}
    jane, answer = await entered(team)
    assert (answer.body["data"]["role"], answer.body["data"]["may_edit"]) == ("admin", True)
    assert (await jane.get("/accounts")).status == 200
    # A role that is taken away there is taken away here, and what was begun as an admin sees it.
    provider.person = {**JANE, "roles": "agents"}
    _, answer = await entered(team)
    assert answer.body["data"]["role"] == "user" and (await jane.get("/accounts")).code == "account_forbidden"
    refused: list[dict[str, Json]] = [
        {"roles": ["strangers"]},
        {"roles": None},
        {"roles": ["agents"], "email": "jane@elsewhere.example"},
        {"roles": ["agents"], "email": "jane@evil-house.example"},
        {"roles": ["agents"], "email": None},
        {"roles": ["agents"], "email_verified": False},
    ]
    for fields in refused:
        provider.person = {**JANE, **fields}
        assert (await entered(team))[1].code == "sign_in_not_allowed", fields
    # Some providers say it when they are asked, and not in the token.
    provider.person, provider.told_later = {"sub": "jane-1"}, {**JANE, "roles": ["admins"]}
    assert (await entered(team))[1].body["data"]["role"] == "admin"
    # The default account's role is nobody's to take away, and who is disabled stays out.
    link = {"subject": "jane-9"}
    assert (await team.operator.post("/accounts/default-admin/identities", link)).status == 201
    provider.person, provider.told_later = {**JANE, "sub": "jane-9", "roles": ["agents"]}, {}
    _, answer = await entered(team)
    assert (answer.body["data"]["account_id"], answer.body["data"]["role"]) == ("default-admin", "admin")
    await team.operator.call("PATCH", f"/accounts/{await jane.whose()}", {"status": "disabled"}, {})
    provider.person = {**JANE, "roles": ["agents"]}
    assert (await entered(team))[1].code == "auth_account_disabled"


async def test_public_clients_other_ways_to_show_the_secret_and_signing_out(
    start_house: StartHouse, provider: IdentityProvider
) -> None:
    provider.secret, provider.document = None, {"authorization_response_iss_parameter_supported": False}
    team = await start_house(oidc_client_secret=None, oidc_create_accounts=True)
    browser, answer = await entered(team)
    assert answer.status == 200
    # Only who came by the provider is asked to leave there, and only where the operator wants it.
    assert (await browser.post("/auth/sign-out", {})).body["data"] == {"signed_out": True, "provider_url": None}
    provider.secret, provider.document = SECRET, {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    provider.lie = "no issuer"
    provider.document["authorization_response_iss_parameter_supported"] = False
    team = await start_house(oidc_sign_out=True, oidc_create_accounts=True)
    browser, answer = await entered(team)
    assert answer.status == 200, answer.text
    left = await browser.post("/auth/sign-out", {})
    assert left.body["data"]["provider_url"].startswith(f"{provider.issuer}/leave?client_id={CLIENT}")
    assert await browser.whose() is None
    async with team.http.get(left.body["data"]["provider_url"], allow_redirects=False) as answer:
        assert answer.headers["Location"] == BACK


async def test_with_one_account_only_who_is_linked_to_it_comes_in(start_house: StartHouse, provider: IdentityProvider) -> None:
    team = await start_house(account_mode="single", auth_api_key_accounts=None)
    assert (await entered(team))[1].code == "sign_in_not_allowed"
    assert (await team.operator.post("/accounts/default-admin/identities", {"subject": "248289761001"})).status == 201
    assert (await entered(team))[1].body["data"]["account_id"] == "default-admin"
    assert (await team.operator.post("/accounts/bob/identities", {"subject": "x"})).code == "account_not_found"


async def test_links_of_the_page_lead_to_it_only_and_other_sites_begin_nothing(start_house: StartHouse) -> None:
    team = await start_house()
    for body in ({"way": "oidc", "next": "https://evil.example"}, {"way": "oidc", "redirect_uri": "https://evil.example"}):
        url = (await browser_of(team).post("/auth/sign-in/begin", body)).body["data"]["url"]
        assert "evil" not in url
    begun = await browser_of(team).post("/auth/sign-in/begin", {"way": "oidc"}, origin="https://evil.example")
    assert begun.status == 403
    assert (await browser_of(team).post("/auth/sign-in/begin", {"way": "oidc"}, host="evil.example")).status == 421


async def test_keys_are_rotated_and_what_is_old_is_read_again(provider: IdentityProvider) -> None:
    clock = Clock(time.time())
    async with asking(provider, clock) as asked:
        assert await asked.sign_in() == "248289761001"
        provider.rotate("second", elliptic=True)
        # A kid that nobody knows does not make the server ask as often as it comes.
        for _ in range(2):
            with pytest.raises(ApiError) as refused:
                await asked.sign_in()
            assert refused.value.code == "sign_in_provider_failed"
        assert provider.asked["/keys"] == 1
        clock.seconds += KEYS_RETRY_SECONDS
        assert await asked.sign_in() == "248289761001"
        # What was read of it is believed while it is away, and its absence for a moment.
        assert provider.asked["/.well-known/openid-configuration"] == 1
        clock.seconds += BELIEVED_SECONDS
        asked.is_cut = True
        for _ in range(2):
            with pytest.raises(ApiError):
                await asked.by.document()
        asked.is_cut = False
        with pytest.raises(ApiError):
            await asked.by.document()
        clock.seconds += RETRY_SECONDS
        assert await asked.sign_in() == "248289761001"
        assert provider.asked["/.well-known/openid-configuration"] == 2
        _, kept = await asked.by.begin("oidc", "sign in")
        clock.seconds += SECONDS
        with pytest.raises(Wrong):
            asked.sealed.read("oidc", "sign in", kept)
