"""Pipelines, presets and keys that accounts have of their own: kept apart from each other's and from the server's."""

import asyncio
import re
from typing import Any

import pytest
from sqlalchemy import update

from agentui.api.keys import OWN, PIPELINES, STORE
from agentui.api.ops.openapi import ROUTES_BY_PLACE
from agentui.errors import NotFound
from agentui.http.keys import SETTINGS
from agentui.ids import SystemClock
from agentui.jsonio import Json
from agentui.owned.documents import OwnDocuments
from agentui.pipeline.nodes import BUILTIN
from agentui.secrets.store import SecretStore
from agentui.store.tables import account_secrets
from tests.accounts.conftest import ALICE, BOB, Person, StartTeam, Team, bearer
from tests.conftest import call
from tests.upstreams.server import API_KEY, Mock
from tests.upstreams.step import Step

SERVERS_KEY = "the-servers-key-0123"
SAID: dict[str, Json] = {"model": "text", "messages": [{"role": "user", "content": "Hello"}]}
NEW = {"if_none_match": "*"}


def asking(mock: Mock, secret: str = "mine", url: str = "", **config: Json) -> Json:
    """A pipeline that calls a model with a key of the account's own."""
    return call("openai", url or mock.origin, headers={"Authorization": f"Bearer [[SECRET:{secret}]]"}, **config)


@pytest.fixture
async def team(start_team: StartTeam, mock: Mock) -> Team:
    secret_env = {"AGENTUI_SECRET_SERVERS": SERVERS_KEY, "AGENTUI_SECRET_MINE": SERVERS_KEY}
    team = await start_team(secret_env=secret_env)
    preset = {"format": 1, "name": "x", "base_url": mock.origin, "headers": {"Authorization": f"Bearer {SERVERS_KEY}"}}
    for id in ("alice", "bob"):
        await team.account(id)
    assert (await team.operator.put("/api/presets/servers", preset, **NEW)).status == 201
    return team


def people(team: Team) -> tuple[Person, Person]:
    return team.person(**bearer(ALICE)), team.person(**bearer(BOB))


async def keep(person: Person, mock: Mock, id: str = "~story", **config: Json) -> Any:
    """Keep a key and a pipeline that uses it."""
    kept = await person.put("/api/secrets/~mine", {"value": API_KEY, "origins": [mock.origin]})
    assert kept.status in (200, 201), kept.text
    saved = await person.put(f"/api/pipelines/{id}", asking(mock, **config), **NEW)
    assert saved.status == 201 and saved.body["valid"] and saved.body["owner"] == "account", saved.text
    return saved


async def test_an_account_makes_uses_and_changes_pipelines_of_its_own(team: Team, mock: Mock) -> None:
    alice, bob = people(team)
    saved = await keep(alice, mock, model="text")
    for answer in (
        await alice.post("/p/~story/v1/chat/completions", SAID),
        await alice.post("/v1/chat/completions", {**SAID, "model": "pipeline/~story/text"}),
        await alice.post("/v1/chat/completions", SAID, x_agentui_pipeline="~story"),
        await alice.post("/api/try", {"pipeline": "~story", "request": sample()}),
        await alice.post("/api/try", {"pipeline": "~story", "document": asking(mock, model="text"), "request": sample()}),
    ):
        assert answer.status == 200, answer.text
        assert mock.last.headers["authorization"] == f"Bearer {API_KEY}"
        assert API_KEY not in answer.text
    session = (await alice.made("/sessions", title="x", pipeline_id="~story"))["data"]["id"]
    turn = await alice.post(f"/sessions/{session}/respond", {"message": "Hi"})
    assert turn.status == 200, turn.text
    assert (await alice.get("/api/runs")).body[0]["pipeline"] == "~story"
    assert "pipeline/~story" in (await alice.get("/v1/models")).text

    lines = {line["id"]: line["owner"] for line in (await alice.get("/api/pipelines")).body}
    assert lines == {"default": "server", "~story": "account"}
    assert API_KEY not in (await alice.get("/api/secrets")).text
    assert [(line["name"], line["source"]) for line in (await alice.get("/api/secrets")).body] == [("~mine", "account")]

    again = await alice.put("/api/pipelines/~story", asking(mock), if_match='"another"')
    assert (again.status, again.code) == (412, "precondition_failed") and again.body["error"]["details"]["current"]
    broken = {**asking(mock), "nodes": []}
    etag = saved.headers["etag"]
    assert (await alice.put("/api/pipelines/~story", broken, if_match=etag)).body["serving"] == etag
    assert (await alice.post("/p/~story/v1/chat/completions", SAID)).status == 200, "the last good version serves"
    versions = (await alice.get("/api/pipelines/~story/versions")).body
    assert [version["number"] for version in versions] == [2, 1]
    assert (await alice.put("/api/pipelines/~story/versions/1/name", {"name": "good"})).body["name"] == "good"
    renamed = await alice.post("/api/pipelines/~story/rename", {"id": "~tale"}, if_match="*")
    assert renamed.body["id"] == "~tale", renamed.text
    assert (await alice.get("/api/pipelines/~tale/versions/1")).body["document"] == asking(mock, model="text")
    assert (await alice.get("/api/pipelines/~story")).status == 404
    assert (await alice.delete("/api/pipelines/~tale", if_match="*")).status == 204
    assert (await alice.delete("/api/secrets/~mine")).status == 204
    for path in ("/api/pipelines/~tale", "/api/pipelines/~tale/versions"):
        assert (await alice.get(path)).status == 404
    # The server's are the server's, and the right to change them means them alone.
    for id in ("mine", "default"):
        assert (await alice.put(f"/api/pipelines/{id}", asking(mock), if_match="*")).code == "account_forbidden"
    assert (await alice.post("/api/pipelines/default/rename", {"id": "~mine"}, if_match="*")).code == "account_forbidden"
    assert (await team.operator.post("/api/pipelines/default/rename", {"id": "~mine"}, if_match="*")).status == 400
    await keep(bob, mock)
    assert (await bob.post("/api/pipelines/~story/activate")).status == 400


