"""The files of tests/fixtures/files: ordinary ones come in and go out whole, hostile ones are refused and leave nothing."""

from collections.abc import Mapping
from typing import Any

import pytest

from agentui.assets.files.books import card_of_book
from agentui.assets.files.cards import read_card_file
from agentui.assets.files.limits import FileLimits
from agentui.jsonio import Json, loads
from tests.api.chats.conftest import Reader
from tests.api.library.test_files import download, upload
from tests.fixtures.files.make import FOLDER, LOREBOOK, ODD, V1, V2, V3, bombs, hostile, ordinary, picture

ORDINARY = {path.name: path.read_bytes() for path in sorted((FOLDER / "ordinary").iterdir())}
HOSTILE = {path.name: path.read_bytes() for path in sorted((FOLDER / "hostile").iterdir())}
TOLD = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
"""What a card of V1 tells."""
LISTS = ("/characters", "/presets", "/worldbooks", "/regex-profiles", "/sessions")


def holds(whole: Json, part: Json) -> bool:
    """Whether ``whole`` has every member that ``part`` has, with its value; more members do not count."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and holds(whole[name], value) for name, value in part.items())
    if isinstance(part, list):
        same = isinstance(whole, list) and len(whole) == len(part)
        return same and all(holds(*pair) for pair in zip(whole, part, strict=True))
    return type(whole) is type(part) and whole == part


def kind_of(name: str) -> str:
    """The kind of an ordinary file, by its name."""
    first = name.split(".")[0].split("-")[0]
    return "character" if first == "card" else first


async def imported(reader: Reader, name: str, data: bytes, *, by_itself: bool) -> Mapping[str, Any]:
    """What the server made of a file: by the route of its kind, or the one that looks itself."""
    kind = kind_of(name)
    status, made = await upload(reader, f"/import/{'auto' if by_itself else kind}", data, name)
    assert status == 201, (name, made)
    if by_itself:
        assert made["data"]["kind"] == kind, name
    found: Mapping[str, Any] = made["data"]["result"] if by_itself else made["data"]
    assert found["report"]["format"], name
    return found


async def check_card(reader: Reader, name: str, id: str) -> None:
    """Each format has all that the card had."""
    card = {"v1": V1, "v2": V2}.get(name.removeprefix("card-")[:2], V3)
    told = {each: V2["data"][each] for each in TOLD} if card is V1 else card["data"]
    for format in ("v2", "v3", "png", "charx"):
        data, _ = await download(reader, f"/export/character/{id}?format={format}")
        assert holds(dict(read_card_file(data, FileLimits()).content), told), (name, format)
        if format == ("v3" if card is V3 else "v2"):
            assert holds(loads(data), card), name
    if not name.endswith(".json"):
        assert (await download(reader, f"/characters/{id}/image"))[0] == picture()


async def check_file(reader: Reader, name: str, made: Mapping[str, Any]) -> None:
    """What goes out has all that came in."""
    kind, data = kind_of(name), ORDINARY[name]
    if kind == "character":
        await check_card(reader, name, made["character_id"])
    elif kind != "chat":
        written, _ = await download(reader, f"/export/{kind}/{made['id']}")
        if name == "worldbook-of-card.json":
            assert holds(card_of_book(loads(written)), dict(LOREBOOK)), name
        else:
            assert holds(loads(written), loads(data)), name
    elif name == "chat.jsonl":
        written, _ = await download(reader, f"/export/chat/{made['session_id']}?format=st_jsonl")
        lines, given = ([loads(line) for line in each.splitlines()] for each in (written, data))
        assert holds(lines, given), name
    else:
        written, _ = await download(reader, f"/export/chat/{made['session_id']}?format=thchat")
        assert holds(loads(written), loads(data)), name


def test_the_files_are_those_that_the_module_makes() -> None:
    assert ordinary() == ORDINARY
    assert hostile() == HOSTILE


@pytest.mark.parametrize("by_itself", [False, True])
async def test_ordinary_files_come_in_and_go_out_whole(reader: Reader, by_itself: bool) -> None:
    for name, data in ORDINARY.items():
        await check_file(reader, name, await imported(reader, name, data, by_itself=by_itself))


async def test_half_characters_and_nul_do_no_harm(caller: Reader) -> None:
    status, made = await upload(caller, "/import/character", ODD, "Mira.json")
    assert status == 201, made
    written, _ = await download(caller, f"/export/character/{made['data']['character_id']}?format=v3")
    data = loads(written)["data"]
    assert (data["description"], data["first_mes"], data["tags"]) == (
        "half \N{REPLACEMENT CHARACTER}",
        "a\0b",
        ["\N{REPLACEMENT CHARACTER}"],
    )


async def test_hostile_files_are_refused_and_leave_nothing(reader: Reader) -> None:
    for name, data in {**HOSTILE, **bombs()}.items():
        for path in ("/import/character", "/import/auto"):
            status, refused = await upload(reader, path, data, name)
            assert status in (400, 413), (name, path, refused)
            assert refused["error"]["code"] in ("validation_error", "payload_too_large"), (name, refused)
            assert refused["error"]["message"], name
    for listed in LISTS:
        assert (await reader.get(listed)).body["data"] == [], listed
