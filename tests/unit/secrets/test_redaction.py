"""Secrets never show, in whatever form they come."""

import base64
import json
import threading
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.redaction import Redactor, is_key_header, mask_credentials, mask_url, secret_headers, secret_members
from tests.unit.work import lines_run

SECRET = "sk-live+0123/4567=89abcdef"


def knowing(*values: str) -> Redactor:
    redactor = Redactor()
    redactor.register(*values)
    return redactor


FORMS = {
    "raw": SECRET,
    "url": quote(SECRET, safe=""),
    "url, lower case": quote(SECRET, safe="").replace("%2B", "%2b").replace("%2F", "%2f").replace("%3D", "%3d"),
    "url path": quote(SECRET),
    "hex": SECRET.encode().hex(),
    "HEX": SECRET.encode().hex().upper(),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64url": base64.urlsafe_b64encode(SECRET.encode()).decode(),
    "json": json.dumps(SECRET),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_replaced_in_every_form(form: str) -> None:
    redacted = knowing(SECRET).redact(f"before {FORMS[form]} after")
    assert FORMS[form].strip('"') not in redacted and "***cdef" in redacted
    assert redacted.startswith("before ") and redacted.endswith(" after")


@given(st.binary(max_size=20), st.binary(max_size=20), st.booleans())
def test_a_secret_inside_a_longer_base64_text_is_replaced(before: bytes, after: bytes, url: bool) -> None:
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    redacted = knowing(SECRET).redact(encode(before + SECRET.encode() + after).decode())
    assert "***cdef" in redacted


@given(st.text(min_size=8, max_size=60), st.text(max_size=30), st.text(max_size=30))
def test_no_registered_value_survives(value: str, before: str, after: str) -> None:
    redactor = knowing(value)
    assert value not in redactor.redact(before + value + after) or value in "***" + value[-4:]
    assert json.dumps(value)[1:-1] not in redactor.redact(json.dumps(before + value + after))


@given(st.text())
def test_nothing_is_changed_when_nothing_is_known(text: str) -> None:
    assert Redactor().redact(text) == Redactor().child().redact(text) == text


def test_short_secrets_show_nothing_and_very_short_ones_are_let_go() -> None:
    assert knowing("12345678").redact("a 12345678 b") == "a *** b"
    assert knowing("1234567").redact("a 1234567 b") == "a 1234567 b"


def test_escaped_forms_of_a_secret_with_quotes_and_umlauts_are_replaced() -> None:
    value = 'pass"word\\ü-with-length'
    redactor = knowing(value)
    for ascii_only in (True, False):
        assert "word" not in redactor.redact(json.dumps({"k": value}, ensure_ascii=ascii_only))


def test_a_secret_that_contains_another_is_replaced_whole() -> None:
    assert knowing("abcdefgh", "abcdefgh-and-more-of-it").redact("abcdefgh-and-more-of-it") == "***f-it"


def test_a_child_knows_its_parents_secrets_and_keeps_its_own() -> None:
    parent = knowing("parent-secret")
    child = parent.child()
    child.register("child-secret!")
    parent.register("later-secret!")
    text = "parent-secret child-secret! later-secret!"
    assert child.redact(text) == "*** *** ***"
    assert parent.redact(text) == "*** child-secret! ***"


def test_a_redactor_does_not_grow_without_end() -> None:
    redactor = Redactor()
    redactor.register(*(f"secret-number-{n}" for n in range(1500)))
    assert redactor.redact("secret-number-1499") == "***1499"
    assert redactor.redact("secret-number-1") == "secret-number-1"


@pytest.mark.parametrize(
    "url,masked",
    [
        ("https://h/p?key=abc&x=1", "https://h/p?key=***&x=1"),
        ("https://h/p?x=1&api_key=abc#f", "https://h/p?x=1&api_key=***#f"),
        ("/p?ACCESS_TOKEN=abc", "/p?ACCESS_TOKEN=***"),
        ("/p?token=a&signature=b;c", "/p?token=***&signature=***;c"),
        ("/p?k%65y=abc&%74oken=%61bc&x=1", "/p?k%65y=***&%74oken=***&x=1"),
        ("/p?to=https://h/q?key=abc&x=1", "/p?to=https://h/q?key=***&x=1"),
        ("/p?key=a?token=b&x=1", "/p?key=***&x=1"),
        ("/p?key=&x=1", "/p?key=&x=1"),
        ("https://user:pass@h/p", "https://***@h/p"),
        ("https://user@h/p", "https://***@h/p"),
        ("https://h/p?monkey=abc", "https://h/p?monkey=abc"),
        ("https://h/mail@example", "https://h/mail@example"),
    ],
)
def test_credentials_in_urls_are_masked(url: str, masked: str) -> None:
    assert mask_url(url) == masked


@pytest.mark.parametrize(
    "line",
    [
        "Authorization: Bearer k1k2k3k4k5",
        "authorization: k1k2k3k4k5",
        "b'Authorization: Bearer k1k2k3k4k5\\r\\n'",
        "{'x-api-key': 'k1k2k3k4k5'}",
        '{"X-Goog-Api-Key": "k1k2k3k4k5"}',
        "(b'Authorization', b'Bearer k1k2k3k4k5')",
        "Cookie: session=k1k2k3k4k5",
        "api-key=k1k2k3k4k5",
        "sent Bearer k1k2k3k4k5 there",
        "GET /x?key=k1k2k3k4k5 HTTP/1.1",
    ],
)
def test_what_looks_like_a_credential_is_masked_unregistered(line: str) -> None:
    assert "k1k2" not in mask_credentials(line) and "***" in mask_credentials(line)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *(
            (name, True)
            for name in ("X-Auth-Token", "Ocp-Apim-Subscription-Key", "x-amz-security-token", "Set-Cookie", "apikey")
        ),
        *((name, False) for name in ("idempotency-key", "x-agentui-session", "content-type", "user-agent", "tokens", "x-keys")),
    ],
)
def test_headers_are_called_like_what_they_hold(name: str, is_one: bool) -> None:
    assert is_key_header(name) is is_one