async def test_what_is_anothers_is_not_there(team: Team, mock: Mock) -> None:
    alice, bob = people(team)
    await keep(alice, mock)
    preset = {"format": 1, "name": "x", "base_url": mock.origin}
    assert (await alice.put("/api/presets/~place", preset, **NEW)).status == 201
    await bob.put("/api/secrets/~other", {"value": "bobs", "origins": [mock.origin]})  # so that Bob has something
    before = len(mock.requests)
    for kind, id in (("pipelines", "~story"), ("presets", "~place")):
        for path in ("", "/versions", "/versions/1"):
            assert (await bob.get(f"/api/{kind}/{id}{path}")).status == 404, path
        assert (await bob.delete(f"/api/{kind}/{id}", if_match="*")).status == 404
        assert (await bob.put(f"/api/{kind}/{id}/versions/1/name", {"name": "x"})).status == 404
        assert id not in (await bob.get(f"/api/{kind}")).text
    assert (await bob.post("/api/pipelines/~story/rename", {"id": "~mine"}, if_match="*")).status == 404
    assert (await bob.delete("/api/secrets/~mine")).status == 404
    assert "~mine" not in (await bob.get("/api/secrets")).text
    for answer in (
        await bob.post("/p/~story/v1/chat/completions", SAID),
        await bob.post("/v1/chat/completions", {**SAID, "model": "pipeline/~story"}),
        await bob.post("/api/try", {"pipeline": "~story", "request": sample()}),
        await bob.post("/api/preview", {"pipeline": "~story", "node": "n1", "request": sample()}),
        await bob.post("/sessions", {"title": "x", "pipeline_id": "~story"}),
        await team.operator.post("/p/~story/v1/chat/completions", SAID),
    ):
        assert answer.status == 404, answer.text
    assert "~story" not in (await bob.get("/v1/models")).text, "the server asks its own provider for the rest"
    assert [request.path for request in mock.requests[before:]] == ["/v1/models"]
    # The same id is free for everybody, and means one's own.
    await keep(bob, mock, model="bobs")
    assert (await bob.get("/api/pipelines/~story")).body["document"] == asking(mock, model="bobs")
    assert (await alice.get("/api/pipelines/~story")).body["document"] == asking(mock)


