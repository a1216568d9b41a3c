"""Files come in and go out over HTTP: every format, JSON and forms, and what is refused leaves nothing."""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import FormData

from agentui.jsonio import Json, dumps, loads
from tests.api.chats.conftest import Reader
from tests.unit.assets.test_cards import card_chunk, picture, with_chunks
from tests.unit.assets.test_chats import CHAT

SCRIPT = {"scriptName": "Waves", "findRegex": "/sea/g", "replaceString": "SEA"}
CARD: Mapping[str, Json] = {
    "spec": "chara_card_v3",
    "spec_version": "3.0",
    "odd": {"kept": 1},
    "data": {
        "name": "Mira",
        "first_mes": "Ahoy.",
        "alternate_greetings": ["Oh."],
        "tags": ["sea"],
        "unheard_of": [1, None],
        "extensions": {"regex_scripts": [SCRIPT]},
    },
}
BOOK = {"entries": {"0": {"uid": 0, "key": ["sea"], "content": "Salt.", "odd": True}}, "name": "Harbour"}
PRESET = {"temperature": 0.5, "prompts": [{"identifier": "main", "content": "Hi."}], "proxy_password": "hunter2", "odd": 1}


async def upload(caller: Reader, path: str, data: bytes, name: str = "file.json", **fields: str) -> tuple[int, Any]:
    """Send a form with a file."""
    form = FormData()
    form.add_field("file", io.BytesIO(data), filename=name)
    for field, value in fields.items():
        form.add_field(field, value)
    async with caller.session.post(caller.server.origin + path, data=form) as response:
        return response.status, loads(await response.read())


async def download(caller: Reader, path: str) -> tuple[bytes, Mapping[str, str]]:
    async with caller.session.get(caller.server.origin + path) as response:
        data = await response.read()
        assert response.status == 200, data
        return data, response.headers.copy()


async def test_a_card_becomes_a_character_and_a_session_that_begins_with_its_greeting(caller: Reader) -> None:
    made = await caller.make("/import/character", payload=CARD)
    assert made["report"]["scripts_waiting"] == 1
    assert made["report"]["ignored_fields"] == ["data.unheard_of"]
    session = made["session"]
    assert session["title"] == "Mira"
    assert session["character_binding"]["character_id"] == made["character_id"]
    floors = (await caller.get(f"/sessions/{session['id']}/timeline")).body["data"]["floors"]
    assert [floor["messages"][0]["content"] for floor in floors] == ["Ahoy."]
    character = (await caller.get(f"/characters/{made['character_id']}")).body["data"]
    assert (character["name"], character["tags"], character["source"]) == ("Mira", ["sea"], "v3")


@pytest.mark.parametrize("format", ["v2", "v3", "png", "charx"])
async def test_a_character_goes_out_in_every_format_and_comes_back(caller: Reader, format: str) -> None:
    made = await caller.make("/import/character", payload=CARD, create_session=False)
    assert made["session"] is None
    data, headers = await download(caller, f"/export/character/{made['character_id']}?format={format}")
    assert headers["content-disposition"].startswith('attachment; filename="Mira.')
    status, again = await upload(caller, "/import/character", data, create_session="false")
    assert status == 201, again
    written, _ = await download(caller, f"/export/character/{again['data']['character_id']}?format=v3")
    assert loads(written)["data"] | CARD["data"] == loads(written)["data"]
    assert loads(written)["odd"] == {"kept": 1}


async def test_a_picture_is_kept_and_goes_out_again(caller: Reader) -> None:
    status, made = await upload(caller, "/import/character", with_chunks(card_chunk("chara", CARD)), "Mira.png", title="Sea")
    assert status == 201, made
    assert made["data"]["session"]["title"] == "Sea"
    id = made["data"]["character_id"]
    shown, _ = await download(caller, f"/characters/{id}/image")
    assert shown == picture()
    archive, _ = await download(caller, f"/export/character/{id}?format=charx")
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        assert packed.read("assets/icon/image/main.png") == picture()