def test_members_of_a_body_are_called_like_what_they_hold() -> None:
    body = {
        "api_key": "a",
        "tools": [{"headers": {"Authorization": "Bearer b"}, "authorization_token": "c", "parameters": {"password": {"x": 1}}}],
        "client_secret": "d",
        "apiKey": "e",
        "max_tokens": 5,
        "logprobs": {"token": "no"},
        "key": "no",
        "x" * 100 + "_api_key": "no",
    }
    assert sorted(secret_members(body)) == ["Bearer b", "a", "b", "c", "d", "e"]


def test_what_is_made_of_a_secret_is_one_and_what_is_made_of_other_texts_is_none() -> None:
    redactor = knowing(SECRET)
    redactor.register_made(SECRET.upper(), SECRET, str.upper)
    redactor.register_made("ORDINARY WORDS", "ordinary words", str.upper)
    redactor.child().register_made("KNOWN BELOW ONLY", f"known below only {SECRET}", str.upper)
    long = f"{SECRET} {'x' * 2000}"
    redactor.register_made(long.swapcase(), long, str.swapcase)
    assert redactor.redact(f"{SECRET.upper()} {SECRET.swapcase()} ordinary words, ORDINARY WORDS, KNOWN BELOW ONLY") == (
        "***CDEF ***CDEF ordinary words, ORDINARY WORDS, KNOWN BELOW ONLY"
    )


def test_every_text_and_name_of_a_json_value_is_looked_through() -> None:
    value = {"a": [SECRET, 1, None, {SECRET: (f"x{SECRET}",)}]}
    assert knowing(SECRET).redact_json(value) == {"a": ["***cdef", 1, None, {"***cdef": ["x***cdef"]}]}


def test_secret_headers_are_found_with_and_without_their_scheme() -> None:
    headers = {
        "Authorization": "Bearer sk-1",
        "X-Api-Key": "k2",
        "x-goog-api-key": "k3",
        "API-Key": "k4",
        "Cookie": "a=c1; b=c2",
        "Proxy-Authorization": "Basic cDpx",
        "accept": "text/plain",
        "x-empty": "",
    }
    assert secret_headers(headers) == ["Bearer sk-1", "sk-1", "k2", "k3", "k4", "a=c1; b=c2", "c1", "c2", "Basic cDpx", "cDpx"]


