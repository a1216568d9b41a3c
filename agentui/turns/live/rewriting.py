"""What regex scripts make of a text before it is kept: of what the user says, and of what the model answers."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from agentui.assets.script import ScriptPlacement
from agentui.chat.messages import Message, Text
from agentui.library.bundles import Bundle
from agentui.prompt.macros import text_member
from agentui.regexes.scripts import Channel, ScriptRun, ScriptTrace
from agentui.templating.sillytavern.run import MacroRun
from agentui.templating.sillytavern.scope import MacroScope
from agentui.threads import in_search_thread

ANY_CHAT: Final = "any"
"""Stands for the chat of a text of which nobody has said yet where it belongs."""


class Rewritten(NamedTuple):
    """A text as it is kept, and what became of each script that is for texts of its kind."""

    text: str
    trace: tuple[ScriptTrace, ...] = ()


async def rewritten(bundle: Bundle, text: str, placement: ScriptPlacement, channel: Channel, chat: str) -> Rewritten:
    """The newest text of a ``chat`` as it is kept: after the scripts that are for it, as it was where they leave nothing of it.

    Macros in scripts read names; what they would write is kept nowhere. Scripts may take long, so they run in a thread.
    """
    if not _has_scripts(bundle, placement):
        return Rewritten(text)
    writer = _Writer(bundle, channel)
    return await in_search_thread(lambda: writer.kept(text, placement), chat)


async def rewritten_messages(bundle: Bundle, messages: Sequence[Message], chat: str) -> Sequence[Message]:
    """The messages of a ``chat``'s history that a client sends as they were kept, each as the newest that it once
    was. They share the time that searches may take."""
    if not _has_scripts(bundle, "user_input") and not _has_scripts(bundle, "ai_output"):
        return messages
    writer = _Writer(bundle, "persist")
    return await in_search_thread(lambda: [writer.kept_message(message) for message in messages], chat)


def _has_scripts(bundle: Bundle, placement: ScriptPlacement) -> bool:
    return any(placement in bound.script.placements for bound in bundle.assets.scripts)


class _Writer:
    """The scripts of one session, run over texts of one channel."""

    def __init__(self, bundle: Bundle, channel: Channel) -> None:
        macros = MacroRun(MacroScope("assemble", datetime.now().astimezone(), values=_names(bundle)))
        self._run = ScriptRun(bundle.assets.scripts, channel, macros.expand)

    def kept(self, text: str, placement: ScriptPlacement) -> Rewritten:
        """A text as it is kept."""
        made = self._run.traced(text, placement, 0)
        has_words = bool(made.text.strip())
        return Rewritten(made.text.replace("\0", "\ufffd") if has_words else text, made.trace)  # PostgreSQL keeps no U+0000

    def kept_message(self, message: Message) -> Message:
        """A message of a client as it was kept; what neither the user nor the model said is as it was."""
        if message.role not in ("user", "assistant"):
            return message
        placement: ScriptPlacement = "user_input" if message.role == "user" else "ai_output"
        parts = tuple(Text(self.kept(part.text, placement).text) if isinstance(part, Text) else part for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts, raw=None, raw_vendor=None)


def _names(bundle: Bundle) -> dict[str, str]:
    """``{{char}}`` and ``{{user}}`` of a session."""
    snapshots = (bundle.bindings.get(f"{each}_snapshot") or {} for each in ("character", "user"))
    char, user = (text_member(snapshot, "nickname", "name") for snapshot in snapshots)
    if bundle.assets.character is not None:
        char = bundle.assets.character.spoken_name
    return {"char": char or "Assistant", "user": user or "User"}
