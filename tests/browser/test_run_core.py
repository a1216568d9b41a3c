"""What the run views compute without a page around them: requests of each dialect, their words, commands, provenance, calls."""

import asyncio
import json
from typing import Any

import pytest

from agentui.jsonio import Json
from tests.browser.core import Evaluate

pytestmark = pytest.mark.browser

QUESTION = {
    "model": "m/1",
    "system": "Be kind.",
    "temperature": 0.5,
    "stream": True,
    "key": "secret",
    "messages": [{"role": "user", "text": "Hi"}, {"role": "assistant", "text": "Yes?"}, {"role": "user", "text": "Well"}],
}


@pytest.mark.parametrize(
    ("dialect", "path", "key", "roles"),
    [
        ("openai", "/v1/chat/completions", ("authorization", "Bearer secret"), ["system", "user", "assistant", "user"]),
        ("claude", "/v1/messages", ("x-api-key", "secret"), ["user", "assistant", "user"]),
        (
            "gemini",
            "/v1beta/models/m%2F1:streamGenerateContent?alt=sse",
            ("x-goog-api-key", "secret"),
            ["user", "model", "user"],
        ),
    ],
)
async def test_each_dialect_has_its_own_request(
    core: Evaluate, dialect: str, path: str, key: tuple[str, str], roles: list[str]
) -> None:
    request = await core("return dialects.chatRequest(arg)", {**QUESTION, "dialect": dialect})
    assert (request["method"], request["path"]) == ("POST", path)
    assert request["headers"][key[0]] == key[1]
    body = request["body"]
    assert [message["role"] for message in body.get("messages", body.get("contents"))] == roles
    assert "Be kind." in json.dumps(body)
    assert "0.5" in json.dumps(body)


