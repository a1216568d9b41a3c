"""Turns of sessions that are bound to the library: what the model is sent, how it is asked, and what is told of it."""

import pytest

from agentui.api.keys import LIVE
from agentui.assets.bundle import PromptAssets
from agentui.assets.script import BoundScript, RegexScript
from agentui.jsonio import dumps, loads
from agentui.library import bundles
from agentui.library.bundles import Bundle
from agentui.principal import DEFAULT_ACCOUNT
from agentui.turns.live.rewriting import rewritten
from agentui.turns.request import TurnRequest
from tests.turns.house import House, Json
from tests.turns.talk import Talk, begin_talk
from tests.upstreams.step import Step

CARD: Json = {
    "name": "Ada",
    "description": "{{char}} builds engines for {{user}}.",
    "first_mes": "Hello, {{user}}.",
    "alternate_greetings": ["Good evening."],
    "extensions": {},
}
PROMPTS = [
    {"identifier": "main", "role": "system", "content": "Play {{char}}."},
    {"identifier": "charDescription", "marker": True},
    {"identifier": "chatHistory", "marker": True},
    {"identifier": "personaDescription", "marker": True},
]
ORDER = ("main", "charDescription", "personaDescription", "chatHistory")
PRESET: Json = {
    "temperature": 0.3,
    "top_p": 1,
    "openai_max_context": 4000,
    "openai_max_tokens": 222,
    "new_chat_prompt": "",
    "prompts": PROMPTS,
    "prompt_order": [
        {
            "character_id": 100001,
            "order": [
                {"identifier": name, "enabled": True}
                for name in ("main", "charDescription", "personaDescription", "chatHistory")
            ],
        }
    ],
}


async def make(house: House, path: str, **body: Json) -> Json:
    """An asset."""
    status, answer = await house.memory.call("POST", path, body)
    assert status == 201, answer
    return answer["data"]


async def bound_talk(house: House, **fields: Json) -> Talk:
    """A session that is bound to a character, a user and a prompt preset. Its model takes every system text as a message, so
    that one sees what the prompt is made of; compatible servers get those at the front as one."""
    card = await make(house, "/characters", snapshot=CARD)
    user = await make(house, "/users", snapshot={"name": "Ben", "description": "{{user}} is a sailor."})
    preset = await make(house, "/presets", name="Short", data=PRESET)
    bound = {"character_id": card["id"], "user_id": user["id"], "preset_id": preset["id"], "model_name": "gpt-4o"}
    return await begin_talk(house, **{**bound, **fields})


def sent(house: House) -> list[tuple[str, str]]:
    """What the model was sent last."""
    return [(message["role"], message["content"]) for message in house.mock.last.body["messages"]]


async def test_a_bound_session_is_sent_its_preset_its_character_and_its_user(house: House) -> None:
    talk = await bound_talk(house)
    await talk.respond("Who are you?")
    assert sent(house) == [
        ("system", "Play Ada."),
        ("system", "Ada builds engines for Ben."),
        ("system", "Ben is a sailor."),
        ("assistant", "Hello, Ben."),
        ("user", "Who are you?"),
    ]


async def test_every_kind_of_turn_is_made_of_what_its_session_is_bound_to(house: House) -> None:
    talk = await bound_talk(house)
    floor = (await talk.respond("One"))["floor_id"]
    said = await house.memory.get(f"/messages?floor_id={floor}&role=user")
    for path, body in (
        (f"/floors/{floor}/retry", None),
        (f"/messages/{said[0]['id']}/edit-and-regenerate", {"content": "Other"}),
        (f"/sessions/{talk.session}/regenerate", None),
    ):
        status, answer = await talk.post(path, body)
        assert status == 200, answer
        assert sent(house)[0] == ("system", "Play Ada.")
        assert house.mock.last.body["max_tokens"] == 222


async def test_a_session_in_native_mode_is_sent_what_it_was(house: House) -> None:
    talk = await bound_talk(house, prompt_mode="native")
    await talk.respond("Hi")
    assert "Play Ada." not in str(sent(house))


