"""What surrounds a chat in Claude's dialect: prompts for templates, models, counts, headers, endpoints."""

from dataclasses import replace

import pytest
from anthropic.types import ModelInfo as SdkModel

from agentui.chat.messages import text_message
from agentui.chat.request import WireRequest
from agentui.errors import Unsupported, UpstreamInvalid
from agentui.vendors.base import ModelInfo, Vendor, endpoint_of
from agentui.vendors.claude import Claude

CLAUDE: Vendor = Claude()
WIRE = WireRequest("claude", "chat", "m", False, "/v1/messages", {})


def test_prompt_blocks_are_system_text_and_turns() -> None:
    prompt = CLAUDE.render_prompt(
        [
            text_message("system", "A."),
            text_message("system", "B."),
            text_message("user", "hi"),
            text_message("assistant", "yo"),
        ]
    )
    turns = [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "yo"}]},
    ]
    assert prompt.pm == {"system_text": "A.\n\nB.", "system": "A.\n\nB.", "messages": turns}
    assert prompt.members == {"system": "A.\n\nB.", "messages": turns}
    assert list(prompt.members) == ["system", "messages"]


def test_a_prompt_without_system_text_has_no_system_member() -> None:
    prompt = CLAUDE.render_prompt([text_message("user", "hi")])
    assert prompt.members.keys() == {"messages"}
    assert prompt.pm["system"] == prompt.pm["system_text"] == ""


def test_what_a_prompt_loses_is_named() -> None:
    assert CLAUDE.render_prompt([text_message("user", "hi"), text_message("system", "late")]).dropped == (
        "messages.system_position",
    )


def test_a_model_list_is_understood() -> None:
    entry = {
        "type": "model",
        "id": "claude-x",
        "display_name": "X",
        "created_at": "2026-01-02T00:00:00Z",
        "lifecycle": "active",
    }
    models = CLAUDE.models.parse_list({"data": [entry, {"id": "y", "created_at": "soon"}], "has_more": False})
    assert models[0] == ModelInfo("claude-x", "X", 1767312000, "anthropic", entry, "claude")
    assert (models[1].created, models[1].display_name) == (0, None)
    assert CLAUDE.models.render_entry(models[0]) is entry


@pytest.mark.parametrize("body", [None, [], {}, {"data": {}}, {"data": [1]}, {"data": [{}]}])
def test_what_is_no_model_list_is_refused(body: object) -> None:
    with pytest.raises(UpstreamInvalid):
        CLAUDE.models.parse_list(body)


def test_foreign_models_are_listed_as_claudes_sdk_reads_them() -> None:
    listed = CLAUDE.models.render_list([ModelInfo("gpt", created=1767312000), ModelInfo("llama", "Llama", 10**18)])
    assert (listed["first_id"], listed["last_id"], listed["has_more"]) == ("gpt", "llama", False)
    first = SdkModel.model_validate(listed["data"][0])
    assert (first.id, first.display_name, first.created_at.timestamp()) == ("gpt", "gpt", 1767312000)
    SdkModel.model_validate(listed["data"][1])
    assert CLAUDE.models.render_list([]) == {"data": [], "has_more": False, "first_id": None, "last_id": None}


def test_token_counts_go_both_ways() -> None:
    assert CLAUDE.count_tokens.parse_reply(CLAUDE.count_tokens.render_reply(12)) == 12
    for body in (None, {}, {"input_tokens": "12"}, {"input_tokens": True}):
        with pytest.raises(UpstreamInvalid):
            CLAUDE.count_tokens.parse_reply(body)


def test_endpoints_and_what_there_is_none_for() -> None:
    assert CLAUDE.chat_endpoint("m", stream=True) == "/v1/messages"
    assert CLAUDE.count_tokens.endpoint("m") == "/v1/messages/count_tokens"
    assert CLAUDE.models.endpoint() == "/v1/models?limit=1000"
    assert CLAUDE.embeddings is None
    with pytest.raises(Unsupported, match="no embeddings"):
        endpoint_of(CLAUDE, replace(WIRE, operation="embeddings"))


def test_keys_and_versions_are_headers() -> None:
    assert CLAUDE.auth_headers("sk-ant-api03-x") == {"x-api-key": "sk-ant-api03-x"}
    assert CLAUDE.auth_headers("sk-ant-oat01-x") == {"authorization": "Bearer sk-ant-oat01-x"}
    assert CLAUDE.version_headers(WIRE) == {"anthropic-version": "2023-06-01"}
    wire = CLAUDE.read_request(
        "/v1/messages", {}, {"anthropic-version": "2026-10-21", "anthropic-beta": "b"}, {"model": "m", "messages": []}
    )
    assert CLAUDE.version_headers(wire) == {"anthropic-version": "2026-10-21", "anthropic-beta": "b"}


def test_pings_keep_a_stream_alive() -> None:
    format = CLAUDE.stream_format(WIRE)
    assert format.content_type == "text/event-stream"
    assert format.heartbeat == b'event: ping\ndata: {"type": "ping"}\n\n'
