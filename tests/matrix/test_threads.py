"""Anthropic's threads, which the SDK's tool runner uses: never is the last message asked alone."""

import json
from collections.abc import Sequence
from typing import Any

import anthropic
import pytest
from anthropic import beta_async_tool

from tests.conftest import call
from tests.matrix.conftest import agentui
from tests.matrix.neutral import UPSTREAMS
from tests.matrix.readers import read
from tests.upstreams.server import Call, Mock, Step

TOOL = Step(text="", calls=(Call("weather", '{"city": "Paris"}'),))
ASKED = [{"role": "user", "content": "How is the weather in Paris?"}]


@beta_async_tool
async def weather(city: str) -> str:
    """Tells the weather.

    Args:
        city: Where.
    """
    return f"Sunny in {city}"


async def run(client: anthropic.AsyncAnthropic, origin: str, **more: Any) -> str:
    """A conversation of two calls through the SDK's tool runner; its last words."""
    runner = client.with_options(base_url=origin).beta.messages.tool_runner(
        model="text", max_tokens=200, tools=[weather], messages=ASKED, **more
    )
    message = await runner.until_done()
    return "".join(block.text for block in message.content if block.type == "text")


def texts(mock: Mock) -> Sequence[str]:
    """What stands in the last request's conversation."""
    return [json.dumps(part) for _, parts in read(mock.last).turns for part in parts]


@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_the_tool_runner_gets_its_answer_over_every_upstream(mock: Mock, callers, origin, upstream, stream):
    mock.script([TOOL, TOOL, Step(text="It is sunny.")])
    if stream:
        runner = callers.anthropic.with_options(base_url=f"{origin}/p/{upstream}").beta.messages.tool_runner(
            model="text", max_tokens=200, tools=[weather], messages=ASKED, system="Be brief.", stream=True
        )
        said = ""
        async for each in runner:
            said = "".join(block.text for block in (await each.get_final_message()).content if block.type == "text")
    else:
        said = await run(callers.anthropic, f"{origin}/p/{upstream}", system="Be brief.")
    mock.forget_steps()
    assert said == "It is sunny."
    continues = [
        r for r in mock.requests if isinstance(r.body, dict) and (r.body.get("thread") or {}).get("type") == "continue"
    ]
    if upstream == "claude":
        assert continues and all("system" not in request.body for request in continues)
    else:
        assert not continues
        assert "How is the weather" in texts(mock)[0]
        assert sum("Sunny in Paris" in text for text in texts(mock)) == 2


async def test_a_pipelines_system_text_is_not_said_again_within_a_thread(mock: Mock, callers, tmp_path):
    blocks = [{"kind": "text", "role": "system", "text": "You are a pirate."}, {"kind": "history"}]
    mock.script([TOOL, Step(text="Arr.")])
    async with agentui(tmp_path / "server", mock, blocks=blocks) as origin:
        assert await run(callers.anthropic, f"{origin}/p/claude") == "Arr."
    first, second = (request.body for request in mock.requests)
    assert first["system"] == "You are a pirate."
    assert second["thread"]["type"] == "continue" and "system" not in second


async def test_a_template_that_leaves_the_thread_out_is_asked_the_whole_conversation(mock: Mock, callers, tmp_path):
    template = '{"model": "text", "max_tokens": 50, "messages": {{ pm.messages }}}'
    mock.script([Step(text="One."), Step(text="Two.")])
    async with agentui(tmp_path / "server", mock, template=template) as origin:
        client = callers.anthropic.with_options(base_url=f"{origin}/p/claude")
        thread = client.beta.messages.thread(model="text", max_tokens=50, unsupported_request_behavior="continue_unthreaded")
        await thread.send({"role": "user", "content": "First"})
        await thread.send({"role": "user", "content": "Second"})
    assert [message["content"][0]["text"] for message in mock.last.body["messages"]] == ["First", "One.", "Second"]


@pytest.mark.parametrize("upstream", UPSTREAMS)
async def test_a_thread_that_another_vendor_began_is_sent_whole(mock: Mock, callers, origin, upstream):
    client = callers.anthropic.with_options(base_url=f"{origin}/p/{upstream}")
    with pytest.raises(anthropic.APIStatusError) as caught:
        await client.beta.messages.create(
            model="text",
            max_tokens=50,
            messages=[{"role": "user", "content": "And?"}],
            betas=["message-threads-2026-08-12"],
            thread={"type": "continue", "previous_message_id": "msg_agentui_resp_1"},
        )
    assert caught.value.status_code == 400
    assert isinstance(caught.value.body, dict)
    assert caught.value.body["error"]["details"] == {"error_code": "thread_unsupported_request"}
    assert mock.requests == []


async def test_a_node_that_does_not_answer_is_not_asked_half_a_conversation(mock: Mock, callers, tmp_path):
    document = call("claude", mock.origin)
    document["nodes"].append({**document["nodes"][0], "id": "n2"})
    document["edges"] = [{"from": "n1", "to": "n2"}]
    async with agentui(tmp_path / "server", mock, pipelines={"two": document}) as origin:
        client = callers.anthropic.with_options(base_url=f"{origin}/p/two")
        with pytest.raises(anthropic.BadRequestError, match="send the whole conversation"):
            await client.beta.messages.create(
                model="text",
                max_tokens=50,
                messages=[{"role": "user", "content": "And?"}],
                betas=["message-threads-2026-08-12"],
                thread={"type": "continue", "previous_message_id": "msg_1"},
            )
