"""The library's routes take the fields, and have the statuses, of the contract that it fulfils (``contract.json``)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentui.jsonio import Json, loads
from tests.api.chats.forms import DOCUMENT

CONTRACT: dict[str, Any] = loads((Path(__file__).parent / "contract.json").read_bytes())
"""By method and path (names in it left out): fields of the query and of the body, those that have to be there, statuses. 503
is left out: every route may say it."""
DECIDED = {
    "GET /export/chat/{}: query include_memories": "no memory of facts stands beside a chat",
    "POST /export/chat/{}/jobs: body include_memories": "likewise",
    "GET /export/chat/{}: status 409": "what is committed is written, whatever else goes on",
    "GET /presets/{}/editor: status 422": "a content that is no preset is refused when it comes",
}
"""What differs, and why."""


def test_every_field_and_status_of_the_contract_is_there() -> None:
    assert set(_missing()) == DECIDED.keys()


def _missing() -> Iterator[str]:
    operations = {
        f"{method.upper()} {re.sub('{[^}]*}', '{}', path)}": operation
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    }
    for route, wanted in CONTRACT.items():
        operation = operations[route]
        taken = {parameter["name"] for parameter in map(_resolved, operation.get("parameters", ()))}
        yield from (f"{route}: query {name}" for name in wanted.get("query", ()) if name not in taken)
        yield from (f"{route}: status {each}" for each in wanted["statuses"] if str(each) not in operation["responses"])
        body = _resolved(operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {}))
        yield from (f"{route}: body {name}" for name in wanted.get("body", ()) if name not in body.get("properties", ()))
        more = set(body.get("required", ())) - set(wanted.get("required", ()))
        yield from (f"{route}: requires {name}" for name in sorted(more))


def _resolved(schema: Json) -> Any:
    while "$ref" in schema:
        place: Json = DOCUMENT
        for name in schema["$ref"].split("/")[1:]:
            place = place[name]
        schema = place
    return schema
