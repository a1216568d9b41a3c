"""Tools of this server beside a request that goes out as it came."""

from dataclasses import replace

import pytest

from agentui.chat.messages import text_message
from agentui.chat.request import ChatRequest, Tool, VendorName
from agentui.jsonio import Json
from agentui.vendors.offering import offer
from agentui.vendors.registry import make_vendors

ROLL = Tool(name="roll", schema={"type": "object", "properties": {"sides": {"type": "integer"}}})


@pytest.mark.parametrize(
    ("vendor", "body", "kept"),
    [
        ("openai", {"model": "m", "n": 3, "seed": 1, "messages": [{"role": "user", "content": "Hi"}]}, {"seed": 1}),
        (
            "gemini",
            {
                "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
                "generation_config": {"candidate_count": 3, "topK": 4},
            },
            {"generation_config": {"topK": 4}},
        ),
    ],
)
def test_tools_are_offered_for_one_answer(vendor: VendorName, body: dict[str, Json], kept: dict[str, Json]) -> None:
    speaker = make_vendors()[vendor]
    plain = speaker.render_request(ChatRequest("agentui", "m", (text_message("user", "Hi"),)))
    chat = speaker.parse_request(replace(plain, body=body))
    assert chat.params.n == 3
    asked = chat.asking((*chat.messages, text_message("assistant", "Hello")), "m", stream=False)
    sent = speaker.render_request(offer(speaker, asked, [ROLL], None)).body
    assert "n" not in sent and len(sent["tools"]) == 1
    assert {name: sent[name] for name in kept} == kept
    assert "n" in body or body["generation_config"] == {"candidate_count": 3, "topK": 4}
