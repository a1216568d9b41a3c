"""Live turns: say something over HTTP, hear the committed answer, as a whole and as events."""

import asyncio
import sys
from collections.abc import Coroutine
from itertools import product
from typing import Any, cast

import pytest

from agentui.api.keys import LIVE
from agentui.chats.parts import Content
from agentui.errors import AgentUIError
from agentui.pipeline.run import Run
from agentui.principal import DEFAULT_ACCOUNT, DEFAULT_PRINCIPAL
from agentui.turns.live.progress import Progress
from agentui.turns.live.request import LiveRequest
from agentui.turns.request import Reach, TurnRequest
from agentui.upstream import breaker
from tests.faults.conftest import until
from tests.turns.conftest import StartHouse
from tests.turns.house import House, Json, chain, sets, target, text
from tests.turns.talk import begin_talk, events_of, named
from tests.upstreams.server import API_KEY
from tests.upstreams.step import Step, Tokens

PHASES = [
    ("semantic_resolved", "preparing", 2),
    ("prechecked", "preparing", 3),
    ("prompt_assembled", "preparing", 4),
    ("page_generating", "generating", 5),
    ("page_generating", "generating", 6),
    ("page_generating", "generating", 7),
    ("candidate_generated", "verifying", 8),
    ("candidate_generated", "verifying", 9),
    ("verifier_checked", "verifying", 10),
    ("transaction_prepared", "committing", 11),
]


