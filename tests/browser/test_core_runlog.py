"""Runs as the editor reduces them: real ones of the demo, and events as they come when something went wrong."""

import asyncio
from typing import Any

import aiohttp
import pytest

from agentui.demo import DemoServer
from agentui.jsonio import Json
from tests.browser.core import Evaluate
from tests.conftest import StartServer

pytestmark = pytest.mark.browser

TWO_CALLS: Json = {
    "format": 1,
    "name": "Two",
    "nodes": [
        {"id": "v", "type": "SetVars", "config": {"variables": [{"name": "A", "value": "x"}]}},
        {"id": "n1", "type": "ProviderCall", "config": {"provider": "openai", "base_url": "demo"}},
        {"id": "off", "type": "ProviderCall", "enabled": False, "config": {}},
        {
            "id": "bad",
            "type": "ProviderCall",
            "on_error": "continue",
            "config": {"provider": "openai", "base_url": "http://127.0.0.1:9"},
        },
        {"id": "n2", "type": "ProviderCall", "config": {"provider": "openai", "base_url": "demo"}},
    ],
    "edges": [{"from": a, "to": b} for a, b in (("v", "n1"), ("n1", "off"), ("off", "bad"), ("bad", "n2"))],
}


async def real_run(start_server: StartServer, demo: DemoServer) -> dict[str, Any]:
    """A run with a failure that was continued, a skipped node and a stream, as GET /api/runs/{id} tells it."""
    server = await start_server({"default": TWO_CALLS}, named_origins={"demo": demo.origin})
    question = {"model": "demo-small", "stream": True, "messages": [{"role": "user", "content": "Hello!"}]}
    async with aiohttp.ClientSession(server.origin) as client:
        async with client.post("/v1/chat/completions", json=question) as reply:
            await reply.read()
            run = reply.headers["x-agentui-run"]
        async with asyncio.timeout(60):
            while True:
                async with client.get(f"/api/runs/{run}") as reply:
                    told: dict[str, Any] = await reply.json()
                if told["state"] != "running":
                    return told
                await asyncio.sleep(0.02)


async def test_a_real_run_is_reduced_to_what_happened(core: Evaluate, start_server: StartServer, demo: DemoServer) -> None:
    told = await real_run(start_server, demo)
    result = await core(
        """
        const events = arg.events;
        const whole = runlog.reduceAll(runlog.emptyRun(arg), events);
        const oneByOne = events.reduce(runlog.reduce, runlog.emptyRun(arg));
        // Somebody who came late, and got the first events again.
        const replayed = runlog.reduceAll(events.slice(0, 9).reduce(runlog.reduce, runlog.emptyRun(arg)), events);
        return {
          same: doc.isSame(whole, oneByOne) && doc.isSame(whole, replayed), again: runlog.reduceAll(whole, events) === whole,
          states: Object.fromEntries(whole.order.map((id) => [id, whole.nodes[id].state])), text: runlog.textOf(whole.nodes.n2), out: runlog.outsOf(whole),
            missed: whole.missed, state: whole.state,
          bad: whole.nodes.bad, rows: runlog.waterfall(whole, {n2: "Answer"}), duration: whole.duration,
            skipped: whole.nodes.off.reason,
          compared: runlog.compareRuns(whole, oneByOne).nodes.map((each) => each.change),
        };""",
        told,
    )
    assert result["same"] and result["again"] and result["missed"] == 0
    assert result["state"] == "finished" and result["duration"] > 0
    assert result["states"] == {"v": "finished", "n1": "finished", "off": "skipped", "bad": "failed", "n2": "finished"}
    assert result["skipped"] == "disabled"
    assert result["bad"]["continued"] and result["bad"]["error"]["code"] and result["bad"]["out"]["error"]
    assert result["out"]["v"] == {"vars": {"A": "x"}}
    assert result["text"] == result["out"]["n2"]["response_text"] != ""
    assert set(result["compared"]) == {"same"}
    rows = {row["node"]: row for row in result["rows"]}
    assert [row["node"] for row in result["rows"]] == ["v", "n1", "bad", "n2"]
    assert rows["n2"]["label"] == "Answer" and rows["n1"]["label"] == "n1"
    assert len(rows["bad"]["attempts"]) >= 1 and rows["bad"]["stream"] is None
    for row in rows.values():
        spans = [row[name] for name in ("queue", "connect", "firstToken", "stream") if row[name] is not None]
        assert [span["from"] for span in spans[1:]] == [span["to"] for span in spans[:-1]], row
        assert all(row["start"] <= span["from"] <= span["to"] <= row["end"] + 0.001 for span in spans), row
    assert rows["n2"]["stream"]["to"] == rows["n2"]["end"]