async def test_all_greetings_of_a_card_stand_on_the_first_floor(house: House) -> None:
    talk = await bound_talk(house)
    (floor,) = await house.memory.floors(talk.session)
    pages = await house.memory.get(f"/pages?floor_id={floor['id']}")
    assert sorted(page["is_active"] for page in pages) == [False, True]
    assert await talk.timeline() == [("assistant", "Hello, {{user}}.")]


async def test_a_presets_parameters_lie_below_the_sessions_and_the_requests(house: House) -> None:
    talk = await bound_talk(house)
    await talk.respond("One")
    body = house.mock.last.body
    assert (body["temperature"], body["max_tokens"]) == (0.3, 222)
    assert "top_p" not in body
    await house.memory.call("PATCH", f"/sessions/{talk.session}", {"model_params": {"temperature": 0.5}})
    await talk.respond("Two")
    assert house.mock.last.body["temperature"] == 0.5
    await talk.respond("Three", generation_params={"temperature": 0.9})
    assert (house.mock.last.body["temperature"], house.mock.last.body["max_tokens"]) == (0.9, 222)


async def test_a_presets_further_sampling_reaches_a_compatible_server(house: House) -> None:
    sampling = {"top_k": 40, "min_p": 0.05, "repetition_penalty": 1.1}
    preset = await make(house, "/presets", name="Wild", data={**sampling, "top_a": 0.5})
    talk = await begin_talk(house, preset_id=preset["id"])
    await talk.respond("One")
    assert {name: house.mock.last.body.get(name) for name in (*sampling, "top_a")} == {**sampling, "top_a": None}
    await talk.respond("Two", generation_params={"min_p": 0.2, "repetition_penalty": 1.2})
    assert (house.mock.last.body["min_p"], house.mock.last.body["repetition_penalty"]) == (0.2, 1.2)
    refused = [Step(status=400, message=f"Unrecognized request argument supplied: {name}") for name in ("min_p", "top_k")]
    house.mock.script([*refused, Step(text="Without.")])
    await talk.respond("Three")
    assert (await talk.timeline())[-1] == ("assistant", "Without.")
    assert house.mock.last.body.keys() & sampling.keys() == {"repetition_penalty"}


async def test_a_presets_window_says_how_much_of_the_past_is_read(house: House) -> None:
    long = "word " * 1200
    preset = await make(house, "/presets", name="Wide", data={"openai_max_context": 200_000, "openai_max_tokens": 100})
    talk = await begin_talk(house, preset_id=preset["id"])
    for number in range(12):
        await talk.respond(f"{number} {long}")
    assert str(sent(house)).count(long) == 12


async def test_what_is_told_of_a_prompt_names_its_assets(house: House) -> None:
    talk = await bound_talk(house)
    done = await talk.respond("Hi", debug_options={"include_prompt_snapshot": True})
    told = done["prompt_snapshot"]
    session = await house.memory.get(f"/sessions/{talk.session}")
    preset = await house.memory.get(f"/presets/{session['preset_id']}")
    character = await house.memory.get(f"/characters/{session['character_binding']['character_id']}")
    assert (told["preset_id"], told["preset_version"]) == (preset["id"], 1)
    assert told["preset_content_hash"] == preset["content_hash"]
    assert (told["character_id"], told["character_content_hash"]) == (character["id"], character["content_hash"])
    assert told["character_imported_format"] is None
    assert told["worldbook_id"] is None
    assert told["asset_manifest_digest"].startswith("sha256:")
    kept = await house.memory.get(f"/floors/{done['floor_id']}/prompt-runtime/explain")
    version = {"version_id": preset["version_id"], "version_no": 1, "content_hash": preset["content_hash"]}
    assert kept["assets"]["preset"] == {"id": preset["id"], "name": "Short", **version}
    assert kept["assets"]["character_card"] == {"id": character["id"], "name": "Ada"}
    assert kept["prompt_snapshot"]["asset_manifest_digest"] == told["asset_manifest_digest"]
    status, answer = await talk.post(f"/sessions/{talk.session}/respond/dry-run", {"message": "Hi"})
    assert status == 200
    assert answer["data"]["assembly"]["preset_used"] is True
    assert answer["data"]["prompt_snapshot"]["preset_id"] == preset["id"]
    assert (await house.memory.get(f"/sessions/{talk.session}/prompt-runtime/assets")) == kept["assets"]