async def test_a_reply_is_committed_and_readable(house: House) -> None:
    talk = await begin_talk(house)
    house.mock.script(Step(text="It is sunny.", tokens=Tokens(12, 34)))
    data = await talk.respond("How is it?")
    assert data == {
        "floor_id": data["floor_id"],
        "floor_no": 0,
        "branch_id": "main",
        "generated_text": "It is sunny.",
        "summaries": [],
        "total_usage": {"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46},
        "final_state": "committed",
    }
    assert await talk.timeline() == [("user", "How is it?"), ("assistant", "It is sunny.")]
    assert (await house.memory.run(data["floor_id"]))["run"]["status"] == "completed"
    result = await house.memory.get(f"/floors/{data['floor_id']}/result")
    assert (result["generated_text"], result["usage"]) == ("It is sunny.", data["total_usage"])


async def test_a_model_hears_the_system_the_history_and_the_message(house: House) -> None:
    talk = await begin_talk(house)
    house.mock.script([Step(text="One."), Step(text="Two.")])
    await talk.respond("First {{user}}")
    await talk.respond("Second")
    sent = house.mock.last.body["messages"]
    assert [(message["role"], message["content"]) for message in sent] == [
        ("system", "You are a helpful assistant."),
        ("user", "First {{user}}"),
        ("assistant", "One."),
        ("user", "Second"),
    ]


async def test_events_come_in_their_order(house: House) -> None:
    talk = await begin_talk(house)
    house.mock.script(Step(text="The firelight wavers."))
    events = await talk.stream("Go on")
    names = [name for name, _ in events]
    chunks = names.count("chunk")
    assert chunks == 3
    # All words so far are told with the first ones, and whenever there are twice as many.
    assert names == ["start", *["run"] * 5, "run", "chunk", "run", "chunk", "chunk", *["run"] * 5, "done"]
    runs = named(events, "run")
    streaming = [run for run in runs if (run["pending_output"] or {}).get("state") == "streaming"]
    heard = named(events, "chunk")
    words = "".join(chunk["chunk"] for chunk in heard[:2])
    assert [run["pending_output"]["text"] for run in streaming] == [heard[0]["chunk"], words]
    assert {(run["phase"], run["phase_seq"]) for run in streaming} == {("page_generating", 6)}
    runs = [run for run in runs if run not in streaming]
    assert [(run["phase"], run["public_phase"], run["phase_seq"]) for run in runs] == PHASES
    start, done = events[0][1], events[-1][1]
    assert start == {name: done[name] for name in ("floor_id", "floor_no", "branch_id")}
    assert "".join(chunk["chunk"] for chunk in named(events, "chunk")) == done["generated_text"] == "The firelight wavers."
    states = [run["pending_output"] and (run["pending_output"]["state"], run["pending_output"]["text"]) for run in runs]
    assert states == [None] * 4 + [("draft", "")] + [("generated", "The firelight wavers.")] * 5
    assert [run["verifier"] for run in runs] == [None] * 7 + [{"status": "skipped", "suggestion": None, "issues": []}] * 3
    fields = ("floor_id", "run_id", "run_type", "status", "attempt_no", "completed_at", "error")
    told = {tuple(run[name] for name in fields) for run in runs}
    assert told == {(start["floor_id"], runs[0]["run_id"], "respond", "running", 1, None, None)}
    assert (await house.memory.run(start["floor_id"]))["run"]["run_id"] == runs[0]["run_id"]


async def test_a_run_is_seen_while_it_happens(house: House) -> None:
    talk = await begin_talk(house)
    house.mock.script(Step(text="one two three four", hold=3))
    async with talk.streaming(f"/sessions/{talk.session}/respond/stream", {"message": "Go"}) as answer:
        events = events_of(answer)
        heard = floor = ""
        async for name, data in events:
            if name == "start":
                floor = data["floor_id"]
            if name == "chunk":
                heard += data["chunk"]
                break
        run = await house.memory.run(floor)
        assert run["state"] == "generating"
        run = run["run"]
        assert (run["status"], run["phase"], run["pending_output"]["state"]) == ("running", "page_generating", "streaming")
        assert run["pending_output"]["text"].startswith(heard)
        active = (await house.memory.get(f"/sessions/{talk.session}/active-run"))["active_run"]
        assert (active["active_run_id"], active["public_phase"]) == (run["run_id"], "generating")
        house.mock.release()
        assert [name async for name, _ in events][-1] == "done"
    assert (await house.memory.get(f"/sessions/{talk.session}/active-run"))["active_run"] is None


PIPELINES = ("plain", "raw", "claude", "gemini", "openai_responses", "words", "two")


@pytest.mark.parametrize(
    ("engine", "pipeline"),
    [*(("sqlite", pipeline) for pipeline in PIPELINES), ("postgresql", "plain"), ("postgresql", "words")],
    indirect=["engine"],
)
async def test_every_pipeline_serves_a_turn(start_house: StartHouse, pipeline: str) -> None:
    house = await start_house()
    house.server.put(
        "words", chain(sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}")), sets(text("It rains."), id="s"))
    )
    draft = {**target("openai", house.mock.origin), "id": "draft"}
    house.server.put("two", chain(draft, target("claude", house.mock.origin)))
    talk = await begin_talk(house)
    house.mock.play(lambda _: Step(text="It rains."))
    path = f"/p/{pipeline}/sessions/{talk.session}/respond"
    events = await talk.events(f"{path}/stream", {"message": "How is it?"})
    assert "".join(chunk["chunk"] for chunk in named(events, "chunk")) == "It rains."
    status, answer = await talk.post(path, {"message": "And now?"})
    assert (status, answer["data"]["generated_text"]) == (200, "It rains."), answer
    assert await talk.timeline() == [
        ("user", "How is it?"),
        ("assistant", "It rains."),
        ("user", "And now?"),
        ("assistant", "It rains."),
    ]


async def test_what_is_sent_in_the_upstreams_own_names(house: House) -> None:
    bias = {"logit_bias": {"50256": -100}, "banned_strings": ["shiver"]}
    talk = await begin_talk(house, model_params={"temperature": 0.1, "top_p": 0.5, **bias})
    params = {"temperature": "0.9", "max_output_tokens": 77, "stop_sequences": ["END"], "presence_penalty": -2, "seed": 42}
    await talk.respond("Hi", generation_params=params)
    sent = house.mock.last.body
    assert (sent["temperature"], sent["top_p"], sent["stop"], sent["presence_penalty"]) == (0.9, 0.5, ["END"], -2)
    assert sent["seed"] == 42
    assert (sent["logit_bias"], sent["banned_strings"]) == ({"50256": -100}, ["shiver"])
    assert 77 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))
    house.server.put("claude-chat", chain(target("claude", house.mock.origin)))
    status, _ = await talk.post(
        f"/p/claude-chat/sessions/{talk.session}/respond", {"message": "Hi", "generation_params": params}
    )
    assert status == 200
    assert (house.mock.last.body["max_tokens"], house.mock.last.body["stop_sequences"]) == (77, ["END"])