@pytest.mark.parametrize("piece", ["a.", "a://", "a://b", "&key=x", "key&", "a1=b.c+d&", "://"])
def test_twice_as_long_an_address_takes_about_twice_as_long(piece: str) -> None:
    """In steps of the processor's own time, the shortest of some: what was quadratic took four times as long."""

    def seconds(text: str) -> float:
        times = []
        for _ in range(5):
            began = time.process_time()
            mask_url(text)
            times.append(time.process_time() - began)
        return min(times)

    short, long = "https://h/?" + piece * 4000, "https://h/?" + piece * 32000
    assert seconds(long) < 20 * max(seconds(short), 0.0005)


def test_many_secrets_in_a_long_text_are_replaced_as_few_are() -> None:
    secrets = [f"s{number:03}-]^\\\\{number * 7919}-secret" for number in range(300)]
    many = knowing(*secrets)
    text = "".join(f"{'words, ' * 40}{form}" for secret in secrets[::3] for form in (secret, json.dumps(secret), quote(secret)))
    expected = text
    for secret in secrets:
        expected = knowing(secret).redact(expected)
    assert len(text) > 64 * 1024
    assert many.redact(text) == expected
    assert "7919" not in many.redact(text)
    edge = "x" * (64 * 1024 - 5) + secrets[1] + "x" * 64 * 1024
    assert secrets[1] not in many.redact(edge)


def test_a_long_text_is_not_looked_through_for_every_secret_of_many() -> None:
    """In seconds of the processor; once for each form took some twenty-five times as long."""
    many = knowing(*(f"cookie-{number:04}-{number * 104729:x}" for number in range(480)))
    many.redact("x")
    began = time.thread_time()
    many.redact("some words of an answer, and more of them. " * 100_000)
    assert time.thread_time() - began < 0.7


def test_a_credential_of_many_spaces_is_read_in_one_go() -> None:
    """In seconds of the processor; trying every split of the spaces took minutes."""
    padded = f"Bearer{' ' * 200_000}{SECRET}\nand more"
    began = time.thread_time()
    found = [*secret_members({"api_key": padded}), *secret_headers({"authorization": padded})]
    assert time.thread_time() - began < 0.7
    assert found == [padded, f"{SECRET}\nand more"] * 2


def test_no_thread_sees_a_secret_that_another_is_about_to_learn() -> None:
    redactor, shown = Redactor(), list[str]()
    beside = threading.Thread(target=lambda: shown.append(redactor.redact(f"beside {SECRET}")))

    def read() -> list[str]:
        beside.start()
        beside.join(0.2)  # it has to wait for what is read here; one that did not would be done by now
        return [SECRET]

    redactor.register_later(read)
    assert redactor.redact(f"first {SECRET}") == "first ***cdef"
    beside.join()
    assert shown == ["beside ***cdef"]


def test_what_many_long_secrets_cost_is_bounded_and_the_newest_count() -> None:
    """In seconds of the processor; a body of 14 MB of them took more than one, in an answer that refused it."""
    redactor = Redactor()
    secrets = [f"secret-{number:04}-{'x' * 15_000}" for number in range(900)]
    redactor.register(*secrets)
    began = time.thread_time()
    shown = redactor.redact(f"{secrets[-1]} {secrets[-30]} {secrets[0]}")
    assert time.thread_time() - began < 0.7
    assert shown == f"***xxxx ***xxxx {secrets[0]}"


MANY = [f"secret-{number:04}-{'abcdefgh'[number % 8]}" for number in range(1000)]
KNOWS_MANY = knowing(*MANY)


@given(st.lists(st.sampled_from([*MANY[:40], "secret-", "plain ", '"', "0001"]), max_size=12))
def test_many_secrets_are_found_as_each_alone_would_be(words: list[str]) -> None:
    text = "".join(words)
    one_by_one = text
    for secret in MANY[:40]:
        one_by_one = knowing(secret).redact(one_by_one)
    assert KNOWS_MANY.redact(text) == one_by_one
    assert KNOWS_MANY.redact_json([text, {text: text}]) == [one_by_one, {one_by_one: one_by_one}]


def test_short_texts_are_not_looked_through_once_for_each_of_many_secrets() -> None:
    few, many = knowing(*MANY[:100]), knowing(*MANY)
    texts = [f"value {number}" for number in range(200)]
    assert few.redact_json(texts) == many.redact_json(texts) == texts  # each knows now where its secrets may begin
    assert lines_run(lambda: many.redact_json(texts)) <= 1.2 * lines_run(lambda: few.redact_json(texts))
