"""``/llm-profiles`` and ``/llm-instances`` as TavernHeadless' contract has them (part 6)."""

import os
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select, update

from agentui.jsonio import Json
from agentui.store.tables import llm_bindings, llm_profiles
from tests.turns.conftest import StartHouse
from tests.turns.house import House
from tests.upstreams.server import API_KEY

PROFILE = {
    "id", "preset_name", "provider", "model_id", "base_url", "api_key_name", "api_key_masked", "status", "last_used_at",
    "created_at", "updated_at",
}  # fmt: skip
KEY = "sk-very-secret-0123456789"


class Api:
    """A caller who looks at statuses, codes and data."""

    def __init__(self, house: House) -> None:
        self.house = house

    async def ask(self, method: str, path: str, body: Json = None, **headers: str) -> tuple[int, Json]:
        status, answer = await self.house.memory.call(method, path, body, **headers)
        assert KEY not in str(answer)
        return status, answer["error"]["code"] if status >= 400 else answer["data"]

    async def profile(self, name: str = "mine", **fields: Json) -> Json:
        given = {"preset_name": name, "provider": "openai", "model_id": "text", "api_key": KEY, **fields}
        status, made = await self.ask("POST", "/llm-profiles", given)
        assert status == 201, made
        return made

    async def session(self) -> str:
        status, made = await self.ask("POST", "/sessions", {})
        assert status == 201
        return str(made["id"])


@pytest.fixture
async def api(house: House) -> AsyncIterator[Api]:
    yield Api(house)


async def test_a_profile_is_made_changed_disabled_and_deleted_and_its_key_is_never_shown(api: Api) -> None:
    made = await api.profile(api_key_name="home")
    assert made.keys() == PROFILE
    assert (made["api_key_masked"], made["status"], made["base_url"], made["last_used_at"]) == (
        "sk-v****6789",
        "active",
        None,
        None,
    )
    path = f"/llm-profiles/{made['id']}"
    other = {"preset_name": "mine", "provider": "xai", "model_id": "m", "api_key": "k"}
    assert await api.ask("POST", "/llm-profiles", other) == (409, "profile_conflict")
    second = await api.profile("other", api_key="abcdefgh")
    assert second["api_key_masked"] == "a****h"
    assert await api.ask("PATCH", f"/llm-profiles/{second['id']}", {"preset_name": "mine"}) == (409, "profile_conflict")
    assert (await api.ask("PATCH", path, {}))[0] == 400
    status, changed = await api.ask("PATCH", path, {"status": "disabled", "api_key_name": None})
    assert (status, changed["status"], changed["api_key_name"], changed["model_id"]) == (200, "disabled", None, "text")
    assert [each["id"] for each in (await api.ask("GET", "/llm-profiles?status=disabled"))[1]] == [made["id"]]
    assert [each["id"] for each in (await api.ask("GET", "/llm-profiles"))[1]] == [made["id"], second["id"]]
    assert await api.ask("DELETE", path) == (200, {"id": made["id"], "deleted": True})
    assert await api.ask("DELETE", path) == (200, {"id": made["id"], "deleted": True})
    assert (await api.ask("GET", path))[1]["status"] == "deleted"
    assert await api.ask("PATCH", path, {"status": "active"}) == (409, "profile_inactive")
    assert await api.ask("POST", f"{path}/activate", {}) == (409, "profile_inactive")
    assert len((await api.ask("GET", "/llm-profiles"))[1]) == 1
    assert len((await api.ask("GET", "/llm-profiles?include_deleted=true"))[1]) == 2
    await api.profile()  # the name of a deleted one is free
    assert await api.ask("GET", "/llm-profiles/none") == (404, "profile_not_found")
    store = api.house.server.state.store
    kept = await store.read(lambda db: db.execute(select(llm_profiles.c.sealed_key, llm_profiles.c.status)).all())
    assert sorted(bool(sealed) for sealed, status in kept) == [False, True, True]
    assert all(KEY not in sealed for sealed, _ in kept)


