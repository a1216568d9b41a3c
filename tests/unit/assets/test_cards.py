"""Character cards: what is read is written again, in every format; what is odd is refused with the place where it is."""

import base64
import io
import zipfile
import zlib
from collections.abc import Mapping
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.character import Character
from agentui.assets.files.cards import KeptCard, card_json, read_card, read_card_file, write_card
from agentui.assets.files.charx import CARD
from agentui.assets.files.kinds import kind_of_file
from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.png import SIGNATURE, Chunk, read_png, write_png
from agentui.jsonio import Json, dumps
from tests.unit.assets.values import OBJECTS

LIMITS = FileLimits()
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30).filter(str.strip)
DATA = st.builds(
    lambda odd, texts, name, extensions: {**odd, **texts, "name": name, "extensions": extensions},
    OBJECTS.filter(lambda odd: not odd.keys() & {"name", "description", "personality", "scenario", "first_mes", "mes_example"}),
    st.dictionaries(st.sampled_from(["description", "first_mes", "system_prompt", "creator_notes"]), st.text(max_size=20)),
    NAMES,
    OBJECTS,
)
CARDS = st.builds(
    lambda spec, outer, data: {**outer, "spec": spec, "spec_version": "2.0" if spec.endswith("2") else "3.0", "data": data},
    st.sampled_from(["chara_card_v2", "chara_card_v3"]),
    OBJECTS,
    DATA,
)
MIRA: Mapping[str, Json] = {"spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "Mira", "first_mes": "Ahoy."}}


def picture(width: int = 1, height: int = 1) -> bytes:
    """A PNG file without a card."""
    header = Chunk(b"IHDR", width.to_bytes(4) + height.to_bytes(4) + bytes((8, 0, 0, 0, 0)))
    pixels = Chunk(b"IDAT", zlib.compress(b"\0\x80"))
    return SIGNATURE + header.render() + pixels.render() + Chunk(b"IEND", b"").render()


def with_chunks(*chunks: Chunk) -> bytes:
    """The picture with further chunks before its end."""
    end = Chunk(b"IEND", b"").render()
    return picture().removesuffix(end) + b"".join(chunk.render() for chunk in chunks) + end


def card_chunk(keyword: str, card: Json) -> Chunk:
    return Chunk(b"tEXt", keyword.encode() + b"\0" + base64.b64encode(dumps(card)))


def archive(*files: tuple[str, bytes], before: bytes = b"") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for path, data in files:
            made.writestr(path, data)
    return before + packed.getvalue()


@given(CARDS)
def test_a_card_is_written_as_it_came(card: Mapping[str, Json]) -> None:
    read = read_card(card, LIMITS)
    spec: Literal["v2", "v3"] = "v2" if card["spec"] == "chara_card_v2" else "v3"
    written = card_json(KeptCard(read.content, read.origin), spec)
    assert {**written, "data": {name: written["data"][name] for name in card["data"]}} == card | {
        name: written[name] for name in ("creatorcomment", "tags", "name", "description") if name in card
    }


@given(CARDS, st.sampled_from(["v2", "v3", "png", "charx"]))
def test_no_member_is_lost_in_any_format(card: Mapping[str, Json], format: Literal["v2", "v3", "png", "charx"]) -> None:
    first = read_card(card, LIMITS)
    again = read_card_file(write_card(KeptCard(first.content, first.origin), format), LIMITS)
    assert {name: again.content[name] for name in first.content if name != "assets"} == {
        name: value for name, value in first.content.items() if name != "assets"
    }
    third = read_card_file(write_card(KeptCard(again.content, again.origin, again.picture), format), LIMITS)
    assert third.content == again.content


def test_a_v1_card_is_lifted_and_keeps_what_else_it_has() -> None:
    flat = {"name": "Mira", "first_mes": "Ahoy.", "creatorcomment": "Mine.", "fav": True, "avatar": "none", "tags": ["sea"]}
    read = read_card(flat, LIMITS)
    made = Character.of(read.content)
    assert (made.name, made.greetings, made.creator_notes, made.tags) == ("Mira", ("Ahoy.",), "Mine.", ("sea",))
    assert read.content["extensions"] == {"fav": True}
    assert read.origin == {"format": "v1", "spec": "v1", "outer": flat}
    changed = KeptCard({**read.content, "name": "Mira II"}, read.origin)
    written = card_json(changed, "v2")
    assert written["name"] == written["data"]["name"] == "Mira II"
    assert written["avatar"] == "none"


def test_v3_wins_in_a_picture_and_a_stale_copy_is_told() -> None:
    stale = {"spec": "chara_card_v2", "data": {"name": "Old", "first_mes": "Ahoy."}}
    read = read_card_file(with_chunks(card_chunk("ChArA", stale), card_chunk("CCV3", MIRA)), LIMITS)
    assert read.name == "Mira"
    assert read.origin["format"] == "png"
    assert len(read.report.warnings) == 1
    assert read.picture == picture()
    same = read_card_file(with_chunks(card_chunk("chara", {"data": MIRA["data"]}), card_chunk("ccv3", MIRA)), LIMITS)
    assert same.report.warnings == []


def test_a_picture_is_written_with_both_cards_before_its_end_and_none_of_those_it_had() -> None:
    written = write_png(with_chunks(card_chunk("chara", {"name": "Old"})), b'{"name":"two"}', b'{"name":"three"}')
    assert written.count(b"chara\0") == written.count(b"ccv3\0") == 1
    assert written.endswith(Chunk(b"IEND", b"").render())
    found = read_png(written, LIMITS)
    assert (found.json, found.v2, found.picture) == (b'{"name":"three"}', b'{"name":"two"}', picture())


def test_a_character_without_a_picture_gets_a_plain_one() -> None:
    read = read_card(MIRA, LIMITS)
    again = read_card_file(write_card(KeptCard(read.content, read.origin), "png"), LIMITS)
    assert again.name == "Mira" and again.picture is not None


def test_a_charx_file_gives_its_main_icon_wherever_the_archive_begins() -> None:
    assets = [
        {"type": "icon", "uri": "embeded://other.png", "name": "other", "ext": "png"},
        {"type": "icon", "uri": "embeded://assets/icon/main.png", "name": "main", "ext": "png"},
        {"type": "background", "uri": "https://example.org/sea.png", "name": "sea", "ext": "png"},
    ]
    card = {**MIRA, "data": {**MIRA["data"], "assets": assets}}
    files = ((CARD, dumps(card)), ("assets/icon/main.png", picture()), ("other.png", b"x"))
    read = read_card_file(archive(*files, before=b"\xff\xd8\xff a picture"), LIMITS)
    assert read.picture == picture() and read.media_type == "image/png"
    assert read.content == card["data"]
    assert any("other.png" in name for name in read.report.ignored_fields)
    assert (read.files, read.report.read["files"]) == ({"other.png": b"x"}, 1)
    again = read_card_file(write_card(KeptCard(read.content, read.origin, read.picture, read.files), "charx"), LIMITS)
    assert (again.content["assets"], again.picture, again.files) == (assets, picture(), read.files)
    lost = read_card_file(write_card(KeptCard(read.content, read.origin, read.picture), "charx"), LIMITS)
    assert [asset["name"] for asset in lost.content["assets"]] == ["main", "sea"]


@pytest.mark.parametrize("before", [picture(), b"\xff\xd8\xff\xe0 a picture", b"GIF89a"], ids=["png", "jpeg", "gif"])
def test_an_archive_behind_a_picture_is_a_card(before: bytes) -> None:
    """RisuAI writes such files, so that a card shows in every browser."""
    written = archive((CARD, dumps(MIRA)), ("a.png", b"x"), before=before)
    read = read_card_file(written, LIMITS)
    assert kind_of_file(written, LIMITS) == "character"
    assert (read.name, read.files, read.report.format) == ("Mira", {"a.png": b"x"}, "charx")


def test_of_a_picture_with_a_card_and_an_archive_the_card_is_taken_and_told() -> None:
    both = archive((CARD, dumps({**MIRA, "data": {"name": "Other"}})), before=with_chunks(card_chunk("ccv3", MIRA)))
    read = read_card_file(both, LIMITS)
    assert (read.name, read.report.format) == ("Mira", "png")
    assert any("archive behind the picture" in name for name in read.report.ignored_fields)


def test_a_picture_that_looks_like_an_archive_by_chance_is_none() -> None:
    for read in (read_card_file, kind_of_file):
        with pytest.raises(InvalidFile, match="JPEG"):
            read(b"\xff\xd8\xff\xe0 PK\x03\x04 and more", LIMITS)


def test_a_new_picture_of_a_charx_file_takes_no_other_files_place() -> None:
    icon = {"type": "icon", "uri": "embeded://assets/icon/image/main.png", "name": "main", "ext": "png"}
    files = {"assets/icon/image/main.jpg": b"taken", "notes.txt": b"n"}
    kept = KeptCard({**MIRA["data"], "assets": [icon]}, {}, b"\xff\xd8\xff new", files)
    again = read_card_file(write_card(kept, "charx"), LIMITS)
    assert (again.picture, again.files) == (b"\xff\xd8\xff new", files)
    assert [asset["uri"] for asset in again.content["assets"]] == ["embeded://assets/icon/image/main2.jpg"]


@pytest.mark.parametrize("path", ["../up.png", "/up.png", "C:up.png", "a\0.png", "a" * 70_000 + ".png"])
def test_no_path_that_a_card_names_leads_out_of_its_archive(path: str) -> None:
    icon = {"type": "icon", "name": "main", "ext": "png", "uri": f"embeded://{path}"}
    kept = KeptCard({**MIRA["data"], "assets": [icon]}, {}, picture())
    again = read_card_file(write_card(kept, "charx"), LIMITS)
    assert again.picture is not None and again.content["assets"][0]["uri"] == "embeded://assets/icon/image/main.png"


def test_scripts_in_a_card_wait_until_they_are_allowed() -> None:
    script = {"scriptName": "Waves", "findRegex": "/sea/g"}
    read = read_card({**MIRA, "data": {**MIRA["data"], "extensions": {"regex_scripts": [script]}}}, LIMITS)
    assert read.report.scripts_waiting == 1
    assert read.content["extensions"]["regex_scripts"] == [script]


def damaged() -> bytes:
    whole = bytearray(with_chunks(card_chunk("chara", MIRA)))
    whole[-20] ^= 1
    return bytes(whole)


SMALL = FileLimits(file=100_000, text=1000, unpacked=50_000, members=5, pixels=10_000)
REFUSED = {
    "no JSON": (b"{", "This is not JSON"),
    "a list": (b"[]", "object"),
    "no name": (b'{"description": "x"}', "name: "),
    "no data": (b'{"spec": "chara_card_v2"}', "data: "),
    "data that is no object": (b'{"spec": "chara_card_v3", "data": []}', "data: "),
    "a spec that is no text": (b'{"spec": [], "name": "x"}', "spec: "),
    "an unknown spec": (b'{"spec": "chara_card_v9"}', "spec: "),
    "a name that is too long": (dumps({"name": "x" * 201}), "name: "),
    "a description that is a list": (dumps({"data": {"name": "x", "description": []}}), "data.description: "),
    "a long text": (dumps({"data": {"name": "x", "extensions": {"a": ["", "y" * 1001]}}}), "data.extensions.a[1]: "),
    "deep JSON": (b'{"name": "x", "a": ' + b"[" * 70 + b"]" * 70 + b"}", "nested deeper"),
    "a large file": (b" " * 100_001, "more than 100000 bytes"),
    "a picture without a card": (picture(), "no character card"),
    "a picture that breaks off": (picture()[:-4], "breaks off"),
    "a chunk longer than the file": (SIGNATURE + b"\x7f\xff\xff\xffIHDR" + b"x" * 20, "breaks off"),
    "a damaged picture": (damaged(), "checksum"),
    "a picture without a header": (SIGNATURE + Chunk(b"IEND", b"").render(), "IHDR: "),
    "too many pixels": (picture(20_000, 20_000), "20000 x 20000"),
    "a card that is no Base64": (with_chunks(Chunk(b"tEXt", b"chara\0abc")), "chara: "),
    "a card in the picture that is no JSON": (with_chunks(Chunk(b"tEXt", b"chara\0")), "the card in the picture: "),
    "an archive without a card": (archive(("x", b"")), "no card.json"),
    "a path that leads upwards": (archive(("a/../../x", b"")), "a/../../x: "),
    "an absolute path": (archive(("/etc/x", b"")), "/etc/x: "),
    "a path that is too long": (archive(("a" * 5000, b"")), "more than 4096 bytes"),
    "a path with a drive": (archive(("C:\\x", b"")), "leads out"),
    "a directory of too many entries": (archive((CARD, b"{}")) + b"PK\x01\x02" * 6, "more than 5 files"),
    "too many files": (archive(*((f"{number}", b"") for number in range(6))), "more than 5 files"),
    "an archive that unpacks to much": (archive((CARD, b"{}"), ("bomb", b"\0" * 60_000)), "unpacks to more"),
    "an archive with an empty name": (archive((CARD, b"{}")).replace(CARD.encode(), b"\0" * len(CARD)), "damaged"),
    "a broken archive": (archive((CARD, b"{}"))[:-10], "damaged"),
    "a CharX card without a spec": (archive((CARD, b'{"name": "x"}')), "card.json: spec: "),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_and_named(case: str) -> None:
    data, words = REFUSED[case]
    with pytest.raises(InvalidFile) as refused:
        read_card_file(data, SMALL)
    assert words in str(refused.value)


def test_a_picture_of_too_many_pieces_is_refused() -> None:
    with pytest.raises(InvalidFile, match="more than 20000 chunks") as refused:
        read_card_file(SIGNATURE + Chunk(b"tIME", b"").render() * 20_001, LIMITS)
    assert refused.value.is_too_large


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_path_that_stands_twice_is_refused() -> None:
    with pytest.raises(InvalidFile, match=r"card\.json: The archive has two"):
        read_card_file(archive((CARD, b"{}"), (CARD, b"{}")), SMALL)


def test_an_archive_that_says_less_than_it_holds_is_refused() -> None:
    whole = bytearray(archive((CARD, b"{}"), ("bomb", b"\0" * 60_000)))
    at = whole.rindex(b"PK\x01\x02")
    whole[at + 24 : at + 28] = (10).to_bytes(4, "little")
    with pytest.raises(InvalidFile):
        read_card_file(bytes(whole), SMALL)


@given(st.binary(max_size=200), st.sampled_from([b"", SIGNATURE, b"PK\x03\x04", b"{"]))
def test_no_bytes_do_more_than_be_refused(data: bytes, start: bytes) -> None:
    try:
        read_card_file(start + data, SMALL)
    except InvalidFile as refused:
        assert str(refused)


@given(st.data())
def test_no_damage_to_a_file_does_more_than_be_refused(data: st.DataObject) -> None:
    whole = data.draw(
        st.sampled_from([with_chunks(card_chunk("ccv3", MIRA)), archive((CARD, dumps(MIRA)), ("a.png", b"x" * 50))])
    )
    at = data.draw(st.integers(0, len(whole) - 1))
    torn = whole[:at] + data.draw(st.binary(max_size=4)) + whole[at + data.draw(st.integers(0, 8)) :]
    try:
        read_card_file(torn, SMALL)
    except InvalidFile as refused:
        assert str(refused)


@pytest.mark.parametrize(("start", "name"), [(b"\xff\xd8\xff\xe0", "JPEG"), (b"RIFF1234WEBPVP8 ", "WEBP"), (b"GIF89a", "GIF")])
def test_a_picture_that_is_no_png_is_called_by_its_name(start: bytes, name: str) -> None:
    for read in (read_card_file, kind_of_file):
        with pytest.raises(InvalidFile, match=f"a {name} file, whatever it is called"):
            read(start + b"\0" * 100, FileLimits())