async def test_scripts_of_a_card_wait_until_somebody_allows_them(caller: Reader) -> None:
    made = await caller.make("/import/character", payload=CARD, create_session=False)
    path = f"/characters/{made['character_id']}"
    first = (await caller.get(f"{path}/scripts")).body["data"]
    assert (first["version"], first["scripts"], first["allowed"]) == (1, 1, False)
    allowed = (await caller.put(f"{path}/scripts", {"allowed": True})).body["data"]
    assert (allowed["version"], allowed["scripts"], allowed["allowed"]) == (1, 1, True)
    assert (await caller.get(f"{path}/scripts")).body["data"] == allowed

    async def is_allowed() -> bool:
        return (await caller.get(f"{path}/scripts")).body["data"]["allowed"] is True

    async def change(**content: Json) -> None:
        changed = await caller.post(f"{path}/versions", {"snapshot": {**CARD["data"], **content}})
        assert changed.status == 201, changed.text

    await change(name="Mira II")
    assert await is_allowed(), "the scripts are the same"
    await change(extensions={"regex_scripts": [SCRIPT, SCRIPT]})
    assert not await is_allowed(), "another script needs a consent of its own"
    await change()
    assert await is_allowed(), "these are allowed"
    assert (await caller.put(f"{path}/scripts", {"allowed": False})).status == 200
    await caller.post(f"{path}/versions/{allowed['version_id']}/rollback")
    assert not await is_allowed(), "a rollback brings no consent back"
    late = await caller.put(f"{path}/scripts", {"allowed": False, "expected_revision": 0})
    assert (late.status, late.code) == (409, "character_revision_conflict")


@pytest.mark.parametrize(
    ("kind", "document", "written"),
    [
        ("preset", PRESET, {name: value for name, value in PRESET.items() if name != "proxy_password"}),
        ("worldbook", BOOK, BOOK),
        ("regex", [SCRIPT], [SCRIPT]),
    ],
)
async def test_other_kinds_go_out_as_they_came_in(caller: Reader, kind: str, document: Json, written: Json) -> None:
    made = await caller.make(f"/import/{kind}", name="Named", data=document)
    assert (made["name"], made["kind"], made["version"]) == ("Named", kind, 1)
    assert (await caller.make(f"/import/{kind}", name="", data=document))["name"], "it gets a name of what it holds"
    assert "hunter2" not in str(made)
    data, headers = await download(caller, f"/export/{kind}/{made['id']}?version_id={made['version_id']}")
    assert loads(data) == written
    assert "Named.json" in headers["content-disposition"]
    status, again = await upload(caller, f"/import/{kind}", data, "Mine.json")
    assert (status, again["data"]["content_hash"] == made["content_hash"]) == (201, kind != "regex")


async def test_a_card_goes_out_with_the_worldbook_that_it_names(caller: Reader) -> None:
    await caller.make("/import/worldbook", name="Harbour", data=BOOK)
    data = {**CARD["data"], "character_book": {"entries": []}, "extensions": {"world": " harbour"}}
    made = await caller.make("/import/character", payload={**CARD, "data": data}, create_session=False)
    plain, _ = await download(caller, f"/export/character/{made['character_id']}")
    assert loads(plain)["data"]["character_book"] == {"entries": []}
    written, _ = await download(caller, f"/export/character/{made['character_id']}?embed_worldbook=true")
    book = loads(written)["data"]["character_book"]
    assert (book["name"], [(entry["keys"], entry["content"]) for entry in book["entries"]]) == ("Harbour", [(["sea"], "Salt.")])
    again = await caller.make("/import/worldbook", data=book)
    back, _ = await download(caller, f"/export/worldbook/{again['id']}")
    assert loads(back)["entries"]["0"]["odd"] is True


async def test_a_card_that_names_a_worldbook_that_is_not_there_is_refused_only_with_it(caller: Reader) -> None:
    data = {**CARD["data"], "extensions": {"world": "Nowhere"}}
    made = await caller.make("/import/character", payload={**CARD, "data": data}, create_session=False)
    path = f"/export/character/{made['character_id']}"
    await download(caller, path)
    answer = await caller.get(f"{path}?embed_worldbook=true")
    assert (answer.status, answer.body["error"]["code"]) == (404, "worldbook_not_found")