async def test_a_key_stays_bound_to_the_address_it_was_given_for(api: Api) -> None:
    made = await api.profile(provider="openai-compatible", base_url="http://127.0.0.1:9/v1")
    path = f"/llm-profiles/{made['id']}"
    assert await api.ask("PATCH", path, {"base_url": "http://127.0.0.1:8/v1"}) == (400, "validation_error")
    assert await api.ask("PATCH", path, {"provider": "xai", "base_url": None}) == (400, "validation_error")
    assert (await api.ask("PATCH", path, {"base_url": "http://127.0.0.1:9/v4"}))[0] == 200
    assert (await api.ask("PATCH", path, {"base_url": "http://127.0.0.1:8/v1", "api_key": "another-key"}))[0] == 200
    nowhere = {"preset_name": "x", "provider": "openai-compatible", "model_id": "m", "api_key": "k"}
    assert await api.ask("POST", "/llm-profiles", nowhere) == (400, "validation_error")
    for odd in ("[[VAR:x]]", "{{user}}"):
        assert await api.ask("POST", "/llm-profiles", {**nowhere, "base_url": f"https://a.b/{odd}"}) == (
            400,
            "validation_error",
        )
        assert await api.ask("PATCH", path, {"model_id": odd}) == (400, "validation_error")


async def test_a_profile_is_bound_to_slots_in_places(api: Api) -> None:
    one, two, session = await api.profile("one"), await api.profile("two"), await api.session()
    path = f"/llm-profiles/{one['id']}/activate"
    status, bound = await api.ask("POST", path, {"params": {"temperature": 0.5, "other": 1}})
    told = {"profile_id": one["id"], "scope": "global", "scope_id": "global", "instance_slot": "*", "activated": True}
    assert (status, bound) == (200, {**told, "params": {"temperature": 0.5}})
    assert (await api.ask("POST", path, {}))[1]["params"] == {"temperature": 0.5}
    assert (await api.ask("POST", path, {"params": None}))[1]["params"] is None
    place = {"scope": "session", "session_id": session, "instance_slot": "narrator"}
    assert (await api.ask("POST", f"/llm-profiles/{two['id']}/activate", place))[1]["scope_id"] == session
    assert await api.ask("POST", path, {"scope": "session"}) == (400, "missing_session_id")
    assert await api.ask("POST", path, {"scope": "session", "session_id": "none"}) == (404, "session_scope_not_found")
    assert await api.ask("POST", path, {"instance_slot": "singer"}) == (400, "invalid_slot")
    assert await api.ask("POST", path, {"params": {"temperature": 3}}) == (400, "invalid_params")
    assert await api.ask("DELETE", f"/llm-profiles/{one['id']}") == (409, "profile_in_use")
    slots = {each["slot"]: each for each in (await api.ask("GET", f"/llm-profiles/runtime?session_id={session}"))[1]["slots"]}
    assert list(slots) == ["*", "narrator", "director", "verifier", "memory"]
    assert (slots["narrator"]["source"], slots["narrator"]["profile_id"]) == ("session_profile", two["id"])
    assert (slots["memory"]["source"], slots["memory"]["preset_name"], slots["memory"]["model_id"]) == (
        "global_profile",
        "one",
        "text",
    )
    assert (await api.ask("GET", "/llm-profiles/runtime?session_id=none"))[1]["session_id"] is None
    where = f"scope=session&session_id={session}"
    unbound = {"scope": "session", "scope_id": session, "instance_slot": "narrator", "unbound": True}
    assert await api.ask("DELETE", f"/llm-profiles/bindings/narrator?{where}") == (200, unbound)
    assert await api.ask("DELETE", f"/llm-profiles/bindings/narrator?{where}") == (404, "binding_not_found")
    assert await api.ask("DELETE", "/llm-profiles/bindings/*?scope=session&session_id=none") == (404, "session_scope_not_found")
    # Deleting a session removes what is bound in it.
    await api.ask("POST", f"/llm-profiles/{two['id']}/activate", place)
    assert (await api.ask("DELETE", f"/sessions/{session}"))[0] == 200
    assert (await api.ask("DELETE", f"/llm-profiles/{two['id']}"))[0] == 200
    rows = await api.house.server.state.store.read(lambda db: db.execute(select(llm_bindings.c.scope)).scalars().all())
    assert rows == ["global"]


