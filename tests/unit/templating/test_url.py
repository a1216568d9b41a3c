"""Addresses: whatever a value is, it stays what it is in its place."""

import pytest

from agentui.templating.core.language import Segment
from agentui.templating.core.problems import TemplateRenderError
from agentui.templating.hadtavern.url import UrlLanguage, has_fixed_host
from tests.unit.templating.scopes import scope


def address(source: str, value: object, beginning: str = "address") -> str:
    """What the template gives where ``x`` is the value."""
    return UrlLanguage(beginning, secrets=True).compile(source).render(scope(run_vars={"x": value}, secret=str))


@pytest.mark.parametrize(
    ("source", "value", "url"),
    [
        ("https://a.test/d/{{ x }}/chat", "gpt/../../../other?", "https://a.test/d/gpt%2F..%2F..%2F..%2Fother%3F/chat"),
        ("https://a.test/d/{{ x }}/chat", "é #&=%2F", "https://a.test/d/%C3%A9%20%23%26%3D%252F/chat"),
        ("https://a.test/d?tag=[[x]]&b=1", "1&key=2#", "https://a.test/d?tag=1%26key%3D2%23&b=1"),
        ("https://{{ x }}.a.test/v1", "eu-west.1", "https://eu-west.1.a.test/v1"),
        ("https://a.test:{{ x }}/v1", 8080, "https://a.test:8080/v1"),
        ("demo/{{ x }}", "a/b", "demo/a%2Fb"),
        ("[[x]]", "http://127.0.0.1:1/v1?q=1", "http://127.0.0.1:1/v1?q=1"),
        ("[[x]]/v1/{{ x }}", "http://a.test", "http://a.test/v1/http%3A%2F%2Fa.test"),
        ("{{ x|default('demo') }}/v1", None, "demo/v1"),
        ("https://a.test?key=[[SECRET:a.b-c]]", "", "https://a.test?key=a.b-c"),
    ],
)
def test_a_value_stands_in_its_place(source: str, value: object, url: str) -> None:
    assert address(source, value) == url


@pytest.mark.parametrize(
    ("source", "value", "path"),
    [
        ("[[x]]", "/v1/a%20b:c?alt=sse&k=1", "/v1/a%20b:c?alt=sse&k=1"),
        ("[[x]]?alt=sse", "/v1/a%20b?k", "/v1/a%20b%3Fk?alt=sse"),
        ("/v1beta/models/{{ x }}:generateContent", "m:x", "/v1beta/models/m%3Ax:generateContent"),
        ("/proxy[[VAR:incoming.path]]", "", "/proxy/v1/chat/completions"),
        ("/v1?a={{ x }}", [1, "b c"], "/v1?a=%5B1%2C%22b%20c%22%5D"),
        ("/proxy{{ incoming.path|replace('v1/', '') }}", "", "/proxy/chat/completions"),
        ("/proxy{{ incoming.path|replace('chat', x) }}", "a?b#c d", "/proxy/v1/a%3Fb%23c%20d/completions"),
        ("/v1?{{ incoming.query|default('a=b&c=d e') }}", "", "/v1?a=b&c=d%20e"),
        ("/v1?{{ incoming.query|default(x)|trim }}", "a=b#c\u00e9?", "/v1?a=b%23c%C3%A9?"),
        ("/v1?a={{ incoming.path|upper }}", "", "/v1?a=%2FV1%2FCHAT%2FCOMPLETIONS"),
        ("/v1/{{ incoming.query|default('a=b/c') }}", "", "/v1/a%3Db%2Fc"),
    ],
)
def test_a_path_takes_values_by_segments(source: str, value: object, path: str) -> None:
    assert address(source, value, "path") == path


@pytest.mark.parametrize("value", ["evil.test/", "a@b", "a:b", "a?b", "a#b", "a b", "a\\b", "é", "a%2f"])
def test_the_host_takes_letters_digits_dots_and_dashes(value: str) -> None:
    with pytest.raises(TemplateRenderError, match="host"):
        address("https://{{ x }}.a.test/v1", value)


@pytest.mark.parametrize(
    ("source", "value"), [("/v1/{{ x }}/chat", ".."), ("/v1/.{{ x }}", "."), ("/v1/{{ x }}?a=b", "."), ("[[x]]", "/a/%2E%2e/b")]
)
def test_no_value_leads_up(source: str, value: str) -> None:
    with pytest.raises(TemplateRenderError, match="lead up"):
        address(source, value, "path")


@pytest.mark.parametrize("value", ["a\r\nb", "\0", "\x7f"])
@pytest.mark.parametrize("source", ["/v1/{{ x }}/chat", "/v1?a={{ x }}"])
def test_control_characters_stand_nowhere(source: str, value: str) -> None:
    with pytest.raises(TemplateRenderError, match="control"):
        address(source, value, "path")


def test_a_trace_shows_what_stands_there_and_hides_secrets() -> None:
    template = UrlLanguage("path", secrets=True).compile("/v1/{{ x }}?key=[[SECRET:k]]")
    assert template.trace(scope(run_vars={"x": "a/b"}, secret=str)) == [
        (
            None,
            [
                Segment("/v1/", None),
                Segment("a%2Fb", "{{ x }}"),
                Segment("?key=", None),
                Segment("***", "[[SECRET:k]]"),
            ],
        )
    ]


@pytest.mark.parametrize(
    ("source", "is_fixed"),
    [
        ("https://a.test", True),
        ("https://a.test/{{ x }}", True),
        ("demo/{{ x }}", True),
        ("", True),
        ("https://a.test{{ x }}/v1", False),
        ("https://{{ x }}.a.test/v1", False),
        ("https://a.test:{{ x }}/", False),
        ("[[x]]", False),
        ("https://{{ x }}/a.test/", False),
    ],
)
def test_a_host_is_fixed_where_no_macro_stands_in_it(source: str, is_fixed: bool) -> None:
    assert has_fixed_host(UrlLanguage("address").compile(source)) is is_fixed
