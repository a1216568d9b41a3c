"""What a client key may be used for (design, accounts part 1): held on every way in, and changed without a new key."""

import asyncio
from contextlib import suppress
from ipaddress import ip_address

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.accounts.restrictions import network_of, restrictions_of, text_of
from agentui.http.families import _family_of
from agentui.jsonio import Json
from agentui.principal import ROUTE_FAMILIES, Restrictions
from tests.accounts.conftest import ALICE, Person, StartTeam, Team, bearer
from tests.api.callers import DIALECTS, Caller, error_of
from tests.api.chats.forms import DOCUMENT
from tests.isolation.walk import operations
from tests.upstreams.server import API_KEY, Mock

Made = Json


@pytest.fixture
async def alice(team: Team, mock: Mock) -> Person:
    """Alice, and pipelines by which she asks with the server's key: one of them calls another."""
    await team.account("alice", may_edit=True)
    config = {"provider": "openai", "base_url": mock.origin, "headers": {"Authorization": f"Bearer {API_KEY}"}}
    asks: Json = {"id": "n", "type": "ProviderCall", "config": config}
    calls: Json = {"id": "n", "type": "SubPipeline", "config": {"pipeline": "hidden"}}
    for id, node in {"default": asks, "hidden": asks, "outer": calls}.items():
        team.server.put(id, {"format": 1, "name": id, "nodes": [node], "edges": [], "answer": "n"})
    return team.person(**bearer(ALICE))


async def kept_to(team: Team, alice: Person, **restrictions: Json) -> tuple[Person, Made]:
    """Who has a key of Alice's that is kept to this, and what was told of the key."""
    made = await team.key(alice, restrictions=restrictions)
    return team.person(**bearer(made["secret"])), made


async def asked(person: Person) -> int:
    """Ask a model; the status."""
    return (
        await person.post("/v1/chat/completions", {"model": "text", "messages": [{"role": "user", "content": "Hi"}]})
    ).status


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_a_key_may_not_name_is_refused_in_the_callers_words(
    team: Team, alice: Person, mock: Mock, dialect: str
) -> None:
    _, made = await kept_to(team, alice, pipelines=["default", "out?r"], models=["te*"])
    key, origin = made["secret"], team.server.origin
    assert (await Caller(dialect, origin, key=key).ask()).status == 200
    # What a pipeline calls is the pipeline's.
    assert (await Caller(dialect, origin, key=key, prefix="/p/outer").ask()).status == 200
    sent = len(mock.requests)
    told = set()
    for prefix, headers in (("/p/hidden", {}), ("/p/none", {}), ("", {"x-agentui-pipeline": "hidden"})):
        refused = await Caller(dialect, origin, key=key, prefix=prefix, headers=headers).ask()
        assert refused.status == 403 and refused.headers["x-should-retry"] == "false"
        told.add(error_of(dialect, refused.json).replace("none", "hidden"))
    # Whether there is such a pipeline is not told.
    (words,) = told
    assert made["item"]["id"] in words and "pipelines" in words and "outer" not in words
    for model in ("other", "pipeline/default/other"):
        refused = await Caller(dialect, origin, key=key).ask(model=model)
        assert refused.status == 403 and "'other'" in error_of(dialect, refused.json)
    refused = await Caller(dialect, origin, key=key).ask(model="pipeline/hidden/text")
    assert refused.status == 403 and len(mock.requests) == sent


