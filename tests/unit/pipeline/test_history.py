"""The runs that are kept: which, for how long, and who hears of new ones."""

import asyncio
import time
from pathlib import Path

import pytest

from agentui.errors import NotFound
from agentui.jsonio import Json
from agentui.pipeline.caches.thought_cache import ThoughtCache
from agentui.pipeline.history import MAX_WAITING, RunHistory
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.node import Catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.run import Run, Services
from agentui.principal import DEFAULT_PRINCIPAL
from agentui.redaction import Redactor
from agentui.secrets.store import SecretStore
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from agentui.vendors.registry import make_vendors

SERVICES = Services(make_vendors(), Upstream(), SecretStore(Path("nowhere"), {}), ThoughtCache(), Timeouts(), 1024)


def a_run(pipeline: str = "p", *, body: bytes = b"{}", model: str | None = "m") -> Run:
    """A run that begins now."""
    document: Json = {"format": 1, "name": f"Pipeline {pipeline}", "nodes": [{"id": "n1", "type": "SetVars"}]}
    incoming = Incoming("POST", "", "/v1/chat/completions", "", {}, {}, body, None, None, model, SERVICES.vendors)
    plan = compile_plan(pipeline, document, Catalog(BUILTIN))
    return Run(DEFAULT_PRINCIPAL, plan, incoming, SERVICES, Redactor(), time.monotonic() + 10)


def ended(history: RunHistory, **fields: Json) -> Run:
    run = a_run(**fields)
    history.add(run)
    run.finish("finished")
    return run


def test_the_last_ended_runs_are_kept_newest_first() -> None:
    history = RunHistory(3, 10**9)
    runs = [ended(history) for _ in range(5)]
    assert [summary.id for summary in history.list()] == [run.id for run in runs[:1:-1]]
    with pytest.raises(NotFound):
        history.get(runs[0].id)
    assert history.get(runs[4].id) is runs[4]


def test_a_running_run_is_never_dropped() -> None:
    history = RunHistory(1, 10**9)
    running = a_run()
    history.add(running)
    for _ in range(5):
        ended(history)
    assert history.get(running.id) is running
    assert len(history.list()) == 2


def test_large_runs_push_out_older_ones_and_the_sum_is_right() -> None:
    history = RunHistory(100, 70_000)
    first = ended(history, body=b"x" * 45_000)
    ended(history, body=b"x" * 45_000)
    large = a_run()
    history.add(large)
    large.set_out(large.frame, "n1", {"text": "y" * 20_000, "list": [1, {"a": None}]})
    large.finish("finished")
    assert first.id not in [summary.id for summary in history.list()]
    assert 60_000 < history.bytes <= 70_000


def test_what_was_sent_and_heard_counts_too() -> None:
    history = RunHistory(100, 10**9)
    ended(history)
    small = history.bytes
    run = a_run()
    history.add(run)
    run.sent_bytes, run.received_bytes = 30_000, 10_000
    run.finish("finished")
    assert history.bytes == 2 * small + 30_000 + 10_000


def test_a_run_that_has_ended_holds_bytes_and_no_trees() -> None:
    history = RunHistory(100, 10**9)
    run = a_run(body=b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}')
    history.add(run)
    seen, context = run.incoming.json, run.context["incoming"]["json"]
    assert seen is context
    run.finish("finished")
    assert run.incoming.json == seen
    assert run.incoming.json is not seen
    assert run.context["incoming"]["json"] is not seen


def test_a_run_larger_than_the_whole_budget_is_not_kept() -> None:
    history = RunHistory(100, 1000)
    ended(history, body=b"x" * 2000)
    assert history.list() == []
    assert history.bytes == 0


def test_no_history_at_all_is_possible() -> None:
    history = RunHistory(0, 0)
    run = a_run()
    history.add(run)
    assert history.get(run.id) is run
    run.finish("finished")
    assert history.list() == []


def test_a_run_that_ends_twice_counts_once() -> None:
    history = RunHistory(10, 10**9)
    run = ended(history)
    size = history.bytes
    run.finish("failed")
    assert history.bytes == size
    assert history.list()[0].state == "finished"


def test_the_list_can_be_narrowed() -> None:
    history = RunHistory(10, 10**9)
    ended(history, pipeline="one", model="gpt-4")
    failed = a_run("two", model="claude")
    history.add(failed)
    failed.finish("failed", {"code": "busy", "message": "Too much at once."})
    running = a_run("two", model="gpt-5")
    history.add(running)

    def found(**wanted: Json) -> list[str | None]:
        return [summary.model for summary in history.list(**wanted)]

    assert found(pipeline="two") == ["gpt-5", "claude"]
    assert found(state="running") == ["gpt-5"]
    assert found(query="GPT") == ["gpt-5", "gpt-4"]
    assert found(query="gpt one") == ["gpt-4"]
    assert found(query="too MUCH") == ["claude"]
    assert found(query="nothing like it") == []
    assert found(limit=1) == ["gpt-5"]
    assert history.list(state="failed")[0].error == {"code": "busy", "message": "Too much at once."}


def test_since_gives_what_began_after_a_run_even_when_that_is_gone() -> None:
    history = RunHistory(2, 10**9)
    before = ended(history)
    time.sleep(0.002)
    runs = [ended(history), ended(history)]
    assert history.since(before.id) == runs
    assert history.since(runs[0].id) == [runs[1]]
    assert history.since(runs[1].id) == []


async def test_listeners_hear_of_runs_from_now_on_each_on_its_own() -> None:
    history = RunHistory(10, 10**9)
    history.add(a_run())
    async with history.subscribe() as one, history.subscribe() as two:
        runs = [a_run(), a_run()]
        for run in runs:
            history.add(run)
        history.close()
        assert [run async for run in one] == runs
        assert [run async for run in two] == runs


async def test_a_listener_waits_for_the_next_run() -> None:
    history = RunHistory(10, 10**9)
    async with history.subscribe() as feed:
        waiting = asyncio.ensure_future(anext(aiter(feed)))
        await asyncio.sleep(0)
        run = a_run()
        history.add(run)
        assert await waiting is run


async def test_a_slow_listener_misses_the_oldest_and_holds_no_memory() -> None:
    history = RunHistory(10, 10**9)
    async with history.subscribe() as feed:
        runs = [a_run() for _ in range(MAX_WAITING + 5)]
        for run in runs:
            history.add(run)
        history.close()
        assert [run async for run in feed] == runs[5:]


async def test_a_late_listener_of_a_closed_history_ends_at_once() -> None:
    history = RunHistory(10, 10**9)
    history.close()
    async with history.subscribe() as feed:
        assert [run async for run in feed] == []
