"""Files that come in. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Options, Repeatable, WithFile
from agentui.sdk.shapes.library.common import ChatTransferJob
from agentui.sdk.shapes.library.imports import (
    AutoImport,
    AutoImported,
    CharacterImport,
    ChatImport,
    ConvertedPipeline,
    DataImport,
    ImportedAsset,
    ImportedCharacter,
    ImportedSession,
    RegexImport,
)
from agentui.sdk.transport import Resource


class ImportsCharacterCall(CharacterImport, Options, Repeatable, WithFile):
    """What ``imports.character`` may be told."""


class ImportsPresetCall(DataImport, Options, Repeatable, WithFile):
    """What ``imports.preset`` may be told."""


class ImportsWorldbookCall(DataImport, Options, Repeatable, WithFile):
    """What ``imports.worldbook`` may be told."""


class ImportsRegexCall(RegexImport, Options, Repeatable, WithFile):
    """What ``imports.regex`` may be told."""


class ImportsChatCall(ChatImport, Options, Repeatable, WithFile):
    """What ``imports.chat`` may be told."""


class ImportsCreateChatJobCall(ChatImport, Options, Repeatable, WithFile):
    """What ``imports.create_chat_job`` may be told."""


class ImportsHadtavernCall(DataImport, Options, WithFile):
    """What ``imports.hadtavern`` may be told."""


class ImportsAutoCall(AutoImport, Options, Repeatable, WithFile):
    """What ``imports.auto`` may be told."""


_CHARACTER = Endpoint[ImportedCharacter]("POST", "/import/character", body="json")
_PRESET = Endpoint[ImportedAsset]("POST", "/import/preset", body="json")
_WORLDBOOK = Endpoint[ImportedAsset]("POST", "/import/worldbook", body="json")
_REGEX = Endpoint[ImportedAsset]("POST", "/import/regex", body="json")
_CHAT = Endpoint[ImportedSession]("POST", "/import/chat", body="json")
_CREATE_CHAT_JOB = Endpoint[ChatTransferJob]("POST", "/import/chat/jobs", body="json")
_HADTAVERN = Endpoint[ConvertedPipeline]("POST", "/import/hadtavern", body="json")
_AUTO = Endpoint[AutoImported]("POST", "/import/auto", body="json")


class ImportsResource(Resource):
    """Files that come in."""

    def character(self, **given: Unpack[ImportsCharacterCall]) -> ImportedCharacter:
        """Import a character card: JSON of V1, V2 or V3, a PNG picture or a CharX file; and begin a session with it.
        ``POST /import/character``
        """
        return self._call(_CHARACTER, (), given)

    def preset(self, **given: Unpack[ImportsPresetCall]) -> ImportedAsset:
        """Import a prompt preset: SillyTavern's chat completion preset. ``POST /import/preset``"""
        return self._call(_PRESET, (), given)

    def worldbook(self, **given: Unpack[ImportsWorldbookCall]) -> ImportedAsset:
        """Import a worldbook: SillyTavern's, the lorebook of a card, NovelAI's, Agnai's or RisuAI's. ``POST
        /import/worldbook``
        """
        return self._call(_WORLDBOOK, (), given)

    def regex(self, **given: Unpack[ImportsRegexCall]) -> ImportedAsset:
        """Import regex scripts as a profile. ``POST /import/regex``"""
        return self._call(_REGEX, (), given)

    def chat(self, **given: Unpack[ImportsChatCall]) -> ImportedSession:
        """Import a chat as a session: SillyTavern's JSON lines, or the JSON that the export writes. ``POST /import/chat``"""
        return self._call(_CHAT, (), given)

    def create_chat_job(self, **given: Unpack[ImportsCreateChatJobCall]) -> ChatTransferJob:
        """Import a chat as a session in the background. ``POST /import/chat/jobs``"""
        return self._call(_CREATE_CHAT_JOB, (), given)

    def hadtavern(self, **given: Unpack[ImportsHadtavernCall]) -> ConvertedPipeline:
        """Convert a pipeline of HadTavern's, as its editor (Drawflow) or its server writes it. ``POST /import/hadtavern``"""
        return self._call(_HADTAVERN, (), given)

    def auto(self, **given: Unpack[ImportsAutoCall]) -> AutoImported:
        """Import a file of any kind: it is told from what is in it. ``POST /import/auto``"""
        return self._call(_AUTO, (), given)


class AsyncImportsResource(AsyncResource):
    """Files that come in."""

    async def character(self, **given: Unpack[ImportsCharacterCall]) -> ImportedCharacter:
        """Import a character card: JSON of V1, V2 or V3, a PNG picture or a CharX file; and begin a session with it.
        ``POST /import/character``
        """
        return await self._call(_CHARACTER, (), given)

    async def preset(self, **given: Unpack[ImportsPresetCall]) -> ImportedAsset:
        """Import a prompt preset: SillyTavern's chat completion preset. ``POST /import/preset``"""
        return await self._call(_PRESET, (), given)

    async def worldbook(self, **given: Unpack[ImportsWorldbookCall]) -> ImportedAsset:
        """Import a worldbook: SillyTavern's, the lorebook of a card, NovelAI's, Agnai's or RisuAI's. ``POST
        /import/worldbook``
        """
        return await self._call(_WORLDBOOK, (), given)

    async def regex(self, **given: Unpack[ImportsRegexCall]) -> ImportedAsset:
        """Import regex scripts as a profile. ``POST /import/regex``"""
        return await self._call(_REGEX, (), given)

    async def chat(self, **given: Unpack[ImportsChatCall]) -> ImportedSession:
        """Import a chat as a session: SillyTavern's JSON lines, or the JSON that the export writes. ``POST /import/chat``"""
        return await self._call(_CHAT, (), given)

    async def create_chat_job(self, **given: Unpack[ImportsCreateChatJobCall]) -> ChatTransferJob:
        """Import a chat as a session in the background. ``POST /import/chat/jobs``"""
        return await self._call(_CREATE_CHAT_JOB, (), given)

    async def hadtavern(self, **given: Unpack[ImportsHadtavernCall]) -> ConvertedPipeline:
        """Convert a pipeline of HadTavern's, as its editor (Drawflow) or its server writes it. ``POST /import/hadtavern``"""
        return await self._call(_HADTAVERN, (), given)

    async def auto(self, **given: Unpack[ImportsAutoCall]) -> AutoImported:
        """Import a file of any kind: it is told from what is in it. ``POST /import/auto``"""
        return await self._call(_AUTO, (), given)