async def test_models_are_found_wherever_a_request_names_them(team: Team, alice: Person, mock: Mock) -> None:
    person, _ = await kept_to(team, alice, models=["text", "image-*"])
    batch = {"requests": [{"custom_id": "a", "params": {"model": name}} for name in ("text", "other")]}
    say = {"messages": [{"role": "user", "content": "Hello"}]}
    for path, body in {
        "/v1/messages/batches": batch,
        "/v1/chat/completions": {**say, "model": "text", "models": ["other"]},
        "/v1/embeddings": {"model": "other", "input": "x"},
        "/v1/images/generations": {"prompt": "x"},  # the vendor's choice
        "/v1/batches": {"input_file_id": "file-1", "endpoint": "/v1/chat/completions"},
        "/v1beta/cachedContents": {"model": "models/other"},
        "/v1beta/models/text:batchEmbedContents": {"requests": [{"model": "models/other", "content": {}}]},
        "/v1beta/models/text:embedContent": {"model": "models/other", "content": {}},
        "/v1beta/models/text:countTokens": {"generateContentRequest": {"model": "models/other", "contents": []}},
    }.items():
        refused = await person.post(path, body)
        assert refused.status == 403, (path, refused.text)
    assert mock.requests == []
    # A pipeline knows which model it asks where nobody names one, and what reads names none.
    assert (await person.post("/v1/chat/completions", {**say, "model": "pipeline/default"})).status != 403
    assert (await person.get("/v1/batches")).status != 403
    assert (await person.post("/v1/images/generations", {"prompt": "x", "model": "image-1"})).status != 403


async def test_models_are_found_in_profiles_and_tools(team: Team, alice: Person, mock: Mock) -> None:
    """A profile may serve the director and a tool may be a run, which nobody's key is held against: so who names their model
    may use it."""
    person, _ = await kept_to(team, alice, models=["text"])
    profile = {"preset_name": "p", "provider": "openai-compatible", "base_url": f"{mock.origin}/v1", "api_key": API_KEY}
    tool: Json = {
        "name": "runs",
        "description": "x",
        "parameters": {"type": "object", "properties": {}},
        "handler_type": "pipeline",
        "handler": {"pipeline_id": "default", "model": "text"},
    }
    dear = (await alice.made("/llm-profiles", **profile, model_id="other"))["data"]["id"]
    own = (await person.made("/llm-profiles", **{**profile, "preset_name": "q"}, model_id="text"))["data"]["id"]
    run = (await person.made("/tools/definitions", **tool))["data"]["id"]
    sent, named = len(mock.requests), {**tool, "name": "dear", "handler": {**tool["handler"], "model": "other"}}
    dear_run = (await alice.made("/tools/definitions", **named))["data"]["id"]
    for method, path, body in (
        ("POST", "/llm-profiles", {**profile, "preset_name": "r", "model_id": "other"}),
        ("PATCH", f"/llm-profiles/{own}", {"model_id": "other"}),
        ("POST", f"/llm-profiles/{dear}/activate", {"instance_slot": "director"}),
        ("POST", "/llm-profiles/models/test", {"profile_id": dear}),
        ("POST", "/llm-profiles/models/test", {"profile_id": own, "model_id": "other"}),
        ("POST", "/tools/definitions", {**named, "name": "dearer"}),
        ("PATCH", f"/tools/definitions/{run}", {"handler": named["handler"]}),
        ("POST", f"/tools/definitions/{dear_run}/test", {}),
    ):
        refused = await person.call(method, path, body, {})
        assert (refused.status, refused.code) == (403, "client_api_key_restricted"), (method, path, refused.text)
    assert len(mock.requests) == sent
    for path, body in ((f"/llm-profiles/{own}/activate", {}), ("/llm-profiles/models/test", {"profile_id": own})):
        assert (await person.post(path, body)).status == 200, path
    assert (await person.call("PATCH", f"/llm-profiles/{own}", {"preset_name": "s"}, {})).status == 200


