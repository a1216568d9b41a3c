"""Prompt Blocks in Claude's words: what templates see as ``pm`` and what ``[[PROMPT]]`` puts into a body."""

from collections.abc import Sequence

from agentui.chat.messages import Message
from agentui.jsonio import Json
from agentui.vendors.base import Prompt
from agentui.vendors.claude.turns import render_turns


def render_prompt(messages: Sequence[Message]) -> Prompt:
    """``pm.system_text``, ``pm.system`` (the same) and ``pm.messages``; the members are ``system``, only where there is
    system text, and ``messages`` (seed 003 part 4)."""
    dropped: list[str] = []
    turns = render_turns(messages, dropped)
    members: dict[str, Json] = {"system": turns.system} if turns.system else {}
    members["messages"] = turns.messages
    pm = {"system_text": turns.system, "system": turns.system, "messages": turns.messages}
    return Prompt(pm, members, tuple(dict.fromkeys(dropped)))
