"""What the vendors keep and make beside chats - files, batches, pictures, sound, verdicts - as one small server.

It keeps what it is given and answers as the vendors' documents say. A request without the key, or in another form than
documented, is refused in the vendor's shape.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.upstreams.server import API_KEY

Json = Any
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND = bytes(range(256)) * 1024


@dataclass
class Account:
    """A running server. ``requests`` are method, path with query, headers and body; ``aborted`` counts uploads and answers
    whose client left in the middle; ``released`` lets answers that hold go on."""

    origin: str = ""
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    aborted: int = 0
    most_read: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, holds: Any) -> None:
        async with self.changed:
            await self.changed.wait_for(holds)

    async def note(self) -> None:
        async with self.changed:
            self.changed.notify_all()


@asynccontextmanager
async def running_account() -> AsyncIterator[Account]:
    """A server on a free port."""
    account = Account()
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", _Handler(account).handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    account.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield account
    finally:
        account.released.set()
        await runner.cleanup()


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Handler:
    def __init__(self, account: Account) -> None:
        self._account = account

    async def handle(self, request: web.Request) -> web.StreamResponse:
        account = self._account
        headers = {name.lower(): value for name, value in request.headers.items()}
        record = [request.method, request.path_qs, headers, b""]
        try:
            if request.path == "/v1/audio/translations" and request.content_length and request.content_length > 10**6:
                account.requests.append((request.method, request.path_qs, headers, b""))
                raise _Refused(413, "This file is too large.")
            form = await self._form(request) if request.content_type == "multipart/form-data" else {}
            record[3] = b"" if form else await request.read()
            account.requests.append((request.method, request.path_qs, headers, record[3]))
            await account.note()
            self._check_key(request)
            return await self._answer(request, form, record[3])
        except _Refused as refused:
            return _refusal(request, refused)
        except (asyncio.CancelledError, ConnectionError, web.RequestPayloadError):
            account.aborted += 1
            await asyncio.shield(account.note())
            raise

    async def _form(self, request: web.Request) -> dict[str, Any]:
        """The fields; files as name and bytes."""
        form: dict[str, Any] = {}
        async for part in await request.multipart():
            assert part.name is not None  # type: ignore[union-attr]  # a form's parts are no forms here
            data = bytearray()
            while piece := await part.read_chunk():  # type: ignore[union-attr]  # a form's parts are no forms here
                data += piece
                self._account.most_read = len(data)
                await self._account.note()
            form[part.name] = (part.filename, bytes(data)) if part.filename else data.decode()  # type: ignore[union-attr]  # it has a name, as was asserted
        return form

    def _check_key(self, request: web.Request) -> None:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if API_KEY not in (given, request.headers.get("x-api-key"), request.headers.get("x-goog-api-key")):
            raise _Refused(401, f"Incorrect API key provided: {given}.")

    async def _answer(self, request: web.Request, form: dict[str, Any], raw: bytes) -> web.StreamResponse:
        path, method = request.path, request.method
        body = json.loads(raw) if raw and request.content_type == "application/json" else {}
        match method, *path.strip("/").split("/"):
            case "POST", "v1", "moderations":
                verdict = {"flagged": "bad" in str(body["input"]), "categories": {}, "category_scores": {}}
                return web.json_response({"id": "modr-1", "model": body.get("model", "omni-moderation"), "results": [verdict]})
            case "POST", "v1", "images", "generations" if body.get("stream"):
                return await _events(request, "image_generation.partial_image", "image_generation.completed")
            case "POST", "v1", "images", "generations" | "edits" | "variations":
                if path.endswith(("edits", "variations")) and not isinstance(form.get("image"), tuple):
                    raise _Refused(400, "image is required.")
                return web.json_response({"created": 1, "data": [{"b64_json": PNG}] * int((form or body).get("n", 1))})
            case "POST", "v1", "audio", "speech":
                return await self._sound(request, body)
            case "POST", "v1", "audio", "transcriptions" if form.get("stream") == "true":
                return await _events(request, "transcript.text.delta", "transcript.text.done")
            case "POST", "v1", "audio", "transcriptions" | "translations":
                name, data = form["file"]
                return web.json_response({"text": f"{name}: {len(data)} bytes, {hashlib.sha256(data).hexdigest()}"})
            case "POST", "v1", "rerank":
                ranked = [{"index": place, "relevance_score": 1.0 / (1 + place)} for place in range(len(body["documents"]))]
                return web.json_response({"id": "r", "results": ranked})
            case _, "v1", "batches", *rest:
                return self._openai_batch(method, rest, body)
            case _, "v1", "messages", "batches", *rest:
                return await self._claude_batch(request, rest, body)
            case _, "v1" | "v1beta", "files", *rest:
                return self._file(request, rest, form)
            case _, "v1", "responses", id, *rest:
                return await self._response(request, id, rest)
            case _, "v1" | "v1beta", "cachedContents", *rest:
                return self._cached(method, rest, body)
        raise _Refused(404, f"Invalid URL ({method} {path})")

    async def _sound(self, request: web.Request, body: Json) -> web.StreamResponse:
        """Sound in pieces; where the voice is "slow" the second half waits until it is let go."""
        response = web.StreamResponse(headers={"Content-Type": "audio/mpeg"})
        await response.prepare(request)
        await response.write(SOUND[: len(SOUND) // 2])
        if body["voice"] == "slow":
            await self._account.released.wait()
        await response.write(SOUND[len(SOUND) // 2 :])
        await response.write_eof()
        return response

    def _openai_batch(self, method: str, rest: list[str], body: Json) -> web.Response:
        batch = {"id": "batch_1", "object": "batch", "endpoint": "/v1/chat/completions", "status": "in_progress"}
        batch |= {"input_file_id": body.get("input_file_id", "file-1"), "completion_window": "24h", "created_at": 1}
        if method == "GET" and not rest:
            return web.json_response({"object": "list", "data": [batch], "has_more": False})
        if rest[1:] == ["cancel"]:
            batch["status"] = "cancelling"
        return web.json_response(batch)

    async def _claude_batch(self, request: web.Request, rest: list[str], body: Json) -> web.StreamResponse:
        if "anthropic-version" not in request.headers:
            raise _Refused(400, "anthropic-version: header is required")
        if rest[1:] == ["results"]:
            response = web.StreamResponse(headers={"Content-Type": "application/x-jsonl"})
            await response.prepare(request)
            for number in range(3):
                result = {"type": "canceled"}
                await response.write(json.dumps({"custom_id": f"c{number}", "result": result}).encode() + b"\n")
            await response.write_eof()
            return response
        if request.method == "DELETE":
            return web.json_response({"id": rest[0], "type": "message_batch_deleted"})
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        batch = {"id": "msgbatch_1", "type": "message_batch", "processing_status": "ended", "request_counts": counts}
        times = dict.fromkeys(("created_at", "expires_at"), "2026-11-22T00:00:00Z")
        own = f"http://{request.headers['Host']}/v1/messages/batches/msgbatch_1/results"
        batch |= {**times, "ended_at": None, "archived_at": None, "cancel_initiated_at": None, "results_url": own}
        if rest[1:] == ["cancel"]:
            batch["processing_status"] = "canceling"
        if request.method == "GET" and not rest:
            page = {"has_more": False, "first_id": "msgbatch_1", "last_id": "msgbatch_1"}
            return web.json_response({"data": [batch], **page})
        return web.json_response(batch)

    def _file(self, request: web.Request, rest: list[str], form: dict[str, Any]) -> web.Response:
        files, is_gemini = self._account.files, "x-goog-api-key" in request.headers
        if request.method == "POST":
            if not isinstance(form.get("file"), tuple):
                raise _Refused(400, "file is required")
            id = f"file-{len(files)}"
            files[id] = form["file"]
            return web.json_response(_file_entry(id, *files[id], is_gemini))
        if not rest:
            data = [_file_entry(id, *file, is_gemini) for id, file in files.items()]
            return web.json_response({"files": data} if is_gemini else {"object": "list", "data": data, "has_more": False})
        if rest[0] not in files:
            raise _Refused(404, f"No such File object: {rest[0]}")
        if request.method == "DELETE":
            del files[rest[0]]
            return web.json_response(
                {} if is_gemini else {"id": rest[0], "object": "file", "deleted": True, "type": "file_deleted"}
            )
        name, data = files[rest[0]]
        if rest[1:] == ["content"]:
            kind = "text/html" if name.endswith(".html") else "application/octet-stream"
            return web.Response(body=data, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
        return web.json_response(_file_entry(rest[0], name, data, is_gemini))

    async def _response(self, request: web.Request, id: str, rest: list[str]) -> web.StreamResponse:
        if id != "resp_1":
            raise _Refused(404, f"Response with id '{id}' not found.")
        if request.method == "DELETE":
            return web.json_response({"id": id, "object": "response", "deleted": True})
        item = {"id": "msg_1", "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
        if rest == ["input_items"]:
            page = {"first_id": "msg_1", "last_id": "msg_1", "has_more": False}
            return web.json_response({"object": "list", "data": [item], **page})
        response = {"id": id, "object": "response", "created_at": 1, "model": "gpt", "output": [], "tools": []}
        response |= {"status": "cancelled" if rest else "completed", "parallel_tool_calls": True, "tool_choice": "auto"}
        if request.query.get("stream") == "true":
            return await _events(request, "response.created", "response.completed", response=response)
        return web.json_response(response)

    def _cached(self, method: str, rest: list[str], body: Json) -> web.Response:
        entry = {"name": "cachedContents/c1", "model": body.get("model", "models/m"), "displayName": "d"}
        if method == "GET" and not rest:
            return web.json_response({"cachedContents": [entry]})
        return web.json_response({} if method == "DELETE" else entry)


def _file_entry(id: str, name: str, data: bytes, is_gemini: bool) -> Json:
    if is_gemini:
        return {"name": f"files/{id}", "displayName": name, "sizeBytes": str(len(data)), "mimeType": "text/plain"}
    times = {"created_at": 1, "purpose": "assistants", "status": "processed"}
    return {"id": id, "object": "file", "type": "file", "filename": name, "bytes": len(data), "size_bytes": len(data), **times}


async def _events(request: web.Request, *kinds: str, **more: Json) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for number, kind in enumerate(kinds):
        event = {"type": kind, "sequence_number": number, "delta": "Hi", "text": "Hi", "b64_json": PNG, **more}
        await response.write(f"event: {kind}\ndata: {json.dumps(event)}\n\n".encode())
    await response.write_eof()
    return response


def _refusal(request: web.Request, refused: _Refused) -> web.Response:
    kind = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large"}.get(
        refused.status, "invalid_request_error"
    )
    error = {"type": kind, "message": str(refused), "code": None, "param": None}
    if "x-goog-api-key" in request.headers:
        error = {"code": refused.status, "message": str(refused), "status": "INVALID_ARGUMENT"}
    return web.json_response({"type": "error", "error": error}, status=refused.status)