async def test_lists_show_what_a_key_may_use_and_the_page_changes_nothing(team: Team, alice: Person) -> None:
    person, _ = await kept_to(team, alice, pipelines=["outer", "hidden"], models=["te*"])
    listed = {each["id"] for each in (await person.get("/v1/models")).body["data"]}
    assert {"pipeline/outer", "pipeline/hidden"} == {id for id in listed if id.startswith("pipeline/")}
    assert listed.isdisjoint({"refused", "pipeline/default"}), listed
    assert (await person.get("/v1/models/pipeline/default")).status == 404
    assert [each["id"] for each in (await person.get("/api/pipelines")).body] == ["hidden", "outer"]
    for path in ("/api/pipelines/default", "/api/pipelines/none", "/api/pipelines/default/versions"):
        assert (await person.get(path)).code == "client_api_key_restricted"
    # Else one would write a pipeline that calls what the key may not name.
    kept = (await person.get("/api/pipelines/outer")).body["document"]
    assert (await person.put("/api/pipelines/outer", kept, if_match="*")).code == "account_forbidden"
    sample = {"method": "POST", "path": "/v1/chat/completions", "body": {"model": "text", "messages": []}}
    # Nor one of the account's own, saved or not.
    by_model, _ = await kept_to(team, alice, models=["te*"])
    own: Json = {
        "format": 1,
        "name": "own",
        "nodes": [{"id": "n", "type": "ProviderCall", "config": {"model": "x"}}],
        "edges": [],
    }
    assert (await alice.put("/api/pipelines/~own", own, if_none_match="*")).status == 201
    for path in ("/api/pipelines/~own", "/api/presets/~own"):
        assert (await by_model.put(path, own, if_match="*")).code == "client_api_key_restricted"
    tried = await by_model.post("/api/try", {"request": sample, "pipeline": "~own", "document": own})
    assert tried.code == "client_api_key_restricted"
    for asked in (
        {"pipeline": "default"},
        {},
        {"pipeline": "outer", "request": {**sample, "body": {"model": "x", "messages": []}}},
    ):
        tried = await person.post("/api/try", {"request": sample, **asked})
        assert tried.code == "client_api_key_restricted", asked
    shown = await person.post("/api/preview", {"request": sample, "pipeline": "default", "node": "n"})
    assert shown.code == "client_api_key_restricted"
    assert (await person.get("/auth/me")).body["data"]["may_edit"] is False


async def test_turns_of_chats_keep_to_it(team: Team, alice: Person, mock: Mock) -> None:
    person, _ = await kept_to(team, alice, pipelines=["outer"], models=["text"])
    own = (await alice.made("/sessions", title="own", pipeline_id="default", model_name="text"))["data"]["id"]
    for path, fields in (
        (f"/sessions/{own}", {"pipeline_id": "default"}),
        (f"/sessions/{own}", {"director_pipeline_id": "none"}),
    ):
        assert (await person.call("PATCH", path, fields, {})).code == "client_api_key_restricted"
    said = {"message": "Hello"}
    for prefix, words in (("/p/hidden", "hidden"), ("", "default")):
        refused = await person.post(f"{prefix}/sessions/{own}/respond", said)
        assert refused.status == 403 and words in refused.text, refused.text
    assert mock.requests == []
    assert (await person.post(f"/p/outer/sessions/{own}/respond", said)).status == 200
    await alice.call("PATCH", f"/sessions/{own}", {"model_name": "other"}, {})
    assert "other" in (await person.post(f"/p/outer/sessions/{own}/respond", said)).text


FREE = {"/health", "/ready", "/version", "/openapi.json", "/auth/ways", "/auth/sign-in", "/auth/sign-in/begin", "/auth/me"}


