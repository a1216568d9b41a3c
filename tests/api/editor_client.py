"""A small client of the editor's API, as the editor's own page would be."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO

from aiohttp import ClientResponse, ClientSession
from multidict import CIMultiDict

from agentui.jsonio import Json, dumps, loads
from agentui.vendors.sse import SseDecoder
from tests.conftest import Server
from tests.upstreams.server import API_KEY

CALLER = {"authorization": f"Bearer {API_KEY}"}


@dataclass(frozen=True)
class Answer:
    """A whole answer. ``body`` is None where there is none."""

    status: int
    headers: CIMultiDict[str]
    body: Json
    text: str

    @property
    def etag(self) -> str:
        return self.headers["etag"]

    @property
    def code(self) -> str:
        """The error's code."""
        code: str = self.body["error"]["code"]
        return code


class Editor:
    """Speaks to one server."""

    def __init__(self, server: Server, session: ClientSession) -> None:
        self.server = server
        self.session = session
        self._streams: list[ClientResponse] = []

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.call("GET", path, None, headers)

    async def put(self, path: str, body: Json, **headers: str) -> Answer:
        return await self.call("PUT", path, body, headers)

    async def post(self, path: str, body: Json = None, **headers: str) -> Answer:
        return await self.call("POST", path, body, headers)

    async def delete(self, path: str, **headers: str) -> Answer:
        return await self.call("DELETE", path, None, headers)

    async def call(self, method: str, path: str, body: Json, headers: Mapping[str, str]) -> Answer:
        """Send JSON; header names are written with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        data = None
        if body is not None:
            data = BytesIO(body if isinstance(body, bytes) else dumps(body))
            sent.setdefault("content-type", "application/json")
        async with self.session.request(method, self.server.origin + path, data=data, headers=sent) as response:
            raw = await response.read()
            return Answer(response.status, response.headers.copy(), loads(raw) if raw else None, raw.decode())

    async def chat(self, model: str = "text", path: str = "/v1/chat/completions", **fields: Json) -> Answer:
        """A caller's request, which makes a run."""
        body = {"model": model, "messages": [{"role": "user", "content": "Hello!"}], **fields}
        return await self.call("POST", path, body, CALLER)

    async def start(self, model: str) -> ClientResponse:
        """A caller's streamed request, as soon as its answer begins."""
        body = {"model": model, "stream": True, "messages": [{"role": "user", "content": "Hello!"}]}
        stream = await self.session.post(f"{self.server.origin}/v1/chat/completions", json=body, headers=CALLER)
        self._streams.append(stream)
        return stream

    def hang_up(self) -> None:
        """Leave every stream that was started."""
        for stream in self._streams:
            stream.close()

    async def only_run(self) -> Json:
        """The newest run."""
        return (await self.get("/api/runs")).body[0]

    @asynccontextmanager
    async def stream(self, path: str, **headers: str) -> AsyncIterator[AsyncIterator[tuple[str, Json]]]:
        """The events of a stream as (name, data), its ids checked to be there."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.get(self.server.origin + path, headers=sent) as response:
            assert response.status == 200
            assert response.content_type == "text/event-stream"
            decoder = SseDecoder()

            async def events() -> AsyncIterator[tuple[str, Json]]:
                async for chunk in response.content.iter_any():
                    for event in decoder.feed(chunk):
                        yield event.event, loads(event.data)

            yield events()


@asynccontextmanager
async def editing(server: Server) -> AsyncIterator[Editor]:
    """An editor of a server."""
    async with ClientSession() as session:
        editor = Editor(server, session)
        try:
            yield editor
        finally:
            editor.hang_up()


def say(value: str = "hello", name: str = "word") -> dict[str, Json]:
    """A pipeline that answers with a fixed text."""
    rows = [{"name": name, "mode": "string", "value": value}]
    return {"format": 1, "name": value[:100], "nodes": [{"id": "n1", "type": "SetVars", "config": {"variables": rows}}]}


BROKEN: dict[str, Json] = {"format": 1, "name": "broken", "nodes": [{"id": "n1", "type": "Nonsense"}]}
