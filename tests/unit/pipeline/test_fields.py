"""What is certain to fail in a run is told when a pipeline is checked."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from agentui.jsonio import Json
from agentui.pipeline.node import Build, describe, make_node
from agentui.pipeline.nodes import BUILTIN
from tests.unit.pipeline.parts import compiled


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


def fields_with_conditions(schema: Any, root: Any) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Every field that means something beside others only: its name, its condition, and the fields beside it."""
    properties = schema.get("properties", {})
    for name, field in properties.items():
        if "when" in field:
            yield name, field["when"], properties
    for inner in root.get("$defs", {}).values() if schema is root else ():
        yield from fields_with_conditions(inner, root)


def test_a_field_that_depends_on_another_names_it_and_its_values() -> None:
    """A slip would hide the field from everybody."""
    found = 0
    for kind in BUILTIN.values():
        schema: Any = describe(kind)["schema"]
        for _, when, beside in fields_with_conditions(schema, schema):
            for name, values in when.items():
                found += 1
                assert values and set(values) <= set(beside[name]["enum"])
    assert found >= 20


def test_a_model_of_its_own_that_no_target_stands_for_is_told() -> None:
    def told(model: str, *rows: Json) -> list[str]:
        config = {"provider": "openai", "model": model, "targets": list(rows)}
        return [problem.code for problem in compiled([{"id": "n1", "type": "ProviderCall", "config": config}]).warnings]

    assert told("mine", {"model": "other"}) == ["targets.own"]
    assert told("mine", {}, {"model": "other"}) == told("mine", {"secret": "second"}) == told("", {"model": "other"}) == []
    assert told("mine", {"model": "other", "enabled": False}) == ["targets.none"]