async def test_every_route_is_of_a_family_and_a_key_may_only_what_is_named(team: Team, alice: Person) -> None:
    """The document has every route: one that nobody thought of is refused to who is kept to something else."""
    person, _ = await kept_to(team, alice, routes=["moderations"])
    allowed = set()
    for path, methods in DOCUMENT["paths"].items():
        at = path.replace("{version}", "v1beta").replace("{call}", "m:generateContent")
        for method in methods:
            answer = await person.call(method.upper(), at.replace("{", "").replace("}", ""), {}, {})
            if answer.status != 403 or "of the family" not in answer.text:
                allowed.add(path)
    listed = {path for path in DOCUMENT["paths"] if path.endswith(("/models", "/models/{model}"))} - {"/api/models"}
    moderations = {path for path in DOCUMENT["paths"] if path.endswith("/moderations")}
    assert allowed - FREE == listed | moderations
    families = {_family_of(path) for _, path in operations()} | {_family_of(path) for path in DOCUMENT["paths"]}
    assert families == {None, *ROUTE_FAMILIES}


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("/v1/chat/completions", "chat"),
        ("/s/{session}/p/{pipeline}/v1/messages/count_tokens", "chat"),
        ("/v1/responses/{id}", "chat"),
        ("/p/{pipeline}/v1/embeddings", "embeddings"),
        ("/v1/images/edits", "images"),
        ("/v1/audio/speech", "audio"),
        ("/v1/messages/batches/{id}", "batches"),
        ("/{version}/files/{id}", "batches"),
        ("/{version}/models/{call}", "chat"),
        ("/{version}/models", None),
        ("/v1/models/{model}", None),
        ("/sessions/{id}", "memory"),
        ("/p/{pipeline}/sessions/{id}/respond", "memory"),
        ("/api/try", "page"),
        ("/operation-logs", "administration"),
        ("/what-comes-next", "memory"),
    ],
)
def test_what_is_in_which_family(path: str, family: str | None) -> None:
    assert _family_of(path) == family


async def test_gemini_embeds_and_says_by_one_path(team: Team, alice: Person) -> None:
    person, _ = await kept_to(team, alice, routes=["embeddings"])
    body = {"content": {"parts": [{"text": "x"}]}}
    assert (await person.post("/v1beta/models/text:generateContent", {"contents": []})).status == 403
    assert (await person.post("/v1beta/models/text:embedContent", body)).status != 403


async def test_addresses_are_those_that_trusted_proxies_tell(start_team: StartTeam) -> None:
    team = await start_team(trusted_proxies="127.0.0.1,10.9.0.0/16")
    await team.account("alice")
    alice = team.person(**bearer(ALICE))
    person, made = await kept_to(team, alice, addresses=["192.0.2.0/24", "2001:DB8::1/64", "::ffff:198.51.100.7"])
    assert made["item"]["restrictions"]["addresses"] == ["192.0.2.0/24", "2001:db8::/64", "198.51.100.7/32"]
    for told, is_good in {
        "192.0.2.200": True,
        "203.0.113.1, 192.0.2.200, 10.9.0.3": True,
        "::ffff:192.0.2.9": True,
        "2001:db8::77": True,
        "198.51.100.7": True,
        "198.51.100.8": False,
        "2001:db8:0:1::1": False,
        "192.0.2.200, 203.0.113.1": False,  # what stands before the last untrusted one may be invented
        "": False,
    }.items():
        answer = await person.get("/v1/models", **({"x_forwarded_for": told} if told else {}))
        assert answer.status == (200 if is_good else 403), told
    assert "192.0.2.0" not in (await person.get("/v1/models")).text


async def test_an_admins_key_may_be_kept_from_administration(team: Team) -> None:
    admin = team.operator
    client = "cli_default_default-admin"
    made = await team.key(admin, client, restrictions={"admin": False})
    key = team.person(**bearer(made["secret"]))
    assert (await key.post("/accounts", {"name": "Mallory", "role": "admin"})).code == "account_forbidden"
    assert (await key.put("/accounts/default-admin/password", {"password": "a-new-password"})).status == 403
    assert (await key.get("/metrics")).status == 403 and (await key.get("/usage?account=*")).status == 403
    assert (await key.get("/auth/me")).body["data"]["role"] == "user"
    assert (await key.get("/sessions")).status == 200
    full = await team.key(admin, client)
    assert full["item"]["restrictions"] is None
    assert (await team.person(**bearer(full["secret"])).get("/accounts")).status == 200


