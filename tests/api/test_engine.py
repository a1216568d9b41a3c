"""The engine runs a pipeline for anybody: without an HTTP request, and with any memory and listener."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from agentui.chat.messages import ToolCall, text_message
from agentui.chat.request import ChatRequest, Tool
from agentui.errors import AgentUIError, NodeFailed, StoreFull
from agentui.jsonio import Json
from agentui.pipeline.engine import OpenMemory, RunRequest
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.memory import RunMemory
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.result import RunResult
from agentui.pipeline.run import Run
from agentui.pipeline.sink import NullSink
from agentui.principal import DEFAULT_PRINCIPAL
from agentui.variables.staging import Staged
from tests.conftest import Server, StartServer
from tests.faults.conftest import until
from tests.turns.house import chain, sets, target, text
from tests.upstreams.server import API_KEY, Mock

KEY_HEADERS = {
    "openai": {"authorization": f"Bearer {API_KEY}"},
    "openai_responses": {"authorization": f"Bearer {API_KEY}"},
    "claude": {"x-api-key": API_KEY},
    "gemini": {"x-goog-api-key": API_KEY},
}
WEATHER = Tool("weather", "Tells the weather.", {"type": "object", "properties": {"city": {"type": "string"}}})


class Memory:
    """A memory that writes down how it ends."""

    headers: Mapping[str, str] = {"x-agentui-session": "s"}

    def __init__(self, refuses: AgentUIError | None = None) -> None:
        self.ends: list[tuple[str, object]] = []
        self._refuses = refuses

    def staged(self) -> Staged:
        return Staged({}, writable=(), now=lambda: 0)

    async def commit(self, result: RunResult) -> None:
        self.ends.append(("commit", result.answer.text))
        if self._refuses is not None:
            raise self._refuses

    async def fail(self, error: Mapping[str, Json], *, cancelled: bool, words: str) -> None:
        self.ends.append(("cancel" if cancelled else "fail", error["code"]))


def opening(memory: Memory) -> OpenMemory:
    async def open_it(run: Run) -> RunMemory | None:
        return memory

    return open_it


class Listener(NullSink):
    """A sink that writes down how the answer ends."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: list[str] = []
        self.noted: dict[str, str] = {}

    def note_headers(self, headers: Mapping[str, str]) -> None:
        self.noted.update(headers)

    async def end(self) -> None:
        self.ends.append("end")

    async def fail(self, error: AgentUIError) -> None:
        self.ends.append(error.code)

    def abort(self) -> None:
        self.ends.append("abort")


def asked(server: Server, document: Json, *, model: str = "text", memory: Memory | None = None) -> RunRequest:
    """A chat that nobody sent over HTTP."""
    plan = compile_plan("test", document, server.state.catalog)
    chat = ChatRequest("agentui", model, (text_message("user", "Hello"),), tools=(WEATHER,))
    return RunRequest(DEFAULT_PRINCIPAL, plan, Incoming.of_chat(chat), memory=None if memory is None else opening(memory))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("provider", KEY_HEADERS)
async def test_a_model_is_asked_without_an_http_request(
    start_server: StartServer, mock: Mock, provider: str, stream: bool
) -> None:
    server = await start_server()
    document = chain(
        sets(text("{{ chat.last_user }} by {{ vendor_format }}")), target(provider, mock.origin, headers=KEY_HEADERS[provider])
    )
    result = await server.state.engine.run(asked(server, document, model="tool"), NullSink(wants_stream=stream))
    assert result.error is None and result.state == "finished"
    assert result.out["set"]["vars"]["answer"] == "Hello by unknown"
    assert result.reply is not None
    [call] = [part for part in result.reply.choices[0].parts if isinstance(part, ToolCall)]
    assert call.name == "weather"
    assert result.usage.output


async def test_an_answer_of_a_node_that_calls_no_model_is_a_reply_too(start_server: StartServer) -> None:
    server = await start_server()
    result = await server.state.engine.run(asked(server, chain(sets(text("{{ chat.last_user }}!")))), NullSink())
    assert result.answer.text == "Hello!"
    assert result.reply is not None and result.reply.text == "Hello!"


