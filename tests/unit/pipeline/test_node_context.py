"""Pieces of a stream become events: few while nobody watches, many while somebody does, and never a letter less."""

import asyncio

import pytest

from agentui.pipeline import node_context
from agentui.pipeline.history import RunHistory
from agentui.pipeline.node_context import MOST_GATHERED, NodeContext
from agentui.pipeline.run import Run
from tests.unit.pipeline.parts import compiled, make_run

NODE = {"id": "n1", "type": "SetVars", "config": {"variables": []}}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run in which each piece comes late enough for an event of its own, and none so late that it gets one unwatched."""
    monkeypatch.setattr(node_context, "CHUNK_EVENT_SECONDS", 0.0)
    monkeypatch.setattr(node_context, "UNWATCHED_EVENT_SECONDS", float("inf"))
    return make_run(compiled([NODE]))


def texts(run: Run) -> list[str]:
    return [event.data["text"] for event in run.events.items if event.type == "node.chunk" and isinstance(event.data, dict)]


async def test_unwatched_pieces_are_gathered_until_there_are_many_or_the_node_is_done(run: Run) -> None:
    ctx = NodeContext(run, "n1", "SetVars", None)
    for piece in ("a", "b", "c" * MOST_GATHERED, "d", "e"):
        ctx.emit_chunk(piece)
    assert texts(run) == ["ab" + "c" * MOST_GATHERED]
    ctx.close()
    assert texts(run)[1:] == ["de"]


async def test_the_first_words_can_be_seen_while_the_next_are_waited_for(run: Run) -> None:
    ctx = NodeContext(run, "n1", "SetVars", None)
    for piece in ("Once", " upon"):
        ctx.emit_chunk(piece)
    assert texts(run) == []
    await asyncio.sleep(0)
    ctx.emit_chunk(" a time")
    await asyncio.sleep(0)
    assert texts(run) == ["Once upon"]
    ctx.close()
    assert texts(run)[1:] == [" a time"]


def test_who_listens_to_all_runs_hears_each_piece_from_then_on(run: Run) -> None:
    history = RunHistory(10, 10_000)
    history.add(run)
    ctx = NodeContext(run, "n1", "SetVars", None)

    async def listen() -> None:
        ctx.emit_chunk("before")
        await asyncio.sleep(0)
        ctx.emit_chunk(" that, ")
        async with history.subscribe():
            ctx.emit_chunk("while")
            ctx.emit_chunk(" it lasts")
        ctx.emit_chunk(" and after")

    asyncio.run(listen())
    assert texts(run) == ["before", " that, while", " it lasts"]
    ctx.close()
    assert texts(run)[3:] == [" and after"]


def test_who_follows_this_run_hears_each_piece(run: Run) -> None:
    ctx = NodeContext(run, "n1", "SetVars", None)

    async def follow() -> None:
        heard = []

        async def read() -> None:
            async for _, event in run.events.read():
                heard.append(event.type)

        reading = asyncio.create_task(read())
        await asyncio.sleep(0)
        for piece in ("a", "b"):
            ctx.emit_chunk(piece)
            await asyncio.sleep(0)
        run.events.close()
        await reading
        assert heard == ["node.chunk", "node.chunk"]

    asyncio.run(follow())
    assert texts(run) == ["a", "b"]