@pytest.mark.parametrize("format", ["thchat", "st_jsonl"])
async def test_a_chat_becomes_a_session_and_goes_out_again(caller: Reader, format: str) -> None:
    character = await caller.make("/import/character", payload=CARD, create_session=False)
    made = await caller.make("/import/chat", data=CHAT.decode(), title="Night", character_id=character["character_id"])
    assert (made["floor_count"], made["page_count"], made["message_count"], made["variable_count"]) == (4, 6, 7, 1)
    assert made["session"]["character_binding"]["character_id"] == character["character_id"]
    floors = (await caller.get(f"/sessions/{made['session_id']}/timeline")).body["data"]["floors"]
    assert [floor["floor_no"] for floor in floors] == [0, 1, 2, 3]
    data, _ = await download(caller, f"/export/chat/{made['session_id']}?format={format}")
    status, again = await upload(caller, "/import/chat", data, "chat.jsonl")
    assert status == 201, again
    other, _ = await download(caller, f"/export/chat/{again['data']['session_id']}?format={format}")
    if format == "st_jsonl":
        assert other == data
    else:
        assert loads(other)["floors"] == loads(data)["floors"]
        assert loads(other)["variables"] == {"mood": 3}
    bare, _ = await download(caller, f"/export/chat/{made['session_id']}?include_variables=false")
    assert loads(bare)["variables"] == {}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (with_chunks(card_chunk("chara", CARD)), "character"),
        (dumps({"name": "Mira", "description": "A captain."}), "character"),
        (dumps(CARD), "character"),
        (dumps(PRESET), "preset"),
        (dumps(BOOK), "worldbook"),
        (dumps(SCRIPT), "regex"),
        (CHAT, "chat"),
        (dumps({"spec": "thchat", "floors": []}), "chat"),
    ],
)
async def test_a_file_of_any_kind_is_recognised(reader: Reader, data: bytes, kind: str) -> None:
    status, made = await upload(reader, "/import/auto", data)
    assert (status, made["data"]["kind"]) == (201, kind), made
    assert made["data"]["result"]["report"]["format"]


REFUSED: list[tuple[str, Json, str]] = [
    ("/import/character", {"payload": {"description": "x"}}, "name"),
    ("/import/character", {"payload": []}, "/payload"),
    ("/import/character", {}, "/payload"),
    ("/import/preset", {"data": {"prompts": 5}}, "prompts"),
    ("/import/worldbook", {"data": {}}, "entries"),
    ("/import/regex", {"name": "x", "data": [{}]}, "[0].findRegex"),
    ("/import/chat", {"data": "no chat"}, ""),
    ("/import/auto", {"data": 5}, ""),
    ("/import/hadtavern", {"data": {"drawflow": {}}}, ""),
    ("/import/hadtavern", {"data": 5}, "/data"),
    ("/import/hadtavern", {}, "/data"),
]


@pytest.mark.parametrize(("path", "body", "where"), REFUSED)
async def test_what_is_wrong_is_refused_with_its_place_and_leaves_nothing(
    reader: Reader, path: str, body: Json, where: str
) -> None:
    refused = await reader.post(path, body)
    assert (refused.status, refused.code) == (400, "validation_error")
    assert refused.body["error"]["details"][0]["path"] == where
    for listed in ("/characters", "/presets", "/worldbooks", "/regex-profiles", "/sessions"):
        assert (await reader.get(listed)).body["data"] == []


async def test_a_text_that_is_too_long_is_told_with_its_place(reader: Reader) -> None:
    refused = await reader.post("/import/worldbook", {"data": {"entries": {"0": {"content": "x" * 1_100_000}}}})
    assert (refused.status, refused.code) == (413, "payload_too_large")
    assert "entries.0.content" in refused.body["error"]["message"]


async def test_a_form_without_a_file_or_with_wrong_fields_is_refused(reader: Reader) -> None:
    form = FormData()
    form.add_field("title", "x")
    async with reader.session.post(f"{reader.server.origin}/import/character", data=form(), headers=form().headers) as response:
        assert response.status in (400, 415)
    status, refused = await upload(reader, "/import/character", dumps(CARD), create_session="perhaps")
    assert (status, refused["error"]["details"][0]["path"]) == (400, "/create_session")