async def test_odd_events_and_gaps_break_nothing(core: Evaluate) -> None:
    result = await core(
        """
        const at = (seq, type, node, data) => ({seq, type, at_ms: seq * 10, ...(node && {node}), ...(data !== undefined &&
          {data})});
        const link = "/api/runs/r/events/6";
        const events = [
          at(0, "run.started"), at(2, "node.chunk", "n1", {text: "a"}), at(3, "node.chunk", "n1", {text: "b"}), at(3,
            "node.chunk", "n1", {text: "b"}), at(1, "node.started", "n1"),
          at(4, "node.dreamt", "n1", {}), at(5, "nothing"), at(6, "node.chunk", "n1", {summary: '{"text": "long',
            bytes: 9000, link}), at(7, "node.chunk", "n1", null),
          at(8, "node.chunk", "__proto__", {text: "p"}), at(9, "toString", "n2", {}), null, {type: "node.started",
            node: "x"}, at(10, "node.failed", "n2"),
          at(11, "node.finished", "n3", {summary: "{", bytes: 9000, link}), at(12, "run.warning", "n1", {dropped: ["top_k",
            5]}), at(13, "run.warning", null, {message: "m"}),
          at(14, "node.skipped", "n4", {reason: "pinned"}), at(15, "node.log", "n1", {level: "info", message: "noted"}), at(20, "run.finished", null, {state: "cancelled"}),
        ];
        const run = runlog.reduceAll(runlog.emptyRun({id: "r"}), events);
        const before = runlog.reduceAll(runlog.emptyRun({id: "r"}), events.slice(0, 3));
        const frozen = Object.freeze({...before, nodes: Object.freeze({...before.nodes})});
        runlog.reduce(frozen, events[7]);
        return {text: runlog.textOf(run.nodes.n1), early: runlog.textOf(before.nodes.n1), links: run.nodes.n1.links,
          states: run.order.map((id) => [id, run.nodes[id].state]), missed: run.missed, warnings: run.warnings,
          proto: Object.getPrototypeOf(run.nodes) === Object.prototype, state: run.state, outs: runlog.outsOf(run),
            nobody: runlog.textOf(undefined),
          rows: runlog.waterfall(run).length, change: runlog.compareRuns(run, before).nodes.find((each) =>
            each.node === "n1").differs, only: runlog.compareRuns(before, run).nodes.find((each) =>
            each.node === "n2").change};"""
    )
    assert result == {
        "text": "ab",
        "early": "ab",
        "links": ["/api/runs/r/events/6"],
        "states": [["n1", "stopped"], ["__proto__", "stopped"], ["n2", "failed"], ["n3", "finished"], ["n4", "pinned"]],
        "missed": 5,
        "warnings": [
            {"node": "n1", "message": "", "level": "warning", "dropped": ["top_k"], "at": 120},
            {"node": None, "message": "m", "level": "warning", "dropped": [], "at": 130},
            {"node": "n1", "message": "noted", "level": "info", "dropped": [], "at": 150},
        ],
        "proto": True,
        "state": "cancelled",
        "outs": {},
        "nobody": "",
        "rows": 4,
        "change": ["state"],
        "only": "only-b",
    }


async def test_a_piece_of_text_costs_the_same_however_much_there_is(core: Evaluate) -> None:
    """Counted, not timed: a new piece holds on to the earlier ones as they are, and reading goes back to what was read last."""
    result = await core(
        """
        let run = runlog.emptyRun({id: "r"});
        let shared = true;
        for (let seq = 0; seq < 20000; seq += 1) {
          const before = run.nodes.n1?.text ?? null;
          run = runlog.reduce(run, {seq, type: "node.chunk", at_ms: seq, node: "n1", data: {text: "token "}});
          shared &&= run.nodes.n1.text.before === before;
          if (seq % 1000 === 0) runlog.textOf(run.nodes.n1);
        }
        return {shared, length: runlog.textOf(run.nodes.n1).length, counted: run.nodes.n1.text.length,
          chunks: run.nodes.n1.chunks};"""
    )
    assert result == {"shared": True, "length": 120000, "counted": 120000, "chunks": 20000}