async def test_a_memory_commits_before_the_listener_hears_the_end(start_server: StartServer) -> None:
    server = await start_server()
    memory, listener = Memory(), Listener()
    await server.state.engine.run(asked(server, chain(sets(text("Done."))), memory=memory), listener)
    assert (memory.ends, listener.ends) == ([("commit", "Done.")], ["end"])


async def test_a_failure_is_told_to_memory_listener_and_asker(start_server: StartServer) -> None:
    server = await start_server()
    memory, listener = Memory(), Listener()
    document = chain(sets(("run", "answer", "json", '{{ "a"|add(1) }}')))
    result = await server.state.engine.run(asked(server, document, memory=memory), listener)
    assert result.error is not None and result.state == "failed"
    assert (memory.ends, listener.ends) == ([("fail", result.error.code)], [result.error.code])


async def test_a_memory_that_refuses_fails_the_run(start_server: StartServer) -> None:
    server = await start_server()
    memory, listener = Memory(NodeFailed("No.")), Listener()
    result = await server.state.engine.run(asked(server, chain(sets(text("Done."))), memory=memory), listener)
    assert result.state == "failed"
    assert memory.ends == [("commit", "Done."), ("fail", "node_failed")]
    assert listener.ends == ["node_failed"]


async def test_on_a_full_disk_the_answer_goes_out_marked(start_server: StartServer) -> None:
    server = await start_server()
    memory, listener = Memory(StoreFull("The disk is full.")), Listener()
    result = await server.state.engine.run(asked(server, chain(sets(text("Done."))), memory=memory), listener)
    assert result.state == "finished" and listener.ends == ["end"]
    assert listener.noted == {"x-agentui-not-saved": StoreFull.code}
    assert memory.ends == [("commit", "Done."), ("fail", StoreFull.code)]


async def test_who_is_cancelled_tells_memory_and_listener(start_server: StartServer, mock: Mock) -> None:
    server = await start_server()
    memory, listener = Memory(), Listener()
    document = chain(target("openai", mock.origin, headers=KEY_HEADERS["openai"]))
    task = asyncio.create_task(server.state.engine.run(asked(server, document, model="hang", memory=memory), listener))
    await until(lambda: bool(server.state.history.running))
    [run] = server.state.history.running
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (run.state, memory.ends, listener.ends) == ("cancelled", [("cancel", "cancelled")], ["abort"])


async def test_what_is_being_kept_is_not_stopped_any_more(start_server: StartServer) -> None:
    server = await start_server()
    committing, goes_on = asyncio.Event(), asyncio.Event()

    class Slow(Memory):
        async def commit(self, result: RunResult) -> None:
            committing.set()
            await goes_on.wait()
            await super().commit(result)

    memory, listener, begun = Slow(), Listener(), list[Run]()
    request = replace(asked(server, chain(sets(text("Kept."))), memory=memory), on_begin=begun.append)
    running = asyncio.create_task(server.state.engine.run(request, listener))
    await committing.wait()
    begun[0].stop(NodeFailed("Stopped by somebody."))
    await asyncio.sleep(0)
    goes_on.set()
    result = await running
    assert (result.state, result.error, running.cancelling()) == ("finished", None, 0)
    assert (memory.ends, listener.ends) == ([("commit", "Kept.")], ["end"])


async def test_who_is_stopped_for_a_reason_is_told_it(start_server: StartServer, mock: Mock) -> None:
    server = await start_server()
    listener = Listener()
    document = chain(target("openai", mock.origin, headers=KEY_HEADERS["openai"]))
    task = asyncio.create_task(server.state.engine.run(asked(server, document, model="hang"), listener))
    await until(lambda: bool(server.state.history.running))
    server.state.history.running[0].stop(NodeFailed("Enough."))
    result = await task
    assert (result.state, listener.ends) == ("cancelled", ["node_failed"])
    assert result.error is not None and result.error.message == "Enough."
