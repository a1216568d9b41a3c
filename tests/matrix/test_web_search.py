"""The search of the web that a vendor runs itself reaches the vendors that have one, and what they cite comes back."""

import pytest

from agentui.jsonio import dumps
from tests.upstreams.server import API_KEY, Step
from tests.upstreams.step import Raw

PLACE = {"type": "approximate", "city": "Oslo", "country": "NO"}
CHAT_PLACE = {"type": "approximate", "approximate": {"city": "Oslo", "country": "NO"}}
FUNCTION = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
FULL = {"allowed_domains": ["a.org"], "user_location": PLACE}
CALLERS = {
    "openai": (
        "v1/chat/completions",
        {"messages": [{"role": "user", "content": "What is new?"}]},
        {
            "search_context_size": "low",
            "user_location": {"type": "approximate", "approximate": {"city": "Oslo", "country": "NO"}},
        },
    ),
    "claude": (
        "v1/messages",
        {"max_tokens": 99, "messages": [{"role": "user", "content": "What is new?"}]},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3, **FULL},
    ),
    "openai_responses": (
        "v1/responses",
        {"input": "What is new?"},
        {"type": "web_search", "filters": {"allowed_domains": ["a.org"]}, "user_location": PLACE},
    ),
    "gemini": (
        "v1beta/models/text:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "What is new?"}]}]},
        {"google_search": {}},
    ),
}
"""Where a caller of each dialect asks, what, and its search."""
CLAUDE = {"type": "web_search_20250305", "name": "web_search"}
RESPONSES = {"type": "web_search", "filters": {"allowed_domains": ["a.org"]}, "user_location": PLACE}


async def searched(session, origin: str, caller: str, upstream: str, *more: dict, model: str = "text") -> tuple[dict, str]:
    """The answer to a request with a search, and what was dropped."""
    path, body, search = CALLERS[caller]
    path = path.replace("text", model)
    tools = {"tools": [search, *more]}
    if caller == "openai":
        tools = {"web_search_options": search, **({"tools": [*more]} if more else {})}
    body = {**body, **tools}
    if caller != "gemini":
        body["model"] = model
    headers = {"x-goog-api-key": API_KEY, "x-api-key": API_KEY, "authorization": f"Bearer {API_KEY}"}
    async with session.post(f"{origin}/p/{upstream}/{path}", json=body, headers=headers) as reply:
        assert reply.status == 200, await reply.text()
        return await reply.json(), reply.headers.get("x-agentui-dropped", "")


@pytest.mark.parametrize(
    ("caller", "upstream", "told", "dropped"),
    [
        ("claude", "openai_responses", RESPONSES, "tools.web_search_20250305.max_uses"),
        ("claude", "gemini", {"googleSearch": {}}, "allowed_domains"),
        ("claude", "openai", None, "tools.web_search_20250305"),
        ("openai_responses", "claude", {**CLAUDE, **FULL}, ""),
        ("openai_responses", "gemini", {"googleSearch": {}}, "user_location"),
        ("openai_responses", "openai", None, "tools.web_search"),
        ("openai", "claude", {**CLAUDE, "user_location": PLACE}, "tools.web_search_options.search_context_size"),
        ("openai", "openai_responses", {"type": "web_search", "user_location": PLACE, "search_context_size": "low"}, ""),
        ("openai", "gemini", {"googleSearch": {}}, "tools.web_search_options.user_location"),
        ("gemini", "claude", CLAUDE, ""),
        ("gemini", "openai_responses", {"type": "web_search"}, ""),
    ],
)
async def test_a_search_reaches_the_vendors_that_have_one(session, mock, origin, caller, upstream, told, dropped):
    _, lost = await searched(session, origin, caller, upstream)
    assert mock.last.body.get("tools") == (None if told is None else [told])
    assert dropped in lost and bool(dropped) == bool(lost)


@pytest.mark.parametrize("caller", ["claude", "openai_responses", "gemini"])
async def test_a_search_reaches_the_models_of_chat_completions_that_have_one(session, mock, origin, caller):
    _, lost = await searched(session, origin, caller, "openai", model="gpt-4o-search-preview")
    place = {} if caller == "gemini" else {"user_location": CALLERS["openai"][2]["user_location"]}
    assert mock.last.body["web_search_options"] == place and "tools" not in mock.last.body
    assert ("allowed_domains" in lost) == (caller != "gemini")


async def test_a_chat_callers_search_goes_to_its_own_vendor_as_it_came(session, mock, origin):
    _, lost = await searched(session, origin, "openai", "openai", {"type": "function", "function": FUNCTION})
    assert mock.last.body["web_search_options"] == CALLERS["openai"][2] and len(mock.last.body["tools"]) == 1 and not lost


async def test_gemini_gets_functions_rather_than_a_search(session, mock, origin):
    _, lost = await searched(session, origin, "openai_responses", "gemini", {"type": "function", **FUNCTION})
    assert [list(tool) for tool in mock.last.body["tools"]] == [["functionDeclarations"]] and "tools.web_search" in lost


async def test_a_function_of_that_name_is_the_callers(session, mock, origin):
    own = {"type": "function", **FUNCTION, "name": "web_search"}
    _, lost = await searched(session, origin, "openai_responses", "claude", own)
    assert [tool.get("type") for tool in mock.last.body["tools"]] == [None] and "tools.web_search" in lost


PAGE = {"type": "web_search_result_location", "url": "https://a.org/x", "title": "X", "cited_text": "so"}
ANSWERS = {
    "claude": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "text", 
        "stop_reason": "end_turn", "stop_sequence": None,
        "content": [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "new"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            {"type": "text", "text": "It is so.", "citations": [PAGE]},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 4},
    },
    "gemini": {
        "candidates": [{
            "content": {"role": "model", "parts": [{"text": "It is so."}]}, "finishReason": "STOP", "index": 0,
            "groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://a.org/x", "title": "X"}}]},
        }],
    },
}  # fmt: skip


@pytest.mark.parametrize(("upstream", "end"), [("claude", len("It is so.")), ("gemini", 0)])
async def test_what_was_found_is_cited_in_the_callers_form(session, mock, origin, upstream, end):
    mock.script([Step(raw=Raw(dumps(ANSWERS[upstream]), "application/json"))])
    answer, _ = await searched(session, origin, "openai_responses", upstream)
    (part,) = answer["output"][-1]["content"]
    assert part["text"] == "It is so."
    cited = {"type": "url_citation", "url": "https://a.org/x", "title": "X", "start_index": 0, "end_index": end}
    assert part["annotations"] == [cited]
