"""Where a node calls: base and endpoint as one URL."""

import pytest

from agentui.errors import NodeFailed
from agentui.pipeline.nodes.model.target import join_url


@pytest.mark.parametrize(
    ("base", "endpoint", "url"),
    [
        ("https://api.example.test", "/v1/messages", "https://api.example.test/v1/messages"),
        ("https://api.example.test/v1/", "v1/messages", "https://api.example.test/v1/messages"),
        ("http://[::1]:8080", "", "http://[::1]:8080"),
    ],
)
def test_base_and_endpoint_are_one_url(base: str, endpoint: str, url: str) -> None:
    assert join_url(base, endpoint) == url


@pytest.mark.parametrize(
    "base",
    ["", "demo", "file:///etc/passwd", "https://", "https://[::1", "https://[red]/", "https://a]b/", "https://a\u2100b/"],
)
def test_what_is_no_address_is_an_error_of_the_node(base: str) -> None:
    with pytest.raises(NodeFailed, match="base_url must be an http or https address"):
        join_url(base, "/v1/messages")


@pytest.mark.parametrize("endpoint", ["/a b", "/a?b=\udcff", "/\r\n"])
def test_what_cannot_stand_in_an_address_is_an_error_of_the_node(endpoint: str) -> None:
    with pytest.raises(NodeFailed, match="The URL holds"):
        join_url("https://api.example.test", endpoint)
