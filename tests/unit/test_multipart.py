"""Forms with files: what aiohttp's own client sends is read, and what is torn is refused."""

import pytest
from aiohttp import FormData
from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import BadRequest
from agentui.http.multipart import FormPart, parameters_of, parse_form

TYPE = "multipart/form-data; boundary=cut"


async def rendered(form: FormData) -> tuple[bytes, str]:
    """A form as aiohttp's client sends it."""
    payload = form()
    body = await payload.as_bytes()
    return body, payload.headers["Content-Type"]


@given(st.binary(max_size=300), st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=10))
async def test_a_file_and_a_field_are_read_to_the_byte(data: bytes, field: str) -> None:
    form = FormData()
    form.add_field("file", data, filename="Mira.png", content_type="image/png")
    form.add_field("title", field)
    body, content_type = await rendered(form)
    assert parse_form(body, content_type) == {"file": FormPart(data, "Mira.png"), "title": FormPart(field.encode())}


def test_a_file_is_called_without_its_folders() -> None:
    body = b'--cut\r\nContent-Disposition: form-data; name="file"; filename="..\\a/b.png"\r\n\r\nx\r\n--cut--\r\n'
    assert parse_form(body, TYPE)["file"] == FormPart(b"x", "b.png")


@pytest.mark.parametrize(
    ("told", "name"),
    [
        # Browsers (HTML, "multipart/form-data encoding algorithm"), curl, requests (RFC 8187), and what is no parameter.
        ('name="file"; filename="a;b=%22.png"', "a;b=%22.png"),
        (r'name="file"; filename="a \"b\".png"', 'a "b".png'),
        ("name=\"file\"; filename*=utf-8''na%C3%AFve%20%E2%82%AC.png", "naïve €.png"),
        ('name="file"; filename="x"; filename*=punycode\'\'a.png', "x"),
        ("FILENAME = a.png ;; name=file;", "a.png"),
        ('odd; =; "; name="file"; name="other"; filename="a.png"; filename="b.png"', "a.png"),
        ('name="file"; filename=""', ""),
        ('name="file"; filename="ä.png"', "ä.png"),
    ],
)
def test_a_file_is_called_as_its_sender_calls_it(told: str, name: str) -> None:
    body = f"--cut\r\nX-Odd: 1\r\ncontent-DISPOSITION: form-data; {told}\r\n\r\nx\r\n--cut--".encode()
    assert parse_form(body, TYPE) == {"file": FormPart(b"x", name)}


@given(
    st.dictionaries(st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True), st.text(st.characters(exclude_characters="\r\n")))
)
def test_parameters_are_read_as_they_were_written(parameters: dict[str, str]) -> None:
    quoted = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in parameters.items()}
    assert parameters_of("form-data" + "".join(f'; {name}="{value}"' for name, value in quoted.items())) == parameters


def test_headers_of_a_part_are_few() -> None:
    body = b'--cut\r\nContent-Disposition: form-data; name="file"; x="' + b";" * 130_000 + b'"\r\n\r\nx\r\n--cut--'
    with pytest.raises(BadRequest, match="more than 8192 bytes of headers"):
        parse_form(body, TYPE)


@pytest.mark.parametrize(
    ("body", "content_type", "words"),
    [
        (b"", "multipart/form-data", "no boundary"),
        (b"", TYPE, "breaks off"),
        (b"--other--", TYPE, "breaks off"),
        (b"--cut\r\n\r\nx", TYPE, "breaks off"),
        (b"--cut\r\n\r\nx\r\n--cut--", TYPE, "no name"),
        (b"--cut\r\nContent-Disposition: form-data\r\n\r\nx\r\n--cut--", TYPE, "no name"),
        (b"--cut\r\n" * 30 + b"--cut--", TYPE, "more than 20 parts"),
    ],
)
def test_a_form_that_is_none_is_refused(body: bytes, content_type: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        parse_form(body, content_type)


@given(st.binary(max_size=100), st.text(max_size=40))
def test_no_bytes_do_more_than_be_refused(body: bytes, boundary: str) -> None:
    try:
        parse_form(b"--cut\r\n" + body + b"\r\n--cut--", f"multipart/form-data; boundary={boundary}")
    except BadRequest as refused:
        assert refused.message
