"""Prompt Blocks for templates: ``pm.messages``, ``pm.system_text`` and ``[[PROMPT]]`` (seed 003 part 4)."""

from collections.abc import Sequence

from agentui.chat.messages import Message
from agentui.vendors.base import Prompt
from agentui.vendors.openai.messages import render_messages


def render_prompt(messages: Sequence[Message]) -> Prompt:
    """``pm.messages`` holds ``{role, content, name?}``, system texts among them; ``[[PROMPT]]`` is ``"messages": [...]``."""
    wire, dropped = render_messages(messages)
    system_text = "\n\n".join(text for message in messages if message.role == "system" and (text := message.text))
    return Prompt({"messages": wire, "system_text": system_text}, {"messages": wire}, dropped)
