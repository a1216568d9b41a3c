"""The Prompt Block Image: addresses, data URLs and base64 become pictures in every vendor's way."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.messages import Media
from agentui.chat.request import VendorName
from agentui.errors import InvalidPipeline, NodeFailed
from agentui.jsonio import Json, dumps_text
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.image_block import read_image
from tests.unit.pipeline.parts import Ear, compiled, make_incoming, make_run

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
FILES = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0" + b"\1" * 9,
    "image/gif": b"GIF89a" + b"\2" * 5,
    "image/webp": b"RIFF\0\0\0\0WEBPVP8 ",
}


async def sent(source: str, provider: str, picture: Json = None) -> Json:
    """The body that a call with a picture sends."""
    blocks = [{"text": "Look."}, {"kind": "image", "text": source}, {"role": "user", "text": "What is it?"}]
    config = {"provider": provider, "base_url": "https://api.example", "model": "m", "blocks": blocks}
    plan = compiled([{"id": "n1", "type": "ProviderCall", "config": config}])
    request = make_incoming({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "picture": picture})
    shown = await plan.nodes[0].node.preview(NodeContext(make_run(plan, request), "n1", "ProviderCall", Ear()))
    body: dict[str, Json] = shown["body"]
    body.pop("picture", None)
    return body


@pytest.mark.parametrize("vendor", ["openai", "openai_responses", "claude", "gemini"])
async def test_a_picture_is_sent_in_the_vendors_own_way(vendor: VendorName) -> None:
    written = base64.b64encode(PNG).decode()
    body = dumps_text(await sent("{{ incoming.json.picture }}", vendor, f"data:image/gif;base64,{written}"))
    assert written in body
    assert "image/png" in body and "image/gif" not in body


@pytest.mark.parametrize("vendor", ["openai", "openai_responses", "claude", "gemini"])
async def test_an_address_is_sent_as_an_address(vendor: VendorName) -> None:
    assert "https://pictures.example/a.png" in dumps_text(await sent("https://pictures.example/a.png", vendor))


async def test_what_comes_to_nothing_is_left_out() -> None:
    assert await sent("{{ incoming.json.picture }}", "openai") == await sent(" ", "openai")


@pytest.mark.parametrize("kind", FILES)
def test_the_first_bytes_decide_the_type(kind: str) -> None:
    plain = base64.b64encode(FILES[kind]).decode()
    for source in (plain, f"data:text/html;base64,{plain}", plain.rstrip("="), f"{plain[:8]}\r\n{plain[8:]}"):
        assert read_image(source) == Media("image", kind, data=plain)


@given(st.binary(max_size=60))
def test_every_picture_is_read_as_it_was(rest: bytes) -> None:
    data = PNG + rest
    for text in (base64.b64encode(data), base64.urlsafe_b64encode(data)):
        assert base64.b64decode(read_image(text.decode()).data or "") == data


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("ftp://a.example/x.png", "give an address"),
        ("https://a.example/x y.png", "give an address"),
        ("https://a.example/" + "a" * 9000, "longer than 8192"),
        ("data:image/png,plain", "must hold base64"),
        ("data:image/png;base64," + "a" * 9, "give an address"),
        (base64.b64encode(b"<svg></svg>").decode(), "PNG, JPEG, GIF or WebP"),
        ("é" * 8, "give an address"),
    ],
    ids=lambda value: value[:24],
)
async def test_what_is_no_picture_fails_before_anything_is_sent(source: str, reason: str) -> None:
    with pytest.raises(NodeFailed, match=reason) as caught:
        await sent("{{ incoming.json.picture }}", "openai", source)
    assert caught.value.details["field"] == "blocks.1.text"


def test_a_broken_template_is_told_when_the_pipeline_is_saved() -> None:
    with pytest.raises(InvalidPipeline):
        compiled([{"id": "n1", "type": "ProviderCall", "config": {"blocks": [{"kind": "image", "text": "{{ a"}]}}])
