"""Prompt Blocks in this dialect: ``pm.contents``, ``pm.systemInstruction``, ``pm.system_text`` and ``[[PROMPT]]``."""

from collections.abc import Sequence

from agentui.chat.messages import Message
from agentui.jsonio import Json
from agentui.vendors.base import Prompt
from agentui.vendors.gemini.contents import render_own


def render_prompt(messages: Sequence[Message]) -> Prompt:
    """Blocks as Gemini's structures (seed 003 part 4). Without system text ``pm.systemInstruction`` is {} and
    ``[[PROMPT]]`` has no such member."""
    conversation = render_own(messages, "", merge=False)
    system_text = "\n\n".join(words for message in messages if message.role == "system" and (words := message.text))
    system = conversation.system if system_text and conversation.system is not None else {}
    pm: dict[str, Json] = {
        "contents": conversation.contents,
        "systemInstruction": system,
        "system_text": system_text,
    }
    members: dict[str, Json] = {"contents": conversation.contents}
    if system:
        members["systemInstruction"] = system
    return Prompt(pm, members, tuple(dict.fromkeys(conversation.dropped)))