async def test_a_key_is_changed_as_it_is_and_at_once(team: Team, alice: Person) -> None:
    made = await team.key(alice, name="phone", limits=[{"unit": "requests", "period": "day", "amount": 5}])
    item, person = made["item"], team.person(**bearer(made["secret"]))
    path = f"/clients/{item['client_id']}/api-keys/{item['id']}"
    (kept,) = (await alice.get("/budgets")).body["data"]
    assert (await asked(person)) == 200

    feed = await team.http.get(f"{team.server.origin}/api/changes", headers=bearer(made["secret"]))
    async with feed:
        assert feed.status == 200
        told = await alice.call(
            "PATCH",
            path,
            {
                "name": "tablet",
                "restrictions": {"routes": ["memory", "page"]},
                "limits": [
                    {"unit": "requests", "period": "day", "amount": 9},
                    {"unit": "calls", "amount": 1},
                ],
            },
            {},
        )
        assert told.status == 200, told.text
        # What follows changes for the key begins anew with what it may now.
        async with asyncio.timeout(60):
            with suppress(aiohttp.ClientError):  # a stream that is cut has ended, too
                await feed.content.read()
    changed = told.body["item"]
    assert changed["restrictions"] == {
        "pipelines": None,
        "models": None,
        "routes": ["memory", "page"],
        "addresses": None,
        "admin": True,
    }
    assert {**changed, "updated_at": 0} == {
        **item,
        "name": "tablet",
        "restrictions": changed["restrictions"],
        "updated_at": 0,
        "last_used_at": changed["last_used_at"],
    }
    assert (await asked(person)) == 403
    limits = {each["unit"]: each for each in (await alice.get("/budgets")).body["data"]}
    assert limits["requests"]["id"] == kept["id"] and limits["requests"]["amount"] == 9 and limits["requests"]["spent"] == 1
    assert limits["calls"]["amount"] == 1
    cleared = await alice.call("PATCH", path, {"restrictions": None, "limits": [], "expires_at": 2**52}, {})
    assert cleared.body["item"]["restrictions"] is None and cleared.body["item"]["expires_at"] == 2**52
    assert (await alice.get("/budgets")).body["data"] == []
    assert (await asked(person)) == 200

    log = (await alice.get("/operation-logs?action=client.api_key.update")).body["data"]
    assert [each["target_id"] for each in log] == [item["id"]] * 2 and made["secret"][18:] not in str(log)
    # A key changes no key.
    assert (await person.call("PATCH", path, {"restrictions": None}, {})).code == "client_management_actor_invalid"
    for wrong in ({}, {"expires_at": 1}, {"restrictions": {"routes": ["all"]}}, {"restrictions": {"addresses": ["here"]}},
                  {"restrictions": {"models": []}}, {"restrictions": {"modles": ["x"]}}):  # fmt: skip
        assert (await alice.call("PATCH", path, wrong, {})).status == 400, wrong
    assert (await alice.post(f"{path}/revoke")).status == 200
    assert (await alice.call("PATCH", path, {"name": "x"}, {})).code == "client_api_key_revoked"


ADDRESSES = st.ip_addresses()


@given(ADDRESSES, st.integers(0, 32))
def test_a_network_is_kept_as_it_is_meant(address: object, bits: int) -> None:
    kept = network_of(f"{address}/{bits}")
    assert network_of(kept) == kept
    restrictions = restrictions_of(text_of({"addresses": [kept]}))
    assert restrictions is not None and restrictions.allows_address(ip_address(str(address)))
    assert text_of({"admin": True}) is None and text_of(None) is None


def test_what_says_nothing_restricts_nothing() -> None:
    assert Restrictions().allows_pipeline("x") and Restrictions().may_edit
    assert not Restrictions(models=("*",)).allows_model("x" * 501)
    assert Restrictions(models=("gpt-?",)).allows_model("models/gpt-5")
