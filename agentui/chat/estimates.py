"""How many tokens a text or a message is about, without asking who counts them.

A token for four bytes of text, two for three CJK characters, four for each message, a thousand for each picture or file. Right
within some tens of percent.
"""

import re
from typing import Final

from agentui.chat.messages import Media, Message, Refusal, Text, Thinking, ToolCall, ToolResult

MESSAGE_OVERHEAD: Final = 4
LONGEST_TOKEN: Final = 4
"""No token of a text has more characters."""
MEDIA_TOKENS: Final = 1000
_WIDE = re.compile("[\u2e80-\U0010ffff]+")


def text_tokens(text: str) -> int:
    """About the tokens of a text; of two texts joined never more than of both apart.

    >>> text_tokens("four"), text_tokens("five!"), text_tokens("你好世界"), text_tokens("")
    (1, 2, 3, 0)
    """
    if text.isascii():
        return (len(text) + 3) // 4
    narrow = _WIDE.sub("", text)
    wide = len(text) - len(narrow)
    return (len(narrow.encode("utf-8", "surrogatepass")) + 3) // 4 + (wide * 2 + 2) // 3


def message_tokens(message: Message) -> int:
    """About the tokens of a message with all its parts."""
    parts = message.parts
    if len(parts) == 1 and type(part := parts[0]) is Text:  # as nearly all are
        return MESSAGE_OVERHEAD + text_tokens(part.text)
    total = MESSAGE_OVERHEAD + text_tokens(message.text)
    for part in parts:
        match part:
            case Media():
                total += MEDIA_TOKENS
            case ToolCall(name=name, arguments=arguments):
                total += text_tokens(name + arguments)
            case ToolResult():
                total += text_tokens(part.text) + MEDIA_TOKENS * sum(isinstance(inner, Media) for inner in part.content)
            case Thinking(text=text) | Refusal(text=text):
                total += text_tokens(text)
    return total