ODD_PARAMETERS: list[Json] = [
    {"temperature": 2.1},
    {"temperature": -0.1},
    {"top_p": 1.1},
    {"top_k": 0},
    {"max_output_tokens": 0},
    {"frequency_penalty": 2.5},
    {"logit_bias": {"the": 1}},
    {"logit_bias": {"7": 101}},
    {"banned_strings": [""]},
    {"seed": -1},
    {"seed": 2**31},
    {"stop_sequences": "END"},
    {"reasoning_effort": "extreme"},
    {"temperature": "hot"},
]


async def test_parameters_out_of_range_are_refused(house: House) -> None:
    talk = await begin_talk(house)
    for params, path in product(ODD_PARAMETERS, ("respond", "respond/stream")):
        status, answer = await talk.post(f"/sessions/{talk.session}/{path}", {"message": "Hi", "generation_params": params})
        assert (status, answer["error"]["code"]) == (400, "validation_error"), params
        assert answer["error"]["details"][0]["path"].startswith(f"/generation_params/{next(iter(params))}"), params
    assert await house.memory.floors(talk.session) == []


async def test_a_turn_that_cannot_begin_says_why(house: House) -> None:
    talk = await begin_talk(house)
    path = f"/sessions/{talk.session}/respond"
    assert await talk.refused("/sessions/nobody/respond", {"message": "Hi"}) == (404, "session_not_found")
    assert await talk.refused("/sessions/nobody/respond/stream", {"message": "Hi"}) == (404, "session_not_found")
    assert await talk.refused(path, {"message": ""}) == (400, "validation_error")
    assert await talk.refused(path, {"message": "a\0b"}) == (400, "validation_error")
    assert await talk.refused(f"{path}/stream", {"message": 7, "branch_id": ""}) == (400, "validation_error")
    assert await talk.refused(f"/p/nothing{path}", {"message": "Hi"}) == (404, "not_found")
    assert await talk.refused(f"/p/nothing{path}/stream", {"message": "Hi"}) == (404, "not_found")
    other = await begin_talk(house, model_name=None)
    status, code = await other.refused(f"/sessions/{other.session}/respond", {"message": "Hi"})
    assert (status, code) == (400, "bad_request")
    status, _ = await house.memory.call("PATCH", f"/sessions/{talk.session}", {"status": "archived"})
    assert status == 200
    assert await talk.refused(path, {"message": "Hi"}) == (409, "session_archived")
    events = await talk.stream()
    assert [(name, data["code"]) for name, data in events] == [("error", "session_archived")]
    assert await house.memory.floors(talk.session) == []


async def test_one_branch_generates_once_at_a_time(house: House) -> None:
    talk = await begin_talk(house)
    house.mock.script([Step(text="one two three four", hold=3), Step(text="Elsewhere.")])
    path = f"/sessions/{talk.session}/respond"
    async with talk.streaming(f"{path}/stream", {"message": "Go"}) as answer:
        events = events_of(answer)
        assert (await anext(events))[0] == "start"
        await house.mock.was_asked()
        assert await talk.refused(path, {"message": "Hi"}) == (409, "generation_conflict")
        assert [(name, data["code"]) for name, data in await talk.stream()] == [("error", "generation_conflict")]
        assert (await talk.respond("Hi", branch_id="other"))["generated_text"] == "Elsewhere."
        house.mock.release()
        assert [name async for name, _ in events][-1] == "done"


async def test_a_queue_lets_turns_follow_each_other(start_house: StartHouse) -> None:
    house = await start_house(generation_queue=20)
    talk = await begin_talk(house)
    answers = await asyncio.gather(*(talk.respond(f"{number}") for number in range(5)))
    assert sorted(answer["floor_no"] for answer in answers) == [0, 1, 2, 3, 4]


