"""Pictures and documents arrive byte for byte."""

from tests.matrix.conftest import Pair, pairs
from tests.matrix.neutral import Ask, Image, Pdf, user

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8ffbf1e0006020280fb3ef2ff"
    "0000000049454e44ae426082"
)
JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) + b"\xff\xd9"
PDF = b"%PDF-1.4\n" + bytes(range(255, -1, -1)) + b"\n%%EOF"
URL = "https://example.com/cat.png?size=big&x=%20"


@pairs()
async def test_the_bytes_of_a_picture_arrive(pair: Pair):
    await pair.ask(Ask(turns=(user("What is this?", Image(PNG)),)))
    assert pair.seen.parts("image") == [("image", PNG)]
    assert pair.seen.conversation() == [("user", "What is this?")]


@pairs()
async def test_several_pictures_keep_their_order(pair: Pair):
    jpeg = Image(JPEG, media_type="image/jpeg")
    await pair.ask(Ask(turns=(user("First", jpeg, "second", Image(PNG), "what differs?"),)))
    held = [("text", "First"), ("image", JPEG), ("text", "second"), ("image", PNG), ("text", "what differs?")]
    assert pair.seen.turns == [("user", held)]


@pairs()
async def test_the_address_of_a_picture_arrives(pair: Pair):
    await pair.ask(Ask(turns=(user("What is this?", Image(url=URL)),)))
    assert pair.seen.parts("image") == [("image", URL)]


@pairs()
async def test_the_bytes_of_a_document_arrive(pair: Pair):
    await pair.ask(Ask(turns=(user(Pdf(PDF), "What does it say?"),)), stream=True)
    assert pair.seen.parts("pdf") == [("pdf", PDF)]
    assert pair.seen.conversation() == [("user", "What does it say?")]
