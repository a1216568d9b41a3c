"""A chat on a server whose memories are written, before an upstream that a test scripts."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.api.chats.conftest import Reader
from tests.memories.scribe import Scribe

Json = Any


@dataclass
class Chat:
    """A session, who speaks in it, and who looks into its memories."""

    reader: Reader
    scribe: Scribe
    session: str

    async def respond(self, message: str, branch: str = "main", **fields: Json) -> Json:
        """A turn; what its caller is told."""
        body = {"message": message, "branch_id": branch, **fields}
        return await self.asked("POST", f"/sessions/{self.session}/respond", body)

    async def asked(self, method: str, path: str, body: Json = None) -> Json:
        """The data of an answer that is no error."""
        answer = await self.reader.call(method, path, body, {})
        assert answer.status in (200, 201), answer.text
        return answer.body["data"]

    async def items(self, query: str = "", branch: str = "main") -> list[Json]:
        """The items that are seen from the head of a branch, the oldest first."""
        place = f"session_id={self.session}&branch_id={branch}&visible=true&limit=200&sort_order=asc"
        found: list[Json] = await self.asked("GET", f"/memories?{place}&{query}")
        return found

    async def facts(self, branch: str = "main") -> list[str]:
        """What is known as facts."""
        return sorted(item["content"] for item in await self.items("type=fact", branch))

    async def every(self) -> list[Json]:
        """All items, seen or not."""
        found: list[Json] = await self.asked("GET", "/memories?limit=200&sort_order=asc")
        return found

    async def jobs(self, query: str = "") -> list[Json]:
        """The jobs, the oldest first."""
        found: list[Json] = await self.asked("GET", f"/memory/jobs?sort_order=asc&limit=100&{query}")
        return found

    async def ended(self, *statuses: str) -> list[Json]:
        """The jobs, once their statuses are these, the oldest first."""
        return await self.until(lambda jobs: [job["status"] for job in jobs] == list(statuses))

    async def until(self, holds: Callable[[list[Json]], bool]) -> list[Json]:
        """The jobs, once they are so."""
        async with asyncio.timeout(60):
            while not holds(jobs := await self.jobs()):  # noqa: ASYNC110  # the server tells nobody
                await asyncio.sleep(0.02)
        return jobs

    async def page(self, floor: str, kind: str = "output", *, active: bool = True) -> Json:
        """A page of a floor."""
        pages = await self.asked("GET", f"/pages?floor_id={floor}&page_kind={kind}&is_active={str(active).lower()}")
        return pages[0]


def escaped(id: str) -> str:
    """An id as a part of a path."""
    return quote(id, safe="")