async def test_a_dry_run_and_an_inspection_are_what_is_sent(house: House) -> None:
    talk = await bound_talk(house)
    status, would = await talk.post(f"/sessions/{talk.session}/respond/dry-run", {"message": "Hi"})
    assert status == 200
    status, seen = await talk.post(f"/sessions/{talk.session}/prompt-runtime/inspect", {"message": "Hi"})
    assert status == 200
    await talk.respond("Hi")
    for told in (would["data"], seen["data"]["prepared_turn"]):
        assert [(each["role"], each["content"]) for each in told["messages"]] == sent(house)
    assert seen["data"]["prepared_turn"]["generation_params"]["max_output_tokens"] == 222
    status, shown = await talk.post(f"/sessions/{talk.session}/prompt-runtime/preview", {"text": "{{char}}, {{user}}"})
    assert (status, shown["data"]["text"]) == (200, "Ada, Ben")


async def test_a_change_of_a_preset_counts_unless_its_version_is_named(house: House) -> None:
    loose = await bound_talk(house)
    await loose.respond("Hi")
    id = (await house.memory.get(f"/sessions/{loose.session}"))["preset_id"]
    deep = await begin_talk(house, preset_id=id, deep_binding=True, character_snapshot={"name": "Ada"})
    entries = [{**PROMPTS[0], "content": "Otherwise."}, *PROMPTS[1:]]
    editor = {"entries": entries, "order_contexts": PRESET["prompt_order"], "top_level": {}}
    status, answer = await house.memory.call("PUT", f"/presets/{id}", {"name": "Short", "editor": editor})
    assert status == 200, answer
    for talk, text in ((loose, "Otherwise."), (deep, "Play Ada.")):
        await talk.respond("Hi")
        assert sent(house)[0] == ("system", text)
    async with house.memory.http.delete(f"{house.memory.origin}/presets/{id}") as gone:
        assert gone.status == 204
    for talk, is_sent in ((loose, False), (deep, True)):
        await talk.respond("Hi")
        assert (("system", "Play Ada.") in sent(house)) is is_sent


async def test_a_branch_of_a_deep_session_keeps_what_it_was_forked_from(house: House) -> None:
    preset = await make(house, "/presets", name="Short", data=PRESET)
    talk = await begin_talk(house, preset_id=preset["id"], deep_binding=True, character_snapshot={"name": "Ada"})
    first = await talk.respond("Hi")
    entry = f"/presets/{preset['id']}/entries/main"
    status, _ = await house.memory.call("PATCH", entry, {"content": "Otherwise."})
    assert status == 200
    newest = (await house.memory.get(f"/presets/{preset['id']}"))["version_id"]
    await house.memory.call("PATCH", f"/sessions/{talk.session}", {"preset_version_id": newest})
    second = await talk.respond("Hi")
    assert sent(house)[0] == ("system", "Otherwise.")
    _, would = await talk.post(
        f"/sessions/{talk.session}/prompt-runtime/inspect",
        {"message": "Hi", "branch_id": "soon", "source_floor_id": first["floor_id"]},
    )
    assert would["data"]["prepared_turn"]["messages"][0]["content"] == "Play Ada."
    for floor, text in ((first, "Play Ada."), (second, "Otherwise.")):
        status, forked = await talk.post(f"/floors/{floor['floor_id']}/branch", {})
        assert status == 201
        said = await talk.respond("Hi", branch_id=forked["data"]["branch_id"])
        assert sent(house)[0] == ("system", text)
        await talk.post(f"/floors/{said['floor_id']}/retry", {})
        assert sent(house)[0] == ("system", text)
    early = "early"
    await talk.respond("Hi", branch_id=early, source_floor_id=first["floor_id"])
    again = await talk.respond("Hi", branch_id=early)
    assert sent(house)[0] == ("system", "Play Ada.")
    question = (await house.memory.get(f"/sessions/{talk.session}/timeline?branch_id={early}"))["floors"][-1]["messages"][0]
    status, _ = await talk.post(f"/messages/{question['id']}/edit-and-regenerate", {"content": "Ho"})
    assert (status, sent(house)[0], again["branch_id"]) == (200, ("system", "Play Ada."), early)
    other = await make(house, "/presets", name="Other", data=PRESET)
    await house.memory.call("PATCH", f"/sessions/{talk.session}", {"preset_id": other["id"]})
    for branch, name in (("main", "Other"), (early, "Short")):
        runtime = await house.memory.get(f"/sessions/{talk.session}/prompt-runtime?branch_id={branch}")
        assert runtime["assets"]["preset"]["name"] == name
    _, loose = await house.memory.call("PATCH", f"/sessions/{talk.session}", {"deep_binding": False})
    assert loose["data"]["preset_version_id"] is None
    runtime = await house.memory.get(f"/sessions/{talk.session}/prompt-runtime?branch_id={early}")
    assert runtime["assets"]["preset"]["name"] == "Other"


