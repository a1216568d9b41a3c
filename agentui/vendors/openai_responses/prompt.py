"""Prompt Blocks in this dialect."""

from collections.abc import Sequence

from agentui.chat.messages import Message, pair_tool_calls
from agentui.jsonio import Json
from agentui.vendors.base import Prompt
from agentui.vendors.openai.messages import render_messages
from agentui.vendors.openai_responses.content import Losses
from agentui.vendors.openai_responses.items import render_items


def render_prompt(messages: Sequence[Message]) -> Prompt:
    """System texts as ``instructions``, the conversation as ``input``.

    ``pm``: ``input`` (items), ``instructions`` and ``system_text`` (the system texts, "" for none) and ``messages`` (as in
    OpenAI chat). ``members``: ``instructions`` (only where there is one) and ``input``.
    """
    losses = Losses()
    paired = pair_tool_calls(messages)
    system_text = "\n\n".join(message.text for message in paired if message.role == "system" and message.text)
    items = render_items([message for message in paired if message.role != "system"], losses)
    pm: dict[str, Json] = {
        "input": items,
        "instructions": system_text,
        "system_text": system_text,
        "messages": render_messages(messages)[0],
    }
    members: dict[str, Json] = {"instructions": system_text} if system_text else {}
    return Prompt(pm, {**members, "input": items}, tuple(losses.names))
