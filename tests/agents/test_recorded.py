"""What the coding agents sent, sent again: every request over every vendor, and what comes back in the official shapes.

``recorded`` holds requests of the real packages (``record.py`` writes them); here nothing has to be installed.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, get_args

import aiohttp
import pytest
from anthropic.types import RawMessageStreamEvent
from google.genai.types import GenerateContentResponse
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from agentui.vendors.sse import SseDecoder
from tests.agents.programs import DIALECTS, NAMES
from tests.agents.record import recorded
from tests.conftest import Server, StartServer, call
from tests.matrix.neutral import UPSTREAMS
from tests.matrix.readers import read
from tests.upstreams.server import API_KEY, Call, Mock, Step

MODELS = {"openai": "gpt-5", "openai_responses": "gpt-5", "claude": "claude-sonnet-4-5", "gemini": "gemini-3-pro-preview"}
KEYS = {"claude": "x-api-key", "openai_responses": "authorization", "gemini": "x-goog-api-key"}
PAIRS = [(name, upstream) for name in NAMES for upstream in UPSTREAMS]
CALLS = {
    "claude-code": (Call("Read", '{"file_path": "/a"}'), Call("Bash", '{"command": "ls \\"naïve\\""}')),
    "codex": (Call("exec_command", '{"cmd": "ls"}'), Call("multi_agent_v1__close_agent", '{"target": "one"}')),
    "codex-gpt": (Call("exec", '{"input": "text(\\"naïve\\");\\n"}'), Call("clock__sleep", '{"duration_ms": 5}')),
    "gemini-cli": (Call("read_file", '{"file_path": "a"}'), Call("run_shell_command", '{"command": "ls \\"naïve\\""}')),
}
"""Two calls at once of tools that the agent declares, under the names that another vendor knows them by."""
ARRIVE = {
    "claude-code": [("Read", {"file_path": "/a"}), ("Bash", {"command": 'ls "naïve"'})],
    "codex": [("exec_command", {"cmd": "ls"}), ("multi_agent_v1.close_agent", {"target": "one"})],
    "codex-gpt": [("functions.exec", 'text("naïve");\n'), ("clock.sleep", {"duration_ms": 5})],
    "gemini-cli": [("read_file", {"file_path": "a"}), ("run_shell_command", {"command": 'ls "naïve"'})],
}
"""The calls as the agent has to get them."""
LOST = {
    "claude-code": {"context_management", "cache_control", "is_error", "thinking", "user", "messages.system_position"},
    "codex": {"store", "prompt_cache_key", "client_metadata", "detail", "messages.detail"},
    "codex-gpt": {"store", "prompt_cache_key", "client_metadata", "text.verbosity", "parallel_tool_calls"},
    # It counts a result by itself, without its call.
    "gemini-cli": {"temperature", "top_p", "top_k", "signature", "messages.orphan_tool_result"},
}
"""The only names that x-agentui-dropped may hold, beside thoughts of earlier answers."""


@pytest.fixture
async def coding(start_server: StartServer, mock: Mock) -> AsyncIterator[Server]:
    """agentui with a pipeline for each vendor."""
    pipelines = {upstream: call(upstream, mock.origin, model=model) for upstream, model in MODELS.items()}
    return await start_server(pipelines)


@pytest.mark.parametrize(("name", "upstream"), PAIRS, ids=[">".join(pair) for pair in PAIRS])
async def test_every_request_is_understood_and_answered(coding: Server, mock: Mock, name: str, upstream: str) -> None:
    told, dialect = recorded(name), DIALECTS[name]
    mock.vault.content_by_token.update(told["issued"])
    is_translated = dialect != upstream
    mock.play(lambda _: Step(text="I go on. ", thinking="What next?", calls=CALLS[name] if is_translated else ()))
    async with aiohttp.ClientSession() as session:
        for request in told["requests"]:
            is_count = "count" in request["path"]
            key = f"Bearer {API_KEY}" if KEYS[dialect] == "authorization" else API_KEY
            headers = {**request["headers"], KEYS[dialect]: key}
            url = f"{coding.origin}/p/{upstream}{request['path']}"
            async with session.post(url, json=request["body"], headers=headers) as answer:
                body = await answer.read()
                assert answer.status == 200, body
            dropped = set(filter(None, answer.headers.get("x-agentui-dropped", "").split(", ")))
            assert dropped <= {*LOST[name], "thinking", "messages.thinking"}
            if is_count:
                assert json.loads(body).get("input_tokens") or json.loads(body).get("totalTokens")
                continue
            text, calls = heard(dialect, body)
            assert text == "I go on. "
            if is_translated:
                assert calls == ARRIVE[name]
                assert_all_arrived(mock, name, request["body"])
            else:
                assert mock.last.body == {**request["body"], **({} if dialect == "gemini" else {"model": MODELS[upstream]})}


def assert_all_arrived(mock: Mock, name: str, body: Mapping[str, Any]) -> None:
    """The upstream saw every tool, call and result, and every long result whole."""
    seen = read(mock.last)
    tools, calls, results = counted(DIALECTS[name], body)
    assert len(seen.tools) == tools
    assert len(seen.parts("call")) == calls
    assert len(seen.parts("result")) == len(results)
    for longest in (text for text in results if len(text) > 5000):
        assert any(longest in part[3] or json.dumps(longest)[1:-1] in part[3] for part in seen.parts("result"))
    assert seen.stream and seen.turns[-1][0] == "user"


def counted(dialect: str, body: Mapping[str, Any]) -> tuple[int, int, list[str]]:
    """The tools and calls of a request, and the texts of its results, read without agentui."""
    match dialect:
        case "claude":
            blocks = [block for message in body["messages"] for block in message["content"] if isinstance(block, dict)]
            results = [block["content"] for block in blocks if block["type"] == "tool_result"]
            called = [block for block in blocks if block["type"] == "tool_use"]
            return len(body["tools"]), len(called), [text if isinstance(text, str) else "" for text in results]
        case "gemini":
            parts = [part for content in body["contents"] for part in content["parts"]]
            answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
            declared = [one for tool in body["tools"] for one in tool["functionDeclarations"]]
            called = [part for part in parts if "functionCall" in part]
            return len(declared), len(called), [answer.get("output", "") for answer in answers]
    items = body["input"]
    outputs = [item["output"] for item in items if item["type"].endswith("_call_output")]
    texts = [part["text"] for output in outputs if isinstance(output, list) for part in output if "text" in part]
    called = [item for item in items if item["type"].endswith("_call")]
    declared = [*body.get("tools", ()), *(tool for item in items for tool in item.get("tools", ()))]
    flat = [inner for tool in declared for inner in tool.get("tools", [tool])]
    whole = [output if isinstance(output, str) else "" for output in outputs]
    return len(flat), len(called), [*(texts or whole)[: len(outputs)], *[""] * (len(outputs) - len(texts or whole))]


def heard(dialect: str, body: bytes) -> tuple[str, list[tuple[str, Any]]]:
    """The text and the calls of a stream whose every event is what the vendor's own SDK knows."""
    events = [json.loads(event.data) for event in SseDecoder().feed(body + b"\n\n")]
    match dialect:
        case "claude":
            adapter: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
            told = [adapter.validate_python(event) for event in events if event["type"] != "ping"]
            assert told[-1].type == "message_stop"
            return _claude(events)
        case "gemini":
            parts = [part for event in events for part in _gemini(event)]
            text = "".join(part["text"] for part in parts if part.get("text") and not part.get("thought"))
            return text, [
                (part["functionCall"]["name"], part["functionCall"]["args"]) for part in parts if "functionCall" in part
            ]
    known = {get_args(event.model_fields["type"].annotation)[0]: event for event in get_args(get_args(ResponseStreamEvent)[0])}
    for event in events:
        known[event["type"]].model_validate(event)
    assert events[-1]["type"] == "response.completed"
    output = events[-1]["response"]["output"]
    text = "".join(part["text"] for item in output if item["type"] == "message" for part in item["content"])
    return text, [_called(item) for item in output if item["type"].endswith("_call")]


def _called(item: Mapping[str, Any]) -> tuple[str, Any]:
    """A call item's name, with its namespace before it, and its arguments."""
    name = f"{item['namespace']}.{item['name']}" if "namespace" in item else item["name"]
    return name, item["input"] if "input" in item else json.loads(item["arguments"])


def _claude(events: list[Any]) -> tuple[str, list[tuple[str, Any]]]:
    """Claude's blocks put together."""
    text, calls = "", []
    for event in events:
        match event:
            case {"type": "content_block_start", "content_block": {"type": "tool_use", "name": name}}:
                calls.append([name, ""])
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}}:
                text += piece
            case {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": piece}}:
                calls[-1][1] += piece
    return text, [(name, json.loads(arguments)) for name, arguments in calls]


def _gemini(event: Any) -> Iterator[Mapping[str, Any]]:
    """The parts of an event that the SDK knows."""
    GenerateContentResponse.model_validate(event)
    for candidate in event.get("candidates", ()):
        yield from candidate.get("content", {}).get("parts", ())