async def test_a_pipeline_of_ones_own_reaches_no_key_of_the_servers(team: Team, mock: Mock) -> None:
    """By whatever name, preset, pipeline or address; and its own keys go nowhere but where they are bound to."""
    alice, _ = people(team)
    team.server.put("servers", asking(mock, "servers"))
    before = len(mock.requests)
    for secret in ("servers", "SERVERS", "mine"):
        document = asking(mock, secret)
        assert (await alice.put("/api/pipelines/~steals", document, if_match="*")).status in (200, 201)
        for answer in (
            await alice.post("/p/~steals/v1/chat/completions", SAID),
            await alice.post("/api/try", {"pipeline": "~steals", "document": document, "request": sample()}),
            await alice.post("/api/preview", {"pipeline": "~steals", "node": "n1", "request": sample()}),
        ):
            assert answer.status == 404 and "your own keys alone" in answer.text, answer.text
        fetch = {"id": "h", "type": "HttpRequest", "config": {"url": mock.origin, "headers": {"x": f"[[SECRET:{secret}]]"}}}
        fetching = {"format": 1, "name": "x", "nodes": [fetch, {"id": "t", "type": "Text", "config": {"text": "x"}}]}
        fetching |= {"edges": [{"from": "h", "to": "t"}]}
        answer = await alice.post("/api/try", {"pipeline": "~f", "document": fetching, "request": sample()})
        assert answer.status == 404, answer.text
    target = call("openai", mock.origin, targets=[{"name": "a", "preset": "servers"}])
    calling = {"format": 1, "name": "x", "nodes": [{"id": "s", "type": "SubPipeline", "config": {"pipeline": "servers"}}]}
    for document, code in ((target, "preset.not_own"), (calling, "pipeline.not_own")):
        saved = await alice.put("/api/pipelines/~calls", document, if_match="*")
        assert [problem["code"] for problem in saved.body["problems"]] == [code]
        checked = await alice.post("/api/validate", {"document": document, "pipeline": "~calls"})
        assert not checked.body["valid"] and code in checked.text
        assert (await alice.post("/p/~calls/v1/chat/completions", SAID)).status == 422
    assert len(mock.requests) == before and SERVERS_KEY not in str([request.headers for request in mock.requests])
    # What the server has calls nothing of an account, whose text could tell it to send a key anywhere.
    await keep(alice, mock, "~story")
    for config in ({"targets": [{"name": "a", "preset": "~place"}]}, {}):
        reaching: Json = call("openai", mock.origin, **config)
        if not config:
            reaching = {**calling, "nodes": [{"id": "s", "type": "SubPipeline", "config": {"pipeline": "~story"}}]}
        team.server.put("reaching", reaching)
        answer = await alice.post("/p/reaching/v1/chat/completions", SAID)
        assert answer.status in (404, 502), answer.text
        assert "their own" in answer.text
    elsewhere = asking(mock, url="https://example.com")
    assert (await alice.put("/api/pipelines/~away", elsewhere, **NEW)).status == 201
    refused = await alice.post("/p/~away/v1/chat/completions", SAID)
    assert (refused.status, refused.body["error"]["code"]) == (403, "forbidden"), refused.text
    assert (await alice.put("/api/secrets/~free", {"value": "x"})).status == 400, "a key is bound to an address"


async def test_a_key_that_was_changed_in_the_database_opens_nothing(team: Team, mock: Mock) -> None:
    alice, bob = people(team)
    await keep(alice, mock)
    await keep(bob, mock)
    store = team.server.state.store

    def swap(db: Any) -> None:
        own = account_secrets.c.account_id
        sealed = {row.account_id: row.sealed for row in db.execute(account_secrets.select()).all()}
        db.execute(update(account_secrets).where(own == "bob").values(sealed=sealed["alice"], updated_at=2**50))

    await store.write(swap)
    answer = await bob.post("/p/~story/v1/chat/completions", SAID)
    assert answer.status == 422 and "cannot be opened" in answer.text


async def test_an_operator_may_want_no_pipelines_of_accounts(start_team: StartTeam, mock: Mock) -> None:
    team = await start_team(own_pipelines=False)
    await team.account("alice")
    alice = team.person(**bearer(ALICE))
    for answer in (
        await alice.put("/api/pipelines/~story", asking(mock), **NEW),
        await alice.put("/api/secrets/~mine", {"value": "x", "origins": [mock.origin]}),
        await alice.post("/p/~story/v1/chat/completions", SAID),
        await alice.post("/api/try", {"pipeline": "~story", "document": asking(mock), "request": sample()}),
    ):
        assert answer.status == 403 and "AGENTUI_OWN_PIPELINES" in answer.text, answer.text
    assert (await alice.get("/api/secrets")).body == []
    assert [line["id"] for line in (await alice.get("/api/pipelines")).body] == ["default"]


def sample() -> Json:
    return {"method": "POST", "path": "/v1/chat/completions", "body": SAID}


def test_only_documents_and_keys_are_changed_without_the_right() -> None:
    """The right to edit is not asked for where an id begins with ``~``: no other route that asks for it takes such an id."""
    named = {path for (_, path), route in ROUTES_BY_PLACE.items() if route.needs == "edit" and re.search("{(id|secret)}", path)}
    assert named and all(re.match("/api/(pipelines|presets|secrets)/{", path) for path in named), named