FAULTS = {
    "error-400": ("upstream_error", 502),
    "error-401": ("upstream_error", 502),
    "error-422": ("upstream_error", 502),
    "error-429": ("upstream_error", 502),
    "error-500": ("upstream_error", 502),
    "error-503": ("upstream_error", 502),
    "hang": ("generation_timeout", 504),
    "hang-mid": ("generation_timeout", 504),
    "truncated-early": ("upstream_error", 502),
    "truncated-line": ("upstream_error", 502),
    "truncated-reset": ("upstream_error", 502),
    "bad-event": ("upstream_error", 502),
    "invalid-json": ("upstream_error", 502),
    "not-an-answer": ("upstream_error", 502),
    "empty-body": ("upstream_error", 502),
    "html": ("upstream_error", 502),
    "html-502": ("upstream_error", 502),
    "fail-mid": ("upstream_error", 502),
    "fail-first": ("upstream_error", 502),
}


@pytest.mark.parametrize(
    ("engine", "pipeline"),
    [("sqlite", "plain"), ("postgresql", "plain"), ("sqlite", "claude"), ("sqlite", "raw")],
    indirect=["engine"],
)
async def test_what_an_upstream_does_is_told_as_such(
    start_house: StartHouse, pipeline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two of three calls fail: how many of them fall into ten seconds is up to the machine.
    monkeypatch.setattr(breaker, "ENOUGH", sys.maxsize)
    house, hasty = await start_house(), await start_house(first_byte_timeout=0.3, idle_timeout=0.3)
    # All at once: what may pass by is tried again, after a pause. Whoever answers may take his time on a busy machine.
    asked = {model: hasty if model.startswith("hang") else house for model in FAULTS}
    await asyncio.gather(*(check_fault(there, pipeline, model) for model, there in asked.items()))
    again = await begin_talk(house)
    assert (await again.respond("Hello"))["final_state"] == "committed"


async def check_fault(house: House, pipeline: str, model: str) -> None:
    """What the upstream does as this model is told in the answer and in the stream."""
    code, status = FAULTS[model]
    talk = await begin_talk(house, model_name=model)
    path = f"/p/{pipeline}/sessions/{talk.session}/respond"
    assert await talk.refused(path, {"message": "Hi"}) == (status, code), model
    events = await talk.events(f"{path}/stream", {"message": "Hi"})
    assert (events[-1][0], events[-1][1]["code"]) == ("error", code), model
    assert named(events, "done") == []
    failed = named(events, "run")[-1]
    assert (failed["status"], failed["error"]["code"]) == ("failed", code), model


async def test_a_node_that_fails_is_no_upstream(house: House) -> None:
    house.server.put("broken", chain(sets(("run", "x", "expr", "1 // 0"), id="odd"), sets(text("never"), id="say")))
    talk = await begin_talk(house)
    path = f"/p/broken/sessions/{talk.session}/respond"
    assert await talk.refused(path, {"message": "Hi"}) == (422, "node_failed")
    events = await talk.events(f"{path}/stream", {"message": "Hi"})
    assert (events[-1][0], events[-1][1]["code"]) == ("error", "node_failed")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_caller_who_leaves_ends_the_generation(house: House, stream: bool) -> None:
    talk = await begin_talk(house)
    house.mock.script(Step(text="again ", forever=True, pause=0.002))
    path = f"/sessions/{talk.session}/respond" + ("/stream" if stream else "")

    async def ask() -> None:
        async with talk.streaming(path, {"message": "Go"}) as answer:
            await answer.read()

    asking = asyncio.ensure_future(ask())
    await house.mock.was_asked()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await house.mock.was_aborted()
    floor = (await house.memory.floors(talk.session))[0]["id"]
    await house.memory.becomes(f"/floors/{floor}/run", lambda run: run["run"]["status"] == "cancelled")
    await house.memory.becomes(f"/sessions/{talk.session}/active-run", lambda run: run["active_run"] is None)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_turn_with_a_key_goes_on_and_is_answered_once(house: House, stream: bool) -> None:
    talk = await begin_talk(house)
    house.mock.script(Step(text="one two three four", hold=3))
    path, body = f"/sessions/{talk.session}/respond" + ("/stream" if stream else ""), {"message": "Go"}
    key = {"idempotency-key": "k1"}

    async def ask() -> None:
        async with talk.streaming(path, body, **key) as answer:
            await answer.read()

    asking = asyncio.ensure_future(ask())
    await house.memory.becomes(f"/sessions/{talk.session}/active-run", lambda run: run["active_run"] is not None)
    await house.mock.was_asked()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    house.mock.release()
    await house.memory.becomes(f"/sessions/{talk.session}/timeline", lambda found: len(found["floors"]) == 1)
    async with talk.streaming(path, body, **key) as answer:
        assert (answer.status, answer.headers["idempotent-replayed"]) == (200, "true")
        if stream:
            events = [event async for event in events_of(answer)]
            assert events[-1][0] == "done"
            assert "".join(chunk["chunk"] for chunk in named(events, "chunk")) == "one two three four"
        else:
            assert (await answer.json())["data"]["generated_text"] == "one two three four"
    assert len(house.mock.requests) == 1
    assert await talk.refused(path, {"message": "Other"}, **key) == (422, "idempotency_key_reused")


async def test_somebody_stops_a_generation(house: House) -> None:
    talk = await begin_talk(house)
    assert await talk.post(f"/sessions/{talk.session}/active-run/cancel") == (
        200,
        {"data": {"session_id": talk.session, "stopped": []}},
    )
    for stream, prefix in [(stream, prefix) for prefix in ("", "/p/raw") for stream in (True, False)]:
        house.mock.script(Step(text="again ", forever=True, pause=0.002))
        path = f"{prefix}/sessions/{talk.session}/respond"
        work = talk.events(f"{path}/stream", {"message": "Go"}) if stream else talk.refused(path, {"message": "Go"})
        asking = asyncio.ensure_future(cast(Coroutine[Any, Any, Any], work))
        await until(
            lambda: any(p.pending and p.pending.text for p in house.server.state.live.active.of_session(talk.session)), 30
        )
        status, answer = await talk.post(f"/sessions/{talk.session}/active-run/cancel", {"branch_id": "main"})
        assert status == 200
        (stopped,) = answer["data"]["stopped"]
        heard = await asking
        if stream:
            assert (heard[-1][0], heard[-1][1]["code"]) == ("error", "generation_cancelled")
        else:
            assert heard == (499, "generation_cancelled")
        await house.mock.was_aborted()
        run = (await house.memory.run(stopped["floor_id"]))["run"]
        assert (run["run_id"], run["status"]) == (stopped["run_id"], "cancelled")
        page = await house.memory.get(f"/pages/{await house.memory.page(stopped['floor_id'])}")
        role, words = (await talk.timeline())[-1]
        assert (page["is_partial"], role, set(words.split())) == (True, "assistant", {"again"})
        house.mock.requests.clear()
        house.mock.aborted = 0
    assert await talk.refused("/sessions/nobody/active-run/cancel") == (404, "not_found")


async def test_a_turn_that_has_failed_is_not_stopped(house: House) -> None:
    talk = await begin_talk(house)
    house.mock.script(Step(status=401))
    live = house.server.app[LIVE]
    stops: list[object] = []

    class Listener:
        """Looks whether the turn could be stopped while it tells of its failure."""

        async def tell(self, event: str, data: Json) -> None:
            pass

        async def moved(self, progress: Progress) -> None:
            if progress.status == "failed":
                assert live.active.of_floor(progress.floor_id) is progress
                stops.append(progress.stop)

        async def save(self, done: Json) -> None:
            return None

        def follow(self, run: Run) -> None:
            pass

    turn = TurnRequest(DEFAULT_ACCOUNT, "run", talk.session, user=Content("Hi"), must_exist=True, history=lambda _: Reach(1000))
    with pytest.raises(AgentUIError) as failed:
        await live.generate(LiveRequest(DEFAULT_PRINCIPAL, turn, api_key=API_KEY), Listener())
    assert (failed.value.code, stops) == ("upstream_error", [None])
