"""Files that go out. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.downloads import AsyncDownload, Download
from agentui.sdk.endpoints import Endpoint, Options, Repeatable
from agentui.sdk.shapes.library.common import ChatTransferJob
from agentui.sdk.shapes.library.exports import ChatExportForm
from agentui.sdk.transport import Resource


class ExportsCharacterCall(Options):
    """What ``exports.character`` may be told."""

    format: NotRequired[Literal["v2", "v3", "png", "charx"]]
    """v2, v3 (JSON), png or charx."""
    version_id: NotRequired[str]
    """The version of the character; else the newest."""
    embed_worldbook: NotRequired[bool]
    """Whether the worldbook that the card names (extensions.world) becomes its character_book."""


class ExportsPresetCall(Options):
    """What ``exports.preset`` may be told."""

    version_id: NotRequired[str]
    """The version; else the newest."""


class ExportsWorldbookCall(Options):
    """What ``exports.worldbook`` may be told."""

    version_id: NotRequired[str]
    """The version; else the newest."""


class ExportsRegexCall(Options):
    """What ``exports.regex`` may be told."""

    version_id: NotRequired[str]
    """The version; else the newest."""


class ExportsChatCall(Options):
    """What ``exports.chat`` may be told."""

    format: NotRequired[Literal["thchat", "st_jsonl"]]
    """thchat (JSON) or st_jsonl (SillyTavern's lines)."""
    branch_id: NotRequired[str]
    """The branch that is written alone; else all of them, and in SillyTavern's lines main."""
    include_variables: NotRequired[bool]
    """Whether the variables of the chat's own tier go out too."""


class ExportsCreateChatJobCall(ChatExportForm, Options, Repeatable):
    """What ``exports.create_chat_job`` may be told."""


_CHARACTER = Endpoint[bytes]("GET", "/export/character/{id}", query=("format", "version_id", "embed_worldbook"))
_PRESET = Endpoint[bytes]("GET", "/export/preset/{id}", query=("version_id",))
_WORLDBOOK = Endpoint[bytes]("GET", "/export/worldbook/{id}", query=("version_id",))
_REGEX = Endpoint[bytes]("GET", "/export/regex/{id}", query=("version_id",))
_CHAT = Endpoint[bytes]("GET", "/export/chat/{id}", query=("format", "branch_id", "include_variables"))
_CREATE_CHAT_JOB = Endpoint[ChatTransferJob]("POST", "/export/chat/{id}/jobs", body="json")


class ExportsResource(Resource):
    """Files that go out."""

    def character(self, character_id: str, **given: Unpack[ExportsCharacterCall]) -> Download:
        """Write a character as a card: JSON of V2 or V3, a PNG picture with both, or a CharX file. ``GET
        /export/character/{id}``
        """
        return self._download(_CHARACTER, (character_id,), given)

    def preset(self, preset_id: str, **given: Unpack[ExportsPresetCall]) -> Download:
        """Write an asset as SillyTavern's file. ``GET /export/preset/{id}``"""
        return self._download(_PRESET, (preset_id,), given)

    def worldbook(self, worldbook_id: str, **given: Unpack[ExportsWorldbookCall]) -> Download:
        """Write an asset as SillyTavern's file. ``GET /export/worldbook/{id}``"""
        return self._download(_WORLDBOOK, (worldbook_id,), given)

    def regex(self, regex_profile_id: str, **given: Unpack[ExportsRegexCall]) -> Download:
        """Write an asset as SillyTavern's file. ``GET /export/regex/{id}``"""
        return self._download(_REGEX, (regex_profile_id,), given)

    def chat(self, session_id: str, **given: Unpack[ExportsChatCall]) -> Download:
        """Write a session as a file: a thchat holds all branches unless one is named, SillyTavern's lines that one or
        main. ``GET /export/chat/{id}``
        """
        return self._download(_CHAT, (session_id,), given)

    def create_chat_job(self, session_id: str, **given: Unpack[ExportsCreateChatJobCall]) -> ChatTransferJob:
        """Write a session as a file in the background. ``POST /export/chat/{id}/jobs``"""
        return self._call(_CREATE_CHAT_JOB, (session_id,), given)


class AsyncExportsResource(AsyncResource):
    """Files that go out."""

    def character(self, character_id: str, **given: Unpack[ExportsCharacterCall]) -> AsyncDownload:
        """Write a character as a card: JSON of V2 or V3, a PNG picture with both, or a CharX file. ``GET
        /export/character/{id}``
        """
        return self._download(_CHARACTER, (character_id,), given)

    def preset(self, preset_id: str, **given: Unpack[ExportsPresetCall]) -> AsyncDownload:
        """Write an asset as SillyTavern's file. ``GET /export/preset/{id}``"""
        return self._download(_PRESET, (preset_id,), given)

    def worldbook(self, worldbook_id: str, **given: Unpack[ExportsWorldbookCall]) -> AsyncDownload:
        """Write an asset as SillyTavern's file. ``GET /export/worldbook/{id}``"""
        return self._download(_WORLDBOOK, (worldbook_id,), given)

    def regex(self, regex_profile_id: str, **given: Unpack[ExportsRegexCall]) -> AsyncDownload:
        """Write an asset as SillyTavern's file. ``GET /export/regex/{id}``"""
        return self._download(_REGEX, (regex_profile_id,), given)

    def chat(self, session_id: str, **given: Unpack[ExportsChatCall]) -> AsyncDownload:
        """Write a session as a file: a thchat holds all branches unless one is named, SillyTavern's lines that one or
        main. ``GET /export/chat/{id}``
        """
        return self._download(_CHAT, (session_id,), given)

    async def create_chat_job(self, session_id: str, **given: Unpack[ExportsCreateChatJobCall]) -> ChatTransferJob:
        """Write a session as a file in the background. ``POST /export/chat/{id}/jobs``"""
        return await self._call(_CREATE_CHAT_JOB, (session_id,), given)
