"""What is certain to fail in a run is told when a pipeline is checked."""

import pytest

from agentui.jsonio import Json
from agentui.pipeline.node import Build, make_node
from agentui.pipeline.nodes import BUILTIN


def codes(kind: str, config: dict[str, Json]) -> list[tuple[str, str | None]]:
    """The problems of a node's configuration, with their fields."""
    build = Build("n1")
    make_node(BUILTIN[kind], config, build)
    return [(problem.code, problem.field) for problem in build.problems]


@pytest.mark.parametrize(
    ("kind", "config", "code", "field"),
    [
        ("ProviderCall", {"headers": {"bad name": "x"}}, "header.name", "headers.bad name"),
        ("RawForward", {"extra_headers": {"": "x"}}, "header.name", "extra_headers."),
        ("ProviderCall", {"base_url": "ftp://a.test"}, "url.scheme", "base_url"),
        ("RawForward", {"base_url": " file:///etc/passwd"}, "url.scheme", "base_url"),
        ("ProviderCall", {"base_url": "ftp://{{ model }}/"}, "url.scheme", "base_url"),
        ("ProviderCall", {"template": "[1]"}, "template.no_object", "template"),
        ("ProviderCall", {"template": '"{{ model }}"'}, "template.no_object", "template"),
        ("ProviderCall", {"template": "[{{ model }}]"}, "template.no_object", "template"),
        ("RawForward", {"extra_headers": "[1]"}, "template.no_object", "extra_headers"),
    ],
)
def test_it_is_a_problem_of_its_field(kind: str, config: dict[str, Json], code: str, field: str) -> None:
    assert codes(kind, config) == [(code, field)]


@pytest.mark.parametrize(
    "config",
    [
        {"base_url": "HTTPS://a.test", "headers": {"X-Y": "{{ model }}"}, "template": " {}"},
        {"base_url": "demo/v1", "template": "{{ incoming.json }}"},
        {"base_url": "[[BASE]]", "template": "[[BODY]]"},
        {"base_url": "{{ scheme }}://a.test", "template": '\n{"model": "{{ model }}"}'},
    ],
)
def test_what_may_work_is_none(config: dict[str, Json]) -> None:
    assert codes("ProviderCall", config) == []