async def test_what_cannot_serve_is_skipped_and_told(api: Api) -> None:
    one, two, three = [await api.profile(name) for name in ("one", "two", "three")]
    session = await api.session()
    for profile, slot, place in (
        (one, "narrator", {"scope": "session", "session_id": session}),
        (two, "narrator", {}),
        (three, "*", {}),
    ):
        await api.ask("POST", f"/llm-profiles/{profile['id']}/activate", {"instance_slot": slot, **place})
    await api.ask("PATCH", f"/llm-profiles/{one['id']}", {"status": "disabled"})
    damage = update(llm_profiles).where(llm_profiles.c.id == two["id"]).values(sealed_key="broken")
    await api.house.server.state.store.write(lambda db: db.execute(damage).rowcount)
    slots = (await api.ask("GET", f"/llm-profiles/runtime?session_id={session}"))[1]["slots"]
    assert (slots[1]["profile_id"], slots[1]["reason"]) == (three["id"], "three is bound to all slots for all sessions.")
    assert [(each["profile_id"], each["reason"]) for each in slots[1]["skipped"]] == [
        (one["id"], "disabled"),
        (two["id"], "secret_invalid_format"),
    ]
    assert await api.ask("POST", "/llm-profiles/models/discover", {"profile_id": two["id"]}) == (500, "secret_invalid_format")
    # A row that somebody pointed elsewhere opens no key.
    away = update(llm_profiles).where(llm_profiles.c.id == three["id"]).values(base_url="https://elsewhere.example")
    await api.house.server.state.store.write(lambda db: db.execute(away).rowcount)
    slots = (await api.ask("GET", "/llm-profiles/runtime"))[1]["slots"]
    assert (slots[0]["source"], slots[0]["skipped"][0]["reason"]) == ("env", "secret_invalid_format")


async def test_without_the_servers_own_key_nothing_is_kept_and_what_was_is_skipped(api: Api) -> None:
    made = await api.profile()
    await api.ask("POST", f"/llm-profiles/{made['id']}/activate", {})
    key = api.house.server.data / "secret.key"
    kept = key.read_bytes()
    key.write_text("not a key")
    new = {"preset_name": "new", "provider": "openai", "model_id": "m", "api_key": KEY}
    assert await api.ask("POST", "/llm-profiles", new) == (503, "secret_unavailable")
    os.unlink(key)
    slots = (await api.ask("GET", "/llm-profiles/runtime"))[1]["slots"]
    assert (slots[0]["source"], slots[0]["skipped"][0]["reason"]) == ("env", "secret_unavailable")
    assert not key.exists(), "no new key is made where the old one would open what there is"
    key.write_bytes(kept)
    assert (await api.ask("GET", "/llm-profiles/runtime"))[1]["slots"][0]["source"] == "global_profile"


async def test_instance_configs_are_kept_by_slots_and_places(api: Api) -> None:
    session = await api.session()
    status, made = await api.ask("PUT", "/llm-instances/narrator", {"params": {"top_k": 5}})
    assert (status, made["enabled"], made["preset_id"], made["params"], made["scope_id"]) == (
        200,
        True,
        None,
        {"top_k": 5},
        "global",
    )
    status, again = await api.ask("PUT", "/llm-instances/narrator", {"enabled": False})
    assert (again["id"], again["enabled"], again["params"]) == (made["id"], False, {"top_k": 5})
    status, again = await api.ask("PUT", "/llm-instances/narrator", {"params": None})
    assert (again["enabled"], again["params"]) == (True, None)  # what is left out of enabled is true
    place = {"scope": "session", "session_id": session}
    assert await api.ask("PUT", "/llm-instances/*", {"scope": "session", "session_id": "none"}) == (
        404,
        "session_scope_not_found",
    )
    assert await api.ask("PUT", "/llm-instances/narrator", {"preset_id": "none"}) == (404, "preset_not_found")
    assert await api.ask("PUT", "/llm-instances/singer", {}) == (400, "invalid_slot")
    assert await api.ask("PUT", "/llm-instances/narrator", {"params": {"stream": 1}}) == (400, "invalid_params")
    assert (await api.ask("PUT", "/llm-instances/*", {**place, "enabled": False}))[0] == 200
    where = f"scope=session&session_id={session}"
    assert [each["instance_slot"] for each in (await api.ask("GET", f"/llm-instances?{where}"))[1]] == ["*"]
    assert (await api.ask("GET", f"/llm-instances/narrator?{where}"))[1] == []
    assert len((await api.ask("GET", "/llm-instances/narrator"))[1]) == 1
    assert await api.ask("GET", "/llm-instances?scope=session") == (400, "missing_session_id")
    resolved = (await api.ask("GET", f"/llm-instances/resolved?session_id={session}"))[1]["slots"]
    assert [(each["source"], each["enabled"]) for each in resolved] == [("session_config", False)] * 5
    resolved = (await api.ask("GET", "/llm-instances/resolved"))[1]["slots"]
    assert [each["source"] for each in resolved] == ["default", "global_config", "default", "default", "default"]
    assert await api.ask("GET", "/llm-instances/resolved?session_id=none") == (404, "session_scope_not_found")
    told = {"instance_slot": "*", "scope": "session", "deleted": True}
    assert await api.ask("DELETE", f"/llm-instances/*?{where}") == (200, told)
    assert await api.ask("DELETE", f"/llm-instances/*?{where}") == (404, "config_not_found")


