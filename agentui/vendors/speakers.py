"""Who speaks, in dialects whose messages have no name: before the words, as SillyTavern writes it for Claude and Gemini.

{"role": "user", "name": "Ann", "content": "Hello."}  ->  user "Ann: Hello."

An example dialogue of an assembled prompt is named ``example_user`` or ``example_assistant``; who speaks in it is known here.
"""

from collections.abc import Sequence
from dataclasses import replace

from agentui.chat.messages import Message, Text


def named(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages with each speaker's name before the first words, once; the same objects where nobody is named. A name
    without words stays."""
    if all(message.name is None for message in messages):
        return messages
    return [message if message.name is None else _named(message, message.speaker or message.name) for message in messages]


def _named(message: Message, speaker: str) -> Message:
    name = f"{speaker}: "
    at = next((at for at, part in enumerate(message.parts) if isinstance(part, Text) and part.text.strip()), None)
    if at is None:
        return message
    said = message.parts[at]
    assert isinstance(said, Text)
    words = said if said.text.startswith(name) else Text(name + said.text)
    return replace(message, parts=(*message.parts[:at], words, *message.parts[at + 1 :]), name=None, speaker=None)
