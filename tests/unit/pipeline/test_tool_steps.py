"""How much is kept of what a model called here."""

import pytest

from agentui.chat.messages import Media, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from agentui.pipeline.caches import tool_steps
from agentui.pipeline.caches.tool_steps import ToolSteps
from agentui.principal import DEFAULT_ACCOUNT
from tests.unit.pipeline.parts import make_incoming

LONG = "x" * 100
OWN, HOSTED = ToolCall("own", "weather"), ToolCall("here", "roll")
BACK = [Message("assistant", (OWN,)), Message("tool", (ToolResult("own", (Text("sun"),)),))]


def steps(part: Part) -> list[Message]:
    """An answer with one of its parts, and the result of what it called here."""
    return [Message("assistant", (part, OWN, HOSTED)), Message("tool", (ToolResult("here", (Text("6"),)),))]


@pytest.mark.parametrize(
    "part",
    [
        Text(LONG),
        Thinking("hm", signature=LONG),
        Thinking(redacted=LONG),
        Media("image", data=LONG),
        Opaque("claude", "search", {"found": LONG}),
        ToolCall("more", "roll", LONG),
        ToolResult("more", (Media("image", data=LONG),)),
    ],
)
def test_every_part_counts(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, incoming = ToolSteps(), make_incoming()
    memory.keep(DEFAULT_ACCOUNT, incoming, ["own"], steps(part))
    assert memory.restore(DEFAULT_ACCOUNT, incoming, BACK) == (*steps(part), BACK[1])
    monkeypatch.setattr(tool_steps, "MAX_CHARS", 90)
    small = ToolSteps()
    small.keep(DEFAULT_ACCOUNT, incoming, ["own"], steps(part))
    assert small.restore(DEFAULT_ACCOUNT, incoming, BACK) == tuple(BACK)