@pytest.mark.parametrize(
    ("provider", "path"), [("openai", ""), ("anthropic", ""), ("google", ""), ("openai-compatible", "/v1")]
)
async def test_a_provider_is_asked_for_its_models_and_for_a_word(api: Api, provider: str, path: str) -> None:
    mock = api.house.mock
    given = {"provider": provider, "api_key": API_KEY, "base_url": mock.origin + path}
    status, models = await api.ask("POST", "/llm-profiles/models/discover", given)
    assert (status, {"id", "label"}, "text" in str(models)) == (200, models[0].keys(), True)
    status, said = await api.ask("POST", "/llm-profiles/models/test", {**given, "model_id": "text"})
    assert (status, said) == (200, {"request_text": "Hello", "response_text": "Hello from the mock."})
    made = await api.profile(**given)
    assert (await api.ask("POST", "/llm-profiles/models/discover", {"profile_id": made["id"]}))[1] == models
    assert (await api.ask("POST", "/llm-profiles/models/test", {"profile_id": made["id"]}))[1] == said
    wrong = {**given, "api_key": KEY}
    assert await api.ask("POST", "/llm-profiles/models/discover", wrong) == (502, "model_discovery_failed")
    assert await api.ask("POST", "/llm-profiles/models/test", {**wrong, "model_id": "text"}) == (502, "model_test_failed")


async def test_asking_needs_somebody_to_ask(api: Api) -> None:
    for body in (
        {},
        {"provider": "openai"},
        {"profile_id": "x", "api_key": "k"},
        {"profile_id": "x", "base_url": "https://a.b"},
    ):
        assert await api.ask("POST", "/llm-profiles/models/discover", body) == (400, "validation_error")
    assert await api.ask("POST", "/llm-profiles/models/discover", {"profile_id": "none"}) == (404, "profile_not_found")
    assert await api.ask("POST", "/llm-profiles/models/test", {"provider": "openai", "api_key": "k"}) == (
        400,
        "validation_error",
    )
    nothing = {"provider": "openai-compatible", "base_url": f"{api.house.mock.origin}/nothing", "api_key": API_KEY}
    assert (await api.ask("POST", "/llm-profiles/models/discover", nothing))[0] == 502


async def test_private_addresses_are_called_where_the_server_may(start_house: StartHouse) -> None:
    api = Api(await start_house(allow_private=False))
    given = {"provider": "openai", "api_key": KEY}
    for address in (api.house.mock.origin, "http://169.254.169.254/x", "http://localhost:1", "ftp://a.b", "https://u:p@a.b"):
        new = {**given, "preset_name": "x", "model_id": "m", "base_url": address}
        assert await api.ask("POST", "/llm-profiles", new) == (400, "ssrf_blocked"), address
        asked = {**given, "base_url": address, "allow_private_network": True}
        assert await api.ask("POST", "/llm-profiles/models/discover", asked) == (400, "ssrf_blocked"), address
    made = await api.profile()
    path = f"/llm-profiles/{made['id']}"
    assert await api.ask("PATCH", path, {"base_url": "http://10.0.0.1", "api_key": KEY}) == (400, "ssrf_blocked")


async def test_a_caller_may_refuse_private_addresses_himself(api: Api) -> None:
    given = {"provider": "openai", "api_key": API_KEY, "base_url": api.house.mock.origin}
    asked = {**given, "allow_private_network": False}
    assert await api.ask("POST", "/llm-profiles/models/discover", asked) == (400, "ssrf_blocked")
    assert (await api.ask("POST", "/llm-profiles/models/discover", {**given, "allow_private_network": True}))[0] == 200