async def test_a_character_follows_its_card_as_the_session_says(house: House) -> None:
    card = await make(house, "/characters", snapshot=CARD)
    policies = ("pin", "manual", "force")
    talks = {each: await begin_talk(house, character_id=card["id"], character_sync_policy=each) for each in policies}
    status, _ = await house.memory.call(
        "POST", f"/characters/{card['id']}/versions", {"snapshot": {**CARD, "description": "{{char}} sings."}}
    )
    assert status == 201
    told = {}
    for policy, talk in talks.items():
        await talk.respond("Hi")
        told[policy] = "Ada sings." in str(sent(house))
    assert told == {"pin": False, "manual": False, "force": True}
    status, _ = await house.memory.call("POST", f"/sessions/{talks['manual'].session}/character/sync", {})
    assert status == 200
    await talks["manual"].respond("Hi")
    assert "Ada sings." in str(sent(house))


async def bundle(house: House, talk: Talk) -> bundles.Bundle:
    """What the next prompt of a session is made of."""
    found: bundles.Bundle = await house.server.app[LIVE].bundle_of(TurnRequest(DEFAULT_ACCOUNT, "", talk.session))
    return found


async def test_what_was_read_is_kept_by_its_version_as_long_as_there_is_room(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await bound_talk(house), await begin_talk(house)
    preset = await make(house, "/presets", name="Other", data=PRESET)
    await house.memory.call("PATCH", f"/sessions/{other.session}", {"preset_id": preset["id"]})
    first, again = await bundle(house, one), await bundle(house, one)
    assert first.assets.preset is again.assets.preset is not None
    monkeypatch.setattr(bundles, "MOST_KEPT", 1)
    await bundle(house, other)
    assert (await bundle(house, one)).assets.preset is not first.assets.preset
    assert (await bundle(house, one)).assets == first.assets


async def test_books_and_scripts_come_from_everything_that_is_bound(house: House) -> None:
    script = {"scriptName": "a", "findRegex": "a", "replaceString": "b", "placement": [1]}
    entries = {"0": {"uid": 0, "key": ["sea"], "content": "Deep."}}
    for name in ("Old Town", "Sea", "Sea"):
        await make(house, "/worldbooks", name=name, data={"entries": entries if name == "Sea" else {}})
    world = await make(house, "/worldbooks", name="World", data={"entries": {}})
    regex = await make(house, "/regex-profiles", name="R", data=[script])
    user = await make(house, "/users", snapshot={"name": "Ben", "lorebook": "sea"})
    inside = {
        "name": "Own",
        "entries": [{"keys": ["x"], "content": "y", "enabled": True, "insertion_order": 1, "extensions": {}}],
    }
    cards = [
        {**CARD, "character_book": inside, "extensions": {"world": world, "regex_scripts": [{**script, "scriptName": "c"}]}}
        for world in (" OLD  TOWN", "Nowhere", None)
    ]
    preset = {**PRESET, "extensions": {"regex_scripts": [{**script, "scriptName": "p"}]}}
    fields = {
        "user_id": user["id"],
        "worldbook_profile_id": world["id"],
        "regex_profile_id": regex["id"],
        "preset_id": (await make(house, "/presets", name="P", data=preset))["id"],
    }
    for card, of_card in zip(cards, ("Old Town", "Own", "Own"), strict=True):
        character = await make(house, "/characters", snapshot=card)
        talk = await begin_talk(house, character_id=character["id"], **fields)
        found = (await bundle(house, talk)).assets
        names = [(each.scope, each.book.name) for each in found.lorebooks]
        assert sorted(names) == [("character", of_card), ("global", "World"), ("persona", "Sea")]
        scripts = [(each.origin, each.script.name, each.is_allowed) for each in found.scripts]
        assert scripts == [("global", "a", True), ("preset", "p", True), ("character", "c", True)]


async def test_the_book_that_the_metadata_of_a_chat_names_joins_its_prompts(house: House) -> None:
    entries = {"0": {"uid": 0, "key": ["sea"], "content": "Deep."}}
    book = await make(house, "/worldbooks", name="Sea", data={"entries": entries})
    for metadata in ({"world_info": " sEA"}, {"chat_metadata": {"world_info": "Sea"}}):
        talk = await begin_talk(house, metadata=metadata)
        found = (await bundle(house, talk)).assets
        assert [(each.scope, each.id) for each in found.lorebooks] == [("chat", book["id"])]
        body = {"message": "At sea", "debug_options": {"include_worldbook_matches": True}}
        status, would = await talk.post(f"/sessions/{talk.session}/respond/dry-run", body)
        assert status == 200, would
        [match] = would["data"]["assembly"]["worldbook_matches"]
        source = {"kind": "session_worldbook", "worldbook_id": book["id"], "worldbook_name": "Sea"}
        assert match["source"] == {**source, "asset_scope_id": f"worldbook:{book['id']}:1"}
        await talk.respond("At sea")
        assert "Deep." in str(sent(house))


INJECTS: Json = {
    "a": {"value": "Behind main, {{user}}.", "position": 0, "depth": 4, "scan": False, "role": 0, "filter": None},
    "b": {"value": "As the user.", "position": 1, "depth": 0, "scan": False, "role": 1, "filter": None},
    "c": {"value": "Never.", "position": 0, "depth": 4, "scan": False, "role": 0, "filter": "{: /return false :}"},
}


async def test_what_the_file_of_a_chat_says_of_it_is_in_its_prompts(house: House) -> None:
    told = {"note_prompt": "Slow.", "note_interval": 1, "note_position": 1, "note_depth": 1, "note_role": 0, "tainted": True}
    told |= {"scenario": "Fog.", "mes_example": "<START>\nAda: Oh.", "system_prompt": "Be {{char}}.", "script_injects": INJECTS}
    header = {"user_name": "Ben", "character_name": "Ada", "chat_metadata": told}
    said = [{"name": "Ada", "is_user": False, "mes": "Hello."}, {"name": "Ben", "is_user": True, "mes": "Hi."}]
    file = b"\n".join(dumps(line) for line in (header, *said)).decode()
    status, made = await house.memory.call("POST", "/import/chat", {"data": file})
    assert status == 201, made
    report = made["data"]["report"]
    assert report["read"]["injections"] == 3
    assert report["ignored_fields"] == ["line 1: chat_metadata.tainted"]
    assert report["unsupported_fields"] == ["line 1: chat_metadata.script_injects.c.filter"]
    talk = Talk(house, made["data"]["session_id"])
    await house.memory.call("PATCH", f"/sessions/{talk.session}", {"model_name": "text"})
    await talk.respond("And now?")
    first, *others = sent(house)
    assert first[1].split("\n\n") == [
        "Be Ada.",
        "Behind main, Ben.",
        "Fog.",
        "[Example Chat]",
        "Ada: Oh.",
        "[Start a new Chat]",
    ]
    assert others == [
        ("assistant", "Hello."),
        ("user", "Hi."),
        ("system", "Slow."),
        ("user", "And now?"),
        ("user", "As the user."),
    ]


async def test_what_a_session_says_of_its_chat_comes_before_the_file_and_goes_out(house: House) -> None:
    metadata = {"note_prompt": "", "scenario": "Rain.", "chat_metadata": {"note_prompt": "Slow.", "scenario": "Fog.", "odd": 1}}
    talk = await begin_talk(house, metadata=metadata)
    await talk.respond("Hi")
    assert "Rain." in sent(house)[0][1] and "Slow." not in str(sent(house))
    async with house.memory.http.get(f"{house.memory.origin}/export/chat/{talk.session}?format=st_jsonl") as file:
        header = loads((await file.read()).splitlines()[0])
    assert header["chat_metadata"] == {"note_prompt": "", "scenario": "Rain.", "odd": 1}


async def test_a_session_may_bind_more_books_than_one(house: House) -> None:
    ids = []
    for name in ("Sea", "Land", "Sky"):
        entries = {"0": {"uid": 0, "key": [name], "content": f"The {name} is old."}}
        ids.append((await make(house, "/worldbooks", name=name, data={"entries": entries}))["id"])
    talk = await begin_talk(house, worldbook_profile_id=ids[0], metadata={"world_info_global": ["land", "Sea", "Sky", "Void"]})
    found = (await bundle(house, talk)).assets
    assert [(each.scope, each.book.name) for each in found.lorebooks] == [
        ("global", name) for name in ("Sea", "Land", "Sea", "Sky")
    ]
    assert found.missing_books == ("Void",)
    await talk.respond("Sea, Land and Sky")
    lines = sent(house)[0][1].splitlines()
    assert sorted(line for line in lines if "is old" in line) == ["The Land is old.", "The Sea is old.", "The Sky is old."]


async def test_a_character_has_additional_books(house: House) -> None:
    """As SillyTavern's settings name them; what the card holds itself counts beside them."""
    for name in ("Sea", "Land"):
        entries = {"0": {"uid": 0, "key": [], "constant": True, "content": f"The {name} is old."}}
        await make(house, "/worldbooks", name=name, data={"entries": entries})
    own = {"name": "Own", "entries": [{"keys": [], "constant": True, "enabled": True, "content": "The card is new."}]}
    card = {"spec": "chara_card_v2", "data": {"name": "Mira", "character_book": own}}
    status, made = await house.memory.call("POST", "/import/character", {"payload": card, "create_session": False})
    assert status == 201, made
    lore = [{"name": "Ada", "extraBooks": ["Land"]}, {"name": "mira", "extraBooks": ["sea", "Void"]}, {"name": "Mira"}, 7]
    talk = await begin_talk(house, character_id=made["data"]["character_id"], metadata={"charLore": lore})
    found = (await bundle(house, talk)).assets
    assert [(each.scope, each.book.name) for each in found.lorebooks] == [("character", "Own"), ("character", "Sea")]
    assert found.missing_books == ("Void",)
    await talk.respond("Hi")
    lines = str(sent(house))
    assert "The Sea is old." in lines and "The card is new." in lines and "The Land" not in lines


async def test_a_book_that_a_chat_names_and_nobody_has_is_told(house: House) -> None:
    talk = await begin_talk(house, metadata={"world_info": "Nowhere"})
    status, seen = await talk.post(f"/sessions/{talk.session}/prompt-runtime/inspect", {"message": "Hi"})
    assert status == 200, seen
    [note] = [note for note in seen["data"]["diagnostics"] if note["code"] == "worldbook_missing"]
    assert "'Nowhere'" in note["message"]
    await talk.respond("Hi")


async def test_a_session_that_is_bound_between_two_steps_of_a_turn_is_sent_what_it_is_bound_to(house: House) -> None:
    talk = await bound_talk(house)
    live = house.server.app[LIVE]
    stale = await bundle(house, await begin_talk(house))
    assert not stale.is_of((await bundle(house, talk)).bindings)

    async def older(request: TurnRequest) -> bundles.Bundle:
        return stale

    live.bundle_of = older  # type: ignore[method-assign]  # it was read before somebody bound the session
    await talk.respond("Hi")
    assert sent(house)[0] == ("system", "Play Ada.")
    assert house.mock.last.body["max_tokens"] == 222


async def test_lore_reaches_the_model_and_its_timed_effects_are_taken_back_with_a_turn(house: House) -> None:
    entry = {"uid": 7, "key": ["sea"], "content": "The sea is deep.", "sticky": 2, "comment": "Sea"}
    book = await make(house, "/worldbooks", name="World", data={"entries": {"7": entry}})
    talk = await begin_talk(house, worldbook_profile_id=book["id"])

    async def timed() -> Json:
        return (await house.memory.seen(talk.session)).get("agentui_lore")

    await talk.respond("Hello")
    assert ("The sea is deep." in str(sent(house)), await timed()) == (False, None)
    done = await talk.respond("Tell of the sea", debug_options={"include_prompt_snapshot": True})
    assert "The sea is deep." in str(sent(house))
    assert done["prompt_snapshot"]["worldbook_activated_entry_uids"] == [7]
    assert done["prompt_snapshot"]["worldbook_id"] == book["id"]
    began = await timed()
    assert began
    status, _ = await talk.post(f"/sessions/{talk.session}/regenerate")
    assert (status, await timed()) == (200, began)
    said = await house.memory.get(f"/messages?session_id={talk.session}&role=user")
    last = next(message for message in said if message["content"] == "Tell of the sea")
    status, edited = await talk.post(
        f"/messages/{last['id']}/edit-and-regenerate", {"content": "Of the land", "branch_id": "b"}
    )
    assert status == 200, edited
    assert "The sea is deep." not in str(sent(house))
    assert "agentui_lore" not in await house.memory.seen(talk.session, "b")
    assert await timed() == began


def script(find: str, replace: str, *placement: int, **more: Json) -> Json:
    """A regex script."""
    return {"scriptName": find, "findRegex": find, "replaceString": replace, "placement": placement, **more}


async def test_scripts_change_what_is_said_and_what_is_answered_before_it_is_kept(house: House) -> None:
    scripts = [
        script("/cat/g", "dog of {{user}}", 1),
        script("/sunny/", "rainy", 2),
        script("/secret/g", "", 1, 2),
        script("/seen/", "shown", 1, 2, markdownOnly=True),
        script("/edited/", "changed", 1, runOnEdit=True),
    ]
    regex = await make(house, "/regex-profiles", name="R", data=scripts)
    talk = await begin_talk(house, regex_profile_id=regex["id"], user_snapshot={"name": "Ben"})
    house.mock.script([Step(text="It is sunny, seen."), Step(text="secret"), Step(text="Good.")])
    body = {"message": "A cat, seen"}
    status, would = await talk.post(f"/sessions/{talk.session}/respond/dry-run", body)
    assert (status, would["data"]["messages"][-1]["content"]) == (200, "A dog of Ben, seen")
    done = await talk.respond(**body)
    assert done["generated_text"] == "It is rainy, seen."
    kept = await house.memory.get(f"/floors/{done['floor_id']}/prompt-runtime/explain")
    regex_trace = kept["runtime_trace"]["regex"]
    assert regex_trace["ai_output_rules"] == ["/sunny/", "/secret/g", "/seen/"]
    assert (regex_trace["substitution_mode"], regex_trace["reserved_placements"]) == ("none", [])
    assert [
        (each["rule_name"], phase["phase_id"].removeprefix("persist."), each["match_count"], each["reason"])
        for phase in regex_trace["phases"]
        for each in phase["rules"]
        if phase["channel"] == "persist"
    ] == [
        ("/cat/g", "user_input", 1, None),
        ("/secret/g", "user_input", 0, "no_match"),
        ("/seen/", "user_input", 0, "channel_filtered"),
        ("/edited/", "user_input", 0, "no_match"),
        ("/sunny/", "ai_output", 1, None),
        ("/secret/g", "ai_output", 0, "no_match"),
        ("/seen/", "ai_output", 0, "channel_filtered"),
    ]
    assert sent(house)[-1] == ("user", "A dog of Ben, seen")
    assert await talk.timeline() == [("user", "A dog of Ben, seen"), ("assistant", "It is rainy, seen.")]
    await talk.respond("secret")
    assert (await talk.timeline())[-2:] == [("user", "secret"), ("assistant", "secret")]
    (said,) = await house.memory.get(f"/messages?floor_id={done['floor_id']}&role=user")
    status, _ = await talk.post(f"/messages/{said['id']}/edit-and-regenerate", {"content": "edited cat", "branch_id": "other"})
    assert status == 200
    assert (await talk.timeline("other"))[-2] == ("user", "changed cat")


async def test_scripts_that_came_in_a_file_wait_until_they_are_allowed_and_go_with_their_character(house: House) -> None:
    card = {
        "spec": "chara_card_v2",
        "spec_version": "2.0",
        "data": {**CARD, "extensions": {"regex_scripts": [script("/cat/", "dog", 1)]}},
    }
    status, made = await house.memory.call("POST", "/import/character", {"payload": card})
    assert status == 201, made
    character = made["data"]["character_id"]
    status, made = await house.memory.call(
        "POST",
        "/import/preset",
        {"name": "P", "data": {**PRESET, "extensions": {"regex_scripts": [script("/sea/", "sky", 1)]}}},
    )
    assert status == 201, made
    preset = made["data"]["id"]

    async def heard() -> str:
        """What the model is sent in a session that is bound to both."""
        talk = await begin_talk(house, character_id=character, preset_id=preset, character_sync_policy="force")
        await talk.respond("A cat at sea")
        return sent(house)[-1][1]

    assert await heard() == "A cat at sea"
    for path in (f"/characters/{character}/scripts", f"/presets/{preset}/scripts"):
        assert (await house.memory.call("PUT", path, {"allowed": True}))[0] == 200
    assert await heard() == "A dog at sky"
    talk = await begin_talk(house, character_id=character, character_sync_policy="pin")
    await talk.respond("A cat")
    assert sent(house)[-1][1] == "A dog"
    assert (await house.memory.call("PUT", f"/characters/{character}/scripts", {"allowed": False}))[0] == 200
    await talk.respond("A cat")
    assert sent(house)[-1][1] == "A cat", "forbidding holds at once, also where the version is pinned"
    talk = await begin_talk(house, character_id=character, character_sync_policy="pin")
    assert (await house.memory.call("DELETE", f"/characters/{character}", {}))[0] == 200
    await talk.respond("A cat")
    assert sent(house)[-1][1] == "A cat"


async def test_what_a_script_makes_can_be_kept() -> None:
    script = RegexScript.of({"placement": [1], "findRegex": "a", "replaceString": "{{char}}\0"})
    bundle = Bundle({"character_snapshot": {"name": " "}}, assets=PromptAssets(scripts=(BoundScript(script),)))
    assert (await rewritten(bundle, "xay", "user_input", "persist", "chat")).text == "xAssistant\ufffdy"


async def test_words_that_broke_off_are_kept_after_the_scripts(house: House) -> None:
    regex = await make(house, "/regex-profiles", name="R", data=[script("/sunny/", "rainy", 2)])
    talk = await begin_talk(house, regex_profile_id=regex["id"])
    house.mock.script([Step(text="It is sunny and warm", cut="clean", cut_after=-3)])
    assert (await talk.refused(f"/sessions/{talk.session}/respond", {"message": "Hi"}))[1] == "upstream_error"
    role, words = (await talk.timeline())[-1]
    assert (role, words.startswith("It is rainy")) == ("assistant", True)
