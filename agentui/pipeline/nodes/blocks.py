"""Prompt Blocks: texts, and the caller's Conversation or a stretch of it, in order, as one conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agentui.chat.messages import Message, ToolResult, text_message
from agentui.pipeline.node import LANGUAGE, Build, TextLanguageName
from agentui.pipeline.nodecontext import NodeContext, TemplateField
from agentui.templating.hadtavern.scope import Scope


class Block(BaseModel):
    """A text of one role, or (kind history) the Conversation: the caller's own messages with all its parts and tools."""

    model_config = ConfigDict(extra="allow", strict=True)

    kind: Literal["text", "history"] = Field(
        "text",
        description="text, or history: the caller's Conversation.",
        json_schema_extra={"enumDescriptions": ["Text of one role", "Conversation"]},
    )
    role: Literal["system", "user", "assistant"] = Field("system", description="Who says a text block.")
    text: str = Field("", description="The template of a text block.", json_schema_extra={"ui": "macro"})
    language: TextLanguageName = LANGUAGE
    name: str = Field("", description="The block's title in the editor.")
    enabled: bool = Field(True, description="Disabled blocks are left out.")
    order: float | None = Field(None, description="Ascending; blocks without a number keep their place in the list.")
    last: int | None = Field(None, ge=1, description="Conversation: only the last n messages.")
    system: bool = Field(True, description="Conversation: with the caller's system messages.")


@dataclass(frozen=True, slots=True)
class _TextBlock:
    role: Literal["system", "user", "assistant"]
    text: TemplateField[str]


@dataclass(frozen=True, slots=True)
class _HistoryBlock:
    last: int | None
    system: bool


class BlockList:
    """A node's blocks, compiled. Without any enabled block the list is the whole conversation."""

    def __init__(self, blocks: Sequence[Block], build: Build) -> None:
        numbered = [(block.order if block.order is not None else number, number) for number, block in enumerate(blocks)]
        self._blocks: list[_TextBlock | _HistoryBlock] = []
        for _, number in sorted(numbered):
            block = blocks[number]
            text = build.text(f"blocks.{number}.text", block.text, language=block.language)
            if not block.enabled:
                continue
            if block.kind == "history":
                self._blocks.append(_HistoryBlock(block.last, block.system))
            else:
                self._blocks.append(_TextBlock(block.role, text))
        if not self._blocks:
            self._blocks.append(_HistoryBlock(None, True))
        self.is_whole_history = self._blocks == [_HistoryBlock(None, True)]
        """True when the blocks change nothing about the caller's conversation."""
        self.has_question = any(isinstance(block, _HistoryBlock) or block.role == "user" for block in self._blocks)
        """False when nothing of what the blocks send is said by a user: not the Conversation, and no text of that role."""

    def compose(self, ctx: NodeContext, scope: Scope) -> Sequence[Message]:
        """The conversation that the blocks describe. Text blocks that render to nothing are left out."""
        if self.is_whole_history:
            return ctx.incoming.chat.messages
        messages: list[Message] = []
        for block in self._blocks:
            if isinstance(block, _HistoryBlock):
                messages += _history(ctx.incoming.chat.messages, block)
                continue
            text = ctx.render(block.text, scope)
            if text.strip():
                messages.append(text_message(block.role, text))
        return tuple(messages)


def _history(messages: Sequence[Message], block: _HistoryBlock) -> Sequence[Message]:
    """The stretch that a history block stands for. ``last`` counts messages other than system ones, and never begins
    with a tool's result whose call was cut off."""
    if block.last is None and block.system:
        return messages
    chosen = [message for message in messages if message.role != "system"]
    if block.last is not None:
        chosen = chosen[-block.last :]
        is_result = (any(isinstance(part, ToolResult) for part in message.parts) for message in chosen)
        chosen = chosen[next((number for number, told in enumerate(is_result) if not told), len(chosen)) :]
    if not block.system:
        return chosen
    kept = {id(message) for message in chosen}
    return [message for message in messages if message.role == "system" or id(message) in kept]
