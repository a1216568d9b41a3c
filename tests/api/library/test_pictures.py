"""Pictures of characters and users: given, shown and taken away."""

import zlib

import pytest
from aiohttp import FormData

from agentui.assets.files.png import SIGNATURE, Chunk
from tests.api.chats.conftest import Reader
from tests.api.editor_client import Answer
from tests.api.library.conftest import refusal

PATHS = ("/characters", "/users")
JPEG = b"\xff\xd8\xff\xe0 a picture"
WEBP = b"RIFF\x10\x00\x00\x00WEBPVP8 "


def png(*more: Chunk, width: int = 2, height: int = 2) -> bytes:
    """A picture with these chunks before its end."""
    header = width.to_bytes(4) + height.to_bytes(4) + bytes((8, 0, 0, 0, 0))
    rows = zlib.compress(b"\0\x80\x80" * 2)
    chunks = [Chunk(b"IHDR", header), Chunk(b"IDAT", rows), *more, Chunk(b"IEND", b"")]
    return SIGNATURE + b"".join(chunk.render() for chunk in chunks)


async def give(caller: Reader, path: str, data: bytes) -> Answer:
    """Send a picture in a form."""
    form = FormData()
    form.add_field("file", data, filename="ada")
    async with caller.session.put(f"{caller.server.origin}{path}", data=form) as answer:
        return Answer(answer.status, answer.headers, await answer.json(), await answer.text())


async def shown(caller: Reader, path: str) -> tuple[int, str, bytes]:
    """The status of a picture, its media type and its bytes."""
    async with caller.session.get(f"{caller.server.origin}{path}") as answer:
        return answer.status, answer.content_type, await answer.read()


@pytest.mark.parametrize("path", PATHS)
async def test_a_picture_is_given_replaced_and_taken_away(caller: Reader, path: str) -> None:
    made = await caller.make(path, snapshot={"name": "Ada"})
    place = f"{path}/{made['id']}/image"
    assert await refusal(caller.get(place)) == (404, "not_found")
    first = await give(caller, f"{place}?expected_revision=0", png())
    assert (first.status, first.body["data"]["version"], first.body["data"]["revision"]) == (200, 2, 1)
    assert await shown(caller, place) == (200, "image/png", png())
    second = await give(caller, place, WEBP)
    assert second.body["data"]["content_hash"] == made["content_hash"], "the content stays"
    assert await shown(caller, place) == (200, "image/webp", WEBP)
    assert await shown(caller, f"{place}?version_id={first.body['data']['version_id']}") == (200, "image/png", png())
    stale = await give(caller, f"{place}?expected_revision=1", JPEG)
    assert (stale.status, stale.code) == (409, f"{path[1:-1]}_revision_conflict")
    gone = await caller.delete(f"{place}?expected_revision=2")
    assert (gone.status, gone.body["data"]["image"], gone.body["data"]["version"]) == (200, None, 4)
    assert await refusal(caller.get(place)) == (404, "not_found")


async def test_a_card_inside_a_picture_is_left_out(reader: Reader) -> None:
    made = await reader.make("/characters", snapshot={"name": "Ada"})
    place = f"/characters/{made['id']}/image"
    assert (await give(reader, place, png(Chunk(b"tEXt", b"chara\0e30=")))).status == 200
    assert await shown(reader, place) == (200, "image/png", png())


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"", 400, "no picture"),
        (b"<svg/>", 400, "no picture"),
        (b"RIFF\x10\x00\x00\x00WAVE", 400, "no picture"),
        (png()[:-6], 400, "breaks off"),
        (png(width=20_000, height=20_000), 400, "20000 x 20000"),
        (SIGNATURE + Chunk(b"tIME", b"").render() * 20_001, 413, "more than 20000 chunks"),
    ],
    ids=["nothing", "a page", "a sound", "half a picture", "too many pixels", "too many chunks"],
)
async def test_what_is_no_picture_is_refused(reader: Reader, data: bytes, status: int, words: str) -> None:
    made = await reader.make("/users", snapshot={"name": "Ada"})
    refused = await give(reader, f"/users/{made['id']}/image", data)
    assert (refused.status, words in refused.text) == (status, True)
    assert (await reader.get(f"/users/{made['id']}")).body["data"]["version"] == 1


async def test_a_picture_comes_in_a_form(reader: Reader) -> None:
    made = await reader.make("/users", snapshot={"name": "Ada"})
    assert await refusal(reader.put(f"/users/{made['id']}/image", {"file": "x"})) == (400, "validation_error")
