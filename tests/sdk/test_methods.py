"""The client and the server have the same routes, and both clients the same methods."""

import inspect
from importlib import import_module
from typing import Any

import pytest

from agentui.sdk import AsyncTavernClient, TavernApiError, TavernClient
from agentui.sdk.endpoints import Endpoint
from tests.api.chats.forms import DOCUMENT
from tests.sdk.generate import Call, Writer, is_left_out
from tests.sdk.names import NAMES, RESOURCES

WITHOUT_ID = [
    call
    for group in Writer(DOCUMENT).by_resource.values()
    for call in group
    if call.method == "GET"
    and not call.places
    and call.kind in ("call", "list", "text")
    and not any(is_required for _, is_required in call.query.values())
]


def routes() -> set[tuple[str, str]]:
    """Every route of the server that shall have a method."""
    return {
        (word.upper(), path)
        for path, operations in DOCUMENT["paths"].items()
        for word, operation in operations.items()
        if not path.startswith("/p/{pipeline}/") and not is_left_out(path, operation["tags"][0])
    }


def test_every_route_has_its_endpoint_and_every_endpoint_its_route() -> None:
    found: set[tuple[str, str]] = set()
    for resource, (folder, _) in RESOURCES.items():
        module = import_module(f"agentui.sdk.resources.{folder}.{resource}")
        endpoints = [value for value in vars(module).values() if isinstance(value, Endpoint)]
        found |= {(endpoint.method, endpoint.path) for endpoint in endpoints}
    assert found == routes() == NAMES.keys()


def test_routes_below_a_pipelines_name_are_reached_by_the_option() -> None:
    told = {path.removeprefix("/p/{pipeline}") for path, _ in paths_of_pipelines()}
    calls = [call for group in Writer(DOCUMENT).by_resource.values() for call in group]
    assert {call.path for call in calls if "ByPipeline" in call.options} == told


def paths_of_pipelines() -> list[tuple[str, Any]]:
    """The paths of the memory that also stand below the name of a pipeline."""
    return [
        (path, operations)
        for path, operations in DOCUMENT["paths"].items()
        if path.startswith("/p/{pipeline}/") and all(each["tags"][0] == "memory" for each in operations.values())
    ]


def methods(kind: object) -> dict[str, list[str]]:
    """The public methods of a resource with the names of their parameters."""
    found = inspect.getmembers(kind, inspect.ismethod)
    return {name: list(inspect.signature(method).parameters) for name, method in found if not name.startswith("_")}


async def test_both_clients_have_the_same_methods() -> None:
    with TavernClient("http://nowhere") as client:
        async with AsyncTavernClient("http://nowhere") as other:
            for resource in RESOURCES:
                assert methods(getattr(client, resource)) == methods(getattr(other, resource)), resource
            for resource, name in NAMES.values():
                assert name in methods(getattr(client, resource))


@pytest.mark.parametrize("call", WITHOUT_ID, ids=lambda call: f"{call.resource}.{call.name}")
def test_what_needs_no_id_can_be_asked_of_any_server(call: Call, origin: str) -> None:
    """It answers in its shape, or says in its words what it wants besides."""
    with TavernClient(origin) as client:
        try:
            answer = getattr(getattr(client, call.resource), call.name)()
        except TavernApiError as error:
            assert error.status < 500 and not error.code.startswith("http_"), error
        else:
            assert isinstance(answer, str if call.kind == "text" else dict | list)
