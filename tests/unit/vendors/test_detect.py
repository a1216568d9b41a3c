"""A request's dialect is found by its path, else by its headers, else by its body."""

import pytest

from agentui.vendors.detect import detect_vendor

CHAT = {"messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("path", "vendor"),
    [
        ("/v1/chat/completions", "openai"),
        ("/chat/completions", "openai"),
        ("/v1/embeddings", "openai"),
        ("/v1/responses", "openai_responses"),
        ("/v1/responses/", "openai_responses"),
        ("/v1/responses/input_tokens", "openai_responses"),
        ("/v1/messages", "claude"),
        ("/v1/messages/count_tokens", "claude"),
        ("/v1/models/gemini-3-pro:generateContent", "gemini"),
        ("/v1/models/gemini-3-pro:streamGenerateContent", "gemini"),
        ("/v1beta/models/gemini-3-pro:countTokens", "gemini"),
        ("/v1alpha/models/gemini-3-pro:embedContent", "gemini"),
        ("/v1/tunedModels/mine:generateContent", "gemini"),
        ("/v1beta/models", "gemini"),
        ("/v1beta/models/gemini-3-pro", "gemini"),
    ],
)
def test_the_path_decides_whatever_the_headers_say(path, vendor):
    misleading = {"x-api-key": "k", "anthropic-version": "2023-06-01", "x-goog-api-key": "k", "authorization": "Bearer k"}
    assert detect_vendor(path, misleading, {"key": "k"}) == vendor
    assert detect_vendor(path, {}, {}) == vendor


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/some-model", "/v1/models/ft:gpt-4o:acme::id"])
@pytest.mark.parametrize(
    ("headers", "query", "vendor"),
    [
        ({"x-goog-api-key": "k"}, {}, "gemini"),
        ({}, {"key": "k"}, "gemini"),
        ({"anthropic-version": "2026-10-21", "authorization": "Bearer k"}, {}, "claude"),
        ({"x-api-key": "k"}, {}, "claude"),
        ({"authorization": "Bearer k"}, {}, "openai"),
        ({}, {}, "openai"),
    ],
)
def test_the_shared_model_list_belongs_to_the_owner_of_the_key(path, headers, query, vendor):
    assert detect_vendor(path, headers, query) == vendor


@pytest.mark.parametrize(
    ("body", "vendor"),
    [
        ({"contents": []}, "gemini"),
        ({"generateContentRequest": {"contents": []}}, "gemini"),
        ({"input": "hi"}, "openai_responses"),
        (CHAT, "openai"),
        ({**CHAT, "system": "be brief"}, "claude"),
        ({**CHAT, "anthropic_version": "bedrock-2023-05-31"}, "claude"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}]}, "claude"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]}, "openai"),
        ({"messages": None}, "openai"),
        ({"messages": ["what", {"content": ["is", "this"]}]}, "openai"),
        ({}, None),
        ([], None),
        ("text", None),
        (None, None),
    ],
)
def test_without_a_known_path_the_body_decides(body, vendor):
    assert detect_vendor("/somewhere/else", {}, {}, body) == vendor


def test_a_version_header_tells_claude_from_openai_where_the_body_does_not():
    assert detect_vendor("/somewhere", {"anthropic-version": "2023-06-01"}, {}, CHAT) == "claude"


@pytest.mark.parametrize("path", ["/v1/messagesx", "/v1/chat/completions/extra", "/v2/responses", "/v1/responsesfoo", "/", ""])
def test_a_path_that_only_resembles_a_route_decides_nothing(path):
    assert detect_vendor(path, {}, {}) is None
