"""Prompt Blocks: texts, pictures, the caller's Conversation or a stretch of it, and what the library and a session's assets
add, in order, as one conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from agentui.assets.character import Character
from agentui.assets.lorebook import BoundBook, LorePosition
from agentui.chat.messages import Message, ToolResult, text_message
from agentui.errors import NodeFailed
from agentui.pipeline.assets import CHAT_SECTION, AssetName, missing_text
from agentui.pipeline.node import LANGUAGE, Build, TextLanguageName
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.pipeline.nodes.model.image_block import ImageBlock
from agentui.pipeline.nodes.model.library_blocks import USUAL_FIELDS, CharacterBlock, CharacterField, LorebookBlock
from agentui.templating.core.language import Reads
from agentui.templating.hadtavern.scope import Scope
from agentui.threads import LONG


class Block(BaseModel):
    """A text of one role, the Conversation (kind history: the caller's own messages with all its parts and tools), the prompt
    that a session's assets make or a section of it, what a lorebook says to the conversation, texts of a character, or a
    picture that the user shows."""

    model_config = ConfigDict(extra="allow", strict=True)

    kind: Literal["text", "history", "assembled", "lorebook", "character", "image"] = Field(
        "text",
        description="text; history: the caller's Conversation; assembled: the prompt of the session; lorebook, character: "
        "of the library; image: a picture by its address, as a data URL or base64.",
        json_schema_extra={
            "enumDescriptions": ["Text of one role", "Conversation", "Assembled prompt", "Lorebook", "Character", "Image"]
        },
    )
    role: Literal["system", "user", "assistant"] = Field("system", description="Who says a text, a lorebook, a character.")
    text: str = Field(
        "", description="The template of a text block, or of an image's address or data.", json_schema_extra={"ui": "macro"}
    )
    language: TextLanguageName = LANGUAGE
    name: str = Field("", description="The block's title in the editor.")
    enabled: bool = Field(True, description="Disabled blocks are left out.")
    order: float | None = Field(None, description="Ascending; blocks without a number keep their place in the list.")
    last: int | None = Field(None, ge=1, description="Conversation: only the last n messages.")
    system: bool = Field(True, description="Conversation: with the caller's system messages.")
    section: str = Field("", description="Assembled prompt: a section such as main or chatHistory; empty: all of it.")
    asset: str = Field("", description="Lorebook, character: its name in the library, or its id.")
    fields: list[CharacterField] = Field(
        default_factory=list, description="Character: which texts; none: description, personality and scenario."
    )
    positions: list[LorePosition] = Field(
        default_factory=list, description="Lorebook: entries of these positions; none: of all but outlets."
    )
    apart: bool = Field(False, description="Lorebook: each entry as a message of its own.")
    depth: int | None = Field(None, ge=0, le=1000, description="Lorebook: messages that are looked through; usually 2.")
    budget: int | None = Field(None, ge=1, description="Lorebook: tokens that its entries may take; usually 2048.")


@dataclass(frozen=True, slots=True)
class _TextBlock:
    role: Literal["system", "user", "assistant"]
    text: TemplateField[str]


@dataclass(frozen=True, slots=True)
class _HistoryBlock:
    last: int | None
    system: bool


@dataclass(frozen=True, slots=True)
class _AssembledBlock:
    section: str


_Compiled: TypeAlias = _TextBlock | _HistoryBlock | _AssembledBlock | LorebookBlock | CharacterBlock | ImageBlock


@dataclass(frozen=True, slots=True)
class Found:
    """What the library has for a node's blocks, by the names that they have for it."""

    characters: Mapping[str, Character] = field(default_factory=dict)
    books: Mapping[str, BoundBook] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """About how long it takes to put it into a conversation, as ``NodeContext.apart`` counts: a lorebook takes long
        whatever the conversation is."""
        return LONG + 1 if self.characters or self.books else 0


class BlockList:
    """A node's blocks, compiled. Without any enabled block the list is the whole conversation."""

    def __init__(self, blocks: Sequence[Block], build: Build) -> None:
        numbered = [(block.order if block.order is not None else number, number) for number, block in enumerate(blocks)]
        self._blocks: list[_Compiled] = []
        for _, number in sorted(numbered):
            block = blocks[number]
            text = build.text(f"blocks.{number}.text", block.text, language=block.language)
            if block.enabled:
                self._blocks.append(_compiled(block, number, text, build))
        if not self._blocks:
            self._blocks.append(_HistoryBlock(None, True))
        self.is_whole_history = self._blocks == [_HistoryBlock(None, True)]
        """True when the blocks change nothing about the caller's conversation."""
        self.has_question = any(_may_ask(block) for block in self._blocks)
        """False when nothing of what the blocks send is said by a user: not the Conversation, and no text of that role."""

    async def composed(self, ctx: NodeContext, scope: Scope) -> Sequence[Message]:
        """The conversation that the blocks describe, with what the library has for them. Raises as ``find`` and ``compose``
        do."""
        found = await self.find(ctx)
        return await ctx.apart(partial(self.compose, ctx, scope, found), found.size)

    async def find(self, ctx: NodeContext) -> Found:
        """Read what the blocks name of the library. Raises NodeFailed for what it does not have, and the store's errors."""
        assets = ctx.services.assets(ctx.run.account)
        characters: dict[str, Character] = {}
        books: dict[str, BoundBook] = {}
        for block in self._blocks:
            if isinstance(block, CharacterBlock) and block.asset not in characters:
                character = await assets.character(block.asset)
                if character is None:
                    raise NodeFailed(missing_text(AssetName("character", block.asset)), field="blocks")
                characters[block.asset] = character
            elif isinstance(block, LorebookBlock) and block.asset not in books:
                book = await assets.worldbook(block.asset)
                if book is None:
                    raise NodeFailed(missing_text(AssetName("worldbook", block.asset)), field="blocks")
                books[block.asset] = book
        return Found(characters, books)

    def compose(self, ctx: NodeContext, scope: Scope, found: Found) -> Sequence[Message]:
        """The conversation that the blocks describe. Blocks that come to nothing are left out."""
        if self.is_whole_history:
            return ctx.incoming.chat.messages
        speaker = next(iter(found.characters.values()), None)
        return tuple(message for block in self._blocks for message in _messages(block, ctx, scope, found, speaker))


def _compiled(block: Block, number: int, text: TemplateField[str], build: Build) -> _Compiled:
    """An enabled block. One that names no asset is a problem of its node."""
    match block.kind:
        case "text":
            return _TextBlock(block.role, text)
        case "history":
            return _HistoryBlock(block.last, block.system)
        case "assembled":
            build.assembles = True
            return _AssembledBlock(block.section.strip())
        case "image":
            return ImageBlock(f"blocks.{number}.text", text)
    asset = block.asset.strip()
    if not asset:
        what = "lorebook" if block.kind == "lorebook" else "character"
        missing = f"This block stands for a {what} of the library: choose one."
        build.problem("blocks.asset", missing, f"blocks.{number}.asset", facts={"reason": what})
    # Which macros a text of the library has is known only when it is read.
    build.reads.add(Reads(names={"vars"}, chat=True))
    if block.kind == "character":
        return CharacterBlock(asset, block.role, tuple(block.fields) or USUAL_FIELDS)
    return LorebookBlock(asset, block.role, tuple(block.positions), block.apart, block.depth, block.budget)


def _may_ask(block: _Compiled) -> bool:
    """Whether somebody who asks may stand in what a block sends."""
    match block:
        case _HistoryBlock():
            return True
        case _AssembledBlock():
            return block.section in ("", CHAT_SECTION)
    return block.role == "user"


def _messages(block: _Compiled, ctx: NodeContext, scope: Scope, found: Found, speaker: Character | None) -> Sequence[Message]:
    """What one block sends. ``speaker`` is whom ``{{char}}`` stands for in lorebooks, where a block tells."""
    match block:
        case _HistoryBlock():
            return _history(ctx.incoming.chat.messages, block)
        case _AssembledBlock():
            return _assembled(ctx, block.section)
        case CharacterBlock():
            return block.messages(ctx, found.characters[block.asset])
        case LorebookBlock():
            return block.messages(ctx, found.books[block.asset], speaker)
        case ImageBlock():
            return block.messages(ctx, scope)
    text = ctx.render(block.text, scope)
    return [text_message(block.role, text)] if text.strip() else []


def _assembled(ctx: NodeContext, section: str) -> Sequence[Message]:
    """The prompt of the session, or a section of it. A request that is no turn has none: of it there is the caller's
    conversation, which is told as a warning."""
    prompt = ctx.run.assembled
    if prompt is None:
        ctx.warn("The request is no turn of a session, so no prompt was assembled: the caller's conversation stands for it.")
        return ctx.incoming.chat.messages if section in ("", CHAT_SECTION) else ()
    return prompt.messages if not section else prompt.sections.get(section, ())


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
