"""Files that the server sends, taken piece by piece. Nothing is asked for before the first piece is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import unquote

import httpx

from agentui.sdk.endpoints import Request
from agentui.sdk.streams import AsyncOpen, Open


class Download:
    """A file. ``name`` and ``content_type`` are known once its first piece was read."""

    def __init__(self, open: Open, request: Request) -> None:
        self._open = open
        self._request = request
        self.name: str | None = None
        self.content_type: str | None = None

    def __iter__(self) -> Iterator[bytes]:
        """The pieces, of a connection that is closed behind the last."""
        with self._open(self._request) as response:
            self.name, self.content_type = _told(response)
            yield from response.iter_bytes()

    def read(self) -> bytes:
        """All of it."""
        return b"".join(self)

    def save(self, path: Path) -> int:
        """Write it to a file; how many bytes it has. What breaks off leaves the file as it was."""
        part = path.with_name(f"{path.name}.part")
        try:
            with part.open("wb") as file:
                size = sum(file.write(piece) for piece in self)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return size


class AsyncDownload:
    """A file. ``name`` and ``content_type`` are known once its first piece was read."""

    def __init__(self, open: AsyncOpen, request: Request) -> None:
        self._open = open
        self._request = request
        self.name: str | None = None
        self.content_type: str | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The pieces, of a connection that is closed behind the last."""
        async with self._open(self._request) as response:
            self.name, self.content_type = _told(response)
            async for piece in response.aiter_bytes():
                yield piece

    async def read(self) -> bytes:
        """All of it."""
        return b"".join([piece async for piece in self])

    async def save(self, path: Path) -> int:
        """Write it to a file; how many bytes it has. What breaks off leaves the file as it was."""
        part, size = path.with_name(f"{path.name}.part"), 0
        file = await asyncio.to_thread(part.open, "wb")
        try:
            with file:
                async for piece in self:
                    size += await asyncio.to_thread(file.write, piece)
            await asyncio.to_thread(part.replace, path)
        finally:
            await asyncio.to_thread(part.unlink, missing_ok=True)
        return size


def _told(response: httpx.Response) -> tuple[str | None, str | None]:
    """The name and the type that the server gives a file."""
    disposition = response.headers.get("content-disposition", "")
    _, found, name = disposition.partition("filename*=UTF-8''")
    return unquote(name) if found else None, response.headers.get("content-type")
