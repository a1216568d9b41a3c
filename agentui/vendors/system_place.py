"""System texts amid a conversation, for dialects and models that have one place for them, at the front.

What stands behind the first spoken message stands there for a reason: a note at a depth of the chat, an instruction behind the
history. Moved to the front it is read first instead of last and changes the whole prompt, which no cache has then. So it keeps
its place as the user's message, in a mark that tells it from what the user says (SillyTavern writes such texts as the
user's, too).

    system A, user, system B, assistant  ->  system A, user, user "<system>\nB\n</system>", assistant
"""

from collections.abc import Sequence

from agentui.chat.capabilities import SystemPlace
from agentui.chat.messages import Message, Text, text_message
from agentui.vendors.speakers import named


def marked(text: str) -> str:
    """A system text as it stands in a user's message."""
    return f"<system>\n{text}\n</system>"


def placed(messages: Sequence[Message], place: SystemPlace, dropped: list[str], *, joins: bool = False) -> Sequence[Message]:
    """The messages with every system text where the model takes it; what was lost is named. Messages that stay are the same
    objects, and so is the whole where nothing moves. ``joins`` makes one message of those at the front, for dialects that have
    a message for each."""
    if place == "anywhere":
        return messages
    begun = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
    front, spoken = messages[:begun], messages[begun:]
    later = place in ("marked", "top") and any(message.role == "system" for message in spoken)
    if place == "top" and later:
        front = [*front, *(message for message in spoken if message.role == "system")]
        spoken = [message for message in spoken if message.role != "system"]
        dropped.append("messages.system_position")
    elif later:
        spoken = [one for message in spoken for one in _as_user(message, dropped)]
    if joins and len(front) > 1:
        return [_joined(front), *spoken]
    return [*front, *spoken] if later else messages


def _as_user(message: Message, dropped: list[str]) -> Sequence[Message]:
    """A message behind the first spoken one: a system text as the user's, nothing for one without words."""
    if message.role != "system":
        return (message,)
    if any(not isinstance(part, Text) for part in message.parts):
        dropped.append("messages.system_parts")
    if not message.text.strip():
        return ()
    dropped.append("messages.system_role")
    return (text_message("user", marked(message.text)),)


def _joined(front: Sequence[Message]) -> Message:
    """System texts as one, with an empty line between them: strict chat templates take a single system message, at the
    beginning (Qwen: "System message must be at the beginning"). Who speaks in an example stands before the words, for the one
    message has no name."""
    return text_message("system", "\n\n".join(text for message in named(front) if (text := message.text)))