async def test_what_is_not_chosen_is_not_sent(core: Evaluate) -> None:
    for dialect in ("openai", "claude", "gemini"):
        asked = {**QUESTION, "dialect": dialect, "system": "", "temperature": None, "key": "", "stream": False}
        request = await core("return dialects.chatRequest(arg)", asked)
        assert "temperature" not in json.dumps(request["body"])
        assert "system" not in json.dumps(request["body"])
        assert "secret" not in json.dumps(request)
        assert "stream" not in request["path"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"choices": [{"delta": {"content": "a"}}]}, "a"),
        ({"choices": [{"message": {"content": "b"}}]}, "b"),
        ({"choices": [{"delta": {"role": "assistant", "content": None}}]}, ""),
        ({"choices": []}, ""),
        ({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "c"}}, "c"),
        ({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}}, ""),
        ({"type": "message", "content": [{"type": "text", "text": "d"}, {"type": "tool_use", "name": "x"}]}, "d"),
        ({"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}, {"text": "e"}]}}]}, "e"),
        ({"type": "response.output_text.delta", "delta": "f"}, "f"),
        ({"object": "response", "output": [{"content": [{"type": "output_text", "text": "g"}]}]}, "g"),
        (None, ""),
        ([1], ""),
        ("text", ""),
    ],
)
async def test_words_are_found_in_every_dialect(core: Evaluate, data: Json, text: str) -> None:
    assert await core("return dialects.wordsOf(arg)", data) == {"text": text, "error": None}


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        ({"error": {"message": "no", "type": "t", "code": "c"}}, "c", "no"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded_error", "Overloaded"),
        ({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow"}}, "429", "slow"),
        ({"type": "response.failed", "response": {"error": {"code": "broken", "message": "sorry"}}}, "broken", "sorry"),
    ],
)
async def test_an_error_within_an_answer_is_found(core: Evaluate, data: Json, code: str, message: str) -> None:
    assert await core("return dialects.wordsOf(arg).error", data) == {"code": code, "message": message}


HOSTILE = 'a\'b "c" $(touch x) `d` \\ $HOME !!\n\u2019\u201b ; | & > <é日本😀'


async def test_a_shell_reads_back_what_was_quoted(core: Evaluate) -> None:
    """A real shell gets the command, with a function in place of curl that prints its words."""
    request = {"method": "POST", "url": f"http://h/?q={HOSTILE}", "headers": {"x-a": HOSTILE}, "body": {"text": HOSTILE}}
    command = await core("return curl.curlPosix(arg)", request)
    script = "curl() { printf '%s\\0' \"$@\"; }\n" + command
    process = await asyncio.create_subprocess_exec("bash", "-c", script, stdout=asyncio.subprocess.PIPE)
    told, _ = await process.communicate()
    words = told.decode().split("\0")[:-1]
    assert words[:6] == ["-X", "POST", request["url"], "-H", f"x-a: {HOSTILE}", "--data-raw"]
    assert json.loads(words[6]) == request["body"]


async def test_powershell_doubles_every_kind_of_single_quote(core: Evaluate) -> None:
    assert await core("return curl.powerShellQuote(arg)", "a'b\u2018c\u2019d$e`f") == "'a''b\u2018\u2018c\u2019\u2019d$e`f'"
    command = await core("return curl.curlPowerShell(arg)", {"method": "GET", "url": "http://h", "headers": {}, "body": None})
    assert command == "curl.exe -X GET 'http://h'"


async def test_masked_keys_become_placeholders(core: Evaluate) -> None:
    headers = {"authorization": "Bearer ***cdef", "x-api-key": "***"}
    request = {"method": "POST", "url": "http://h/?key=***", "headers": headers, "body": {}}
    command = await core("return curl.curlPosix(arg)", request)
    assert "***" not in command
    assert command.count("YOUR_API_KEY") == 3


def segments(*pieces: tuple[str, str | None]) -> list[dict[str, str | None]]:
    return [{"text": text, "macro": macro} for text, macro in pieces]


async def test_pieces_are_found_where_they_ended_up(core: Evaluate) -> None:
    preview = {
        "url": "http://h/v1/models/demo-small",
        "headers": {"x-who": "Ann"},
        "body": {"model": "demo-small", "messages": [{"content": "Before. You are kind so. After."}], "n/~": 5},
    }
    trace = [
        {"field": "model", "pointer": None, "segments": segments(("demo-small", "{{ model }}"))},
        {"field": "headers.x-who", "pointer": None, "segments": segments(("Ann", "[[WHO]]"))},
        {"field": "blocks.0.text", "pointer": None, "segments": segments(("You are ", None), ("kind", "[[HOW]]"))},
        {"field": "body", "pointer": "/n~1~0", "segments": segments(("5", "[[N]]"))},
        {"field": "blocks.1.text", "pointer": None, "segments": segments(("nowhere to be found", "[[X]]"))},
        {"field": "blocks.2.text", "pointer": None, "segments": segments(("only text", None))},
    ]
    script = "return Object.fromEntries(provenance.provenance(arg.preview, arg.trace, 'n2'))"
    marks = await core(script, {"preview": preview, "trace": trace})
    assert {place: [(mark["from"], mark["to"], mark["macro"]) for mark in found] for place, found in marks.items()} == {
        "body/model": [(0, 10, "{{ model }}")],
        "headers/x-who": [(0, 3, "[[WHO]]")],
        "body/messages/0/content": [(16, 20, "[[HOW]]")],
        "body/n~1~0": [(0, 1, "[[N]]")],
    }
    assert marks["body/model"][0]["node"] == "n2"


async def test_random_functions_are_noticed(core: Evaluate) -> None:
    rows = [{"name": "A", "mode": "expr", "value": "1 + randint(1, 6)"}]
    assert await core("return provenance.varies(arg)", [{"a": 1}, {"variables": rows}]) is True
    prose = [{"name": "A", "mode": "string", "value": "a choice (of words)"}, {"name": "B", "mode": "expr", "value": "1 + 2"}]
    assert await core("return provenance.varies(arg)", [None, {"variables": prose}]) is False


def graph(*edges: tuple[str, str], off: tuple[str, ...] = (), text: str = "") -> dict[str, Any]:
    ids = sorted({id for edge in edges for id in edge})
    nodes = [
        {"id": id, "type": "Set" if id == "s" else "Call", "config": {"t": text} if id == "c" else {}, "enabled": id not in off}
        for id in ids
    ]
    return {"format": 1, "name": "", "nodes": nodes, "edges": [{"from": start, "to": end} for start, end in edges]}


@pytest.mark.parametrize(
    ("document", "pins", "calls"),
    [
        (graph(("s", "a"), ("a", "b"), ("b", "c")), {}, ["a", "b", "c"]),
        (graph(("s", "a"), ("a", "b"), ("b", "c")), {"b": {}}, ["c"]),
        (graph(("s", "a"), ("a", "b"), ("b", "c"), text="[[OUT:a.text]]"), {"b": {}}, ["a", "c"]),
        (graph(("a", "b"), ("a", "c")), {"b": {}}, ["a", "c"]),
        (graph(("a", "b"), ("b", "c"), off=("b",)), {}, ["a", "c"]),
        (graph(("a", "b")), {"a": {}, "b": {}}, []),
    ],
)
async def test_calls_that_cost_money_are_counted(core: Evaluate, document: Json, pins: Json, calls: list[str]) -> None:
    asked = {"document": document, "pins": pins}
    types = "{Set: {calls_upstream: false}, Call: {calls_upstream: true}}"
    assert await core(f"return calls.modelCalls(doc.completeDocument(arg.document), {types}, arg.pins)", asked) == calls