async def test_a_form_from_another_site_is_refused(reader: Reader) -> None:
    form = FormData()
    form.add_field("file", dumps(CARD), filename="x.json")
    headers = {"Origin": "https://evil.example"}
    async with reader.session.post(f"{reader.server.origin}/import/character", data=form, headers=headers) as response:
        assert response.status == 403


async def test_an_import_is_done_once_for_one_key(reader: Reader) -> None:
    first, again = [await reader.post("/import/worldbook", {"data": BOOK}, Idempotency_Key="k") for _ in range(2)]
    assert (first.status, again.text) == (201, first.text)
    assert len((await reader.get("/worldbooks")).body["data"]) == 1


@pytest.mark.parametrize("path", ["character", "preset", "worldbook", "regex", "chat"])
async def test_what_is_not_there_cannot_go_out(reader: Reader, path: str) -> None:
    assert (await reader.get(f"/export/{path}/nobody")).status == 404


async def test_a_picture_that_is_no_png_goes_out_in_an_archive_only(reader: Reader) -> None:
    packed = io.BytesIO()
    data = {**CARD["data"], "assets": [{"type": "icon", "uri": "embeded://a.jpg", "name": "main", "ext": "jpg"}]}
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr("card.json", dumps({**CARD, "data": data}))
        made.writestr("a.jpg", b"\xff\xd8\xff a picture")
        made.writestr("voices/hello.ogg", b"a voice")
    status, kept = await upload(reader, "/import/character", packed.getvalue(), create_session="false")
    assert status == 201, kept
    id = kept["data"]["character_id"]
    assert (await reader.get(f"/export/character/{id}?format=png")).status == 400
    assert kept["data"]["report"]["read"]["files"] == 1
    changed = await reader.post(f"/characters/{id}/versions", {"snapshot": {**data, "description": "Older."}})
    assert changed.status == 201, changed.text
    archive, _ = await download(reader, f"/export/character/{id}?format=charx")
    with zipfile.ZipFile(io.BytesIO(archive)) as written:
        assert written.read("a.jpg") == b"\xff\xd8\xff a picture"
        assert written.read("voices/hello.ogg") == b"a voice"
        assert loads(written.read("card.json"))["data"]["assets"] == data["assets"]
    assert (await reader.call("DELETE", f"/characters/{id}/image", {}, {})).status == 200
    archive, _ = await download(reader, f"/export/character/{id}?format=charx")
    with zipfile.ZipFile(io.BytesIO(archive)) as written:
        assert sorted(written.namelist()) == ["card.json", "voices/hello.ogg"]


async def test_a_pipeline_of_hadtavern_is_converted_and_not_kept(reader: Reader) -> None:
    node = {"id": 1, "class": "SetVars", "data": {"variables": [{"name": "A", "value": "[[model]]"}]}, "outputs": {}, "x": 1}
    file = {"drawflow": {"Home": {"data": {"1": node, "2": {**node, "id": 2, "class": "Teleport"}}}}}
    got = await reader.call("POST", "/import/hadtavern", {"data": file, "name": "Mine"}, {})
    assert got.status == 200, got.text
    made = got.body["data"]
    assert made["document"]["name"] == "Mine"
    assert [(each["id"], each["type"]) for each in made["document"]["nodes"]] == [("n1", "SetVars"), ("n2", "Teleport")]
    told = [(note["kind"], note["node"], note["field"]) for note in made["report"]["notes"]]
    assert told == [("kept", "n1", "x"), ("kept", "n2", "x"), ("unknown", "n2", "type"), ("changed", "n2", "answer")]
    status, again = await upload(reader, "/import/hadtavern", dumps(file), "Mine.json")
    assert (status, again["data"]) == (200, made)
    for broken in (b"{", b"[1]", b"\xff", b'{"nodes": 5}', b'{"nodes": ' + b"[" * 90 + b"]" * 90 + b"}"):
        status, refused = await upload(reader, "/import/hadtavern", broken)
        assert (status, refused["error"]["code"]) == (400, "validation_error")
    status, refused = await upload(reader, "/import/hadtavern", dumps({"nodes": [{"type": "SetVars"}] * 501}))
    assert (status, refused["error"]["code"]) == (413, "payload_too_large")