async def test_an_account_has_so_much_of_its_own(team: Team, mock: Mock) -> None:
    """Whoever asks by one of these documents has all of them in memory."""
    alice, bob = people(team)
    large: Json = {"format": 1, "name": "x", "base_url": mock.origin, "description": "x" * (2 * 1024 * 1024 - 1000)}
    for number in range(8):
        assert (await alice.put(f"/api/presets/~p{number}", large, **NEW)).status == 201, number
    for kind in ("presets", "pipelines"):
        refused = await alice.put(f"/api/{kind}/~more", {**large, "nodes": [], "edges": []}, **NEW)
        assert (refused.status, refused.code) == (409, "conflict") and "16,777,216" in refused.text, refused.text
    # What takes the place of something counts once, and others have as much.
    assert (await alice.put("/api/presets/~p1", {**large, "name": "y"}, if_match="*")).status == 200
    assert (await bob.put("/api/presets/~more", large, **NEW)).status == 201


async def test_a_run_keeps_what_it_calls_whoever_else_asks(team: Team, mock: Mock) -> None:
    """Accounts that are asked for take each other's place in memory, but not that of one with a run under way."""
    alice, bob = people(team)
    await keep(alice, mock, "~inner", model="text")
    outer: Json = asking(mock, model="text")
    outer["nodes"].append({"id": "n2", "type": "SubPipeline", "config": {"pipeline": "~inner"}})
    outer |= {"edges": [{"from": "n1", "to": "n2"}], "answer": "n2"}
    assert (await alice.put("/api/pipelines/~outer", outer, **NEW)).body["valid"]
    await keep(bob, mock, "~bobs", model="text")
    own = team.server.app[OWN]
    own.most = 1
    mock.script(Step(hold="headers"))
    run = asyncio.create_task(alice.post("/p/~outer/v1/chat/completions", SAID))
    await mock.was_asked()
    assert (await bob.put("/api/pipelines/~bobs", asking(mock, model="other"), if_match="*")).status == 200
    mock.release()
    answer = await run
    assert answer.status == 200, answer.text
    # Its run is over: the next who asks takes its place.
    assert (await bob.put("/api/pipelines/~bobs", asking(mock, model="text"), if_match="*")).status == 200
    with pytest.raises(NotFound):
        own.plan("alice", "~inner")
    # Which nobody notices, not even who looks at what ran before.
    id = (await alice.get("/api/runs")).body[0]["id"]
    assert (await bob.put("/api/pipelines/~bobs", asking(mock, model="other"), if_match="*")).status == 200
    shown = await alice.post("/api/preview", {"run_id": id, "node": "n1"})
    assert shown.status == 200, shown.text
    assert (await alice.post("/p/~outer/v1/chat/completions", SAID)).status == 200


async def test_a_chain_of_pipelines_is_read_once(team: Team) -> None:
    """Each of a chain looks for a circle in all behind it: what they call is found once for each."""
    library = team.server.app[PIPELINES]
    understood: list[str] = []

    class Counting:
        def understand(self, id: str, document: Any) -> Any:
            understood.append(id)
            return library.understand(id, document)

    secrets, counting = SecretStore(team.server.app[SETTINGS].data, {}), Counting()
    own = OwnDocuments(team.server.app[STORE], secrets, SystemClock(), lambda _: counting, BUILTIN.keys(), is_allowed=True)
    length = 30
    for number in reversed(range(length)):
        node: Json = {"id": "n", "type": "SubPipeline", "config": {"pipeline": f"~p{number + 1}"}}
        chain: Json = {"format": 1, "name": "x", "nodes": [node], "edges": [], "answer": "n"}
        entry, _ = await own.save("alice", "pipelines", f"~p{number}", chain, None, "*")
        assert entry.good is not None, entry.problems
    # Once before it is kept, once as it is kept, and once for what calls it.
    assert len(understood) <= 3 * length


async def test_who_may_not_edit_is_not_told_which_secrets_the_server_has(team: Team, mock: Mock) -> None:
    alice, _ = people(team)
    for secret, missing in (("servers", []), ("nobodys", ["secret.unknown"])):
        document = asking(mock, secret)
        told = await team.operator.post("/api/validate", {"document": document})
        assert [problem["code"] for problem in told.body["problems"]] == missing
        told = await alice.post("/api/validate", {"document": document})
        assert told.status == 200 and told.body["problems"] == []
        told = await alice.post("/api/validate", {"document": document, "pipeline": "~x"})
        assert [problem["code"] for problem in told.body["problems"]] == ["secret.unknown"], "it reads her own"
