"""The model's side of the benchmark: canned answers in OpenAI's and Claude's dialect, whole or paced.

``python -m tests.bench.upstream`` prints its port. Query parameters of the request's model steer it:
``bench-<kilobytes>-<chunks>-<milliseconds between chunks>``.
"""

import asyncio
import sys

import orjson
from aiohttp import web

WORD = "lorem ipsum dolor "


def _plan(model: str) -> tuple[int, int, float]:
    """Answer size in KB, number of chunks, seconds between them."""
    _, size, chunks, pause = model.split("-")
    return int(size), int(chunks), int(pause) / 1000


async def openai(request: web.Request) -> web.StreamResponse:
    """A chat completion. Its tokens are about those of the request: a server may send more to a model that counts few."""
    sent = await request.read()
    body, counted = orjson.loads(sent), len(sent) // 4
    size, chunks, pause = _plan(body["model"])
    if not body.get("stream"):
        text = WORD * max(1, size * 1024 // len(WORD))
        reply = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": counted, "completion_tokens": 10, "total_tokens": counted + 10},
        }
        return web.Response(body=orjson.dumps(reply), content_type="application/json")
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}

    def event(delta: object, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return b"data: " + orjson.dumps({**head, "choices": [choice]}) + b"\n\n"

    first = event({"role": "assistant", "content": ""})
    return await _stream(request, [first], event({"content": WORD}), chunks, pause, [event({}, "stop"), b"data: [DONE]\n\n"])


async def claude(request: web.Request) -> web.StreamResponse:
    """A message."""
    body = orjson.loads(await request.read())
    size, chunks, pause = _plan(body["model"])
    usage = {"input_tokens": 10, "output_tokens": 10}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}
    if not body.get("stream"):
        text = WORD * max(1, size * 1024 // len(WORD))
        whole = {**message, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": usage}
        return web.Response(body=orjson.dumps(whole), content_type="application/json")

    def event(name: str, **data: object) -> bytes:
        return b"event: " + name.encode() + b"\ndata: " + orjson.dumps({"type": name, **data}) + b"\n\n"

    first = [
        event("message_start", message={**message, "content": [], "stop_reason": None, "usage": usage}),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    ]
    last = [
        event("content_block_stop", index=0),
        event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 10}),
        event("message_stop"),
    ]
    chunk = event("content_block_delta", index=0, delta={"type": "text_delta", "text": WORD})
    return await _stream(request, first, chunk, chunks, pause, last)


async def _stream(
    request: web.Request, first: list[bytes], chunk: bytes, chunks: int, pause: float, last: list[bytes]
) -> web.StreamResponse:
    """Send the beginning, ``chunks`` times the same chunk at an even pace, and the end."""
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b"".join(first))
    loop = asyncio.get_running_loop()
    due = loop.time()
    for _ in range(chunks):
        due += pause
        if pause and (wait := due - loop.time()) > 0:
            await asyncio.sleep(wait)
        await response.write(chunk)
    await response.write(b"".join(last))
    await response.write_eof()
    return response


async def main() -> None:
    """Serve until killed."""
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", openai)
    app.router.add_post("/v1/messages", claude)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        import uvloop
    except ImportError:
        sys.exit(asyncio.run(main()))
    uvloop.run(main())
