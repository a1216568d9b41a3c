"""Answers made anew whose turns called tools: what wants a confirmation, what is never repeated, and what nobody repeats
unasked."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from agentui.api.keys import LIVE
from agentui.errors import BadRequest
from agentui.tools.errors import OutcomeUnknown
from agentui.tools.tool import HostedTool, ToolAnswer, ToolCallContext
from tests.turns.house import House, Json
from tests.turns.talk import Talk, begin_talk, named
from tests.turns.test_live_tools import TOOLS, allow
from tests.turns.test_state import registered
from tests.upstreams.server import Recorded
from tests.upstreams.step import Call, Step

NEEDED = "tool_replay_confirmation_required"
BLOCKED = "tool_replay_blocked"
VERDICT = '{"status": "fail", "issues": ["too short"], "suggestion": "More."}'


@dataclass
class Post:
    """A tool of a server that sends letters, and the letters that it sent. ``fault`` is raised once a letter is sent, and one
    that ``hangs`` never says that it was."""

    fault: Exception | None = None
    hangs: bool = False
    sent: list[Json] = field(default_factory=list)

    async def send(self, arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        """Send a letter."""
        self.sent.append(dict(arguments))
        if self.hangs:
            await asyncio.Event().wait()
        if self.fault is not None:
            raise self.fault
        return ToolAnswer("It is sent.")


def open_post(house: House, **said: Json) -> Post:
    """Let the server have the tool ``send``, with these fields."""
    post = Post()
    tool = HostedTool("send", "Sends.", {"type": "object"}, post.send, "post", side_effect="irreversible")
    offered = replace(tool, **said)

    async def source(_account: str, _wanted: Collection[str]) -> Sequence[HostedTool]:
        return (offered,)

    house.server.app[LIVE].tools.add(source)
    return post


def calling(*calls: Call) -> object:
    """A model that makes these calls, then says that all is done; the verifier refuses that."""

    def answer(recorded: Recorded) -> Step:
        said = str(recorded.body["messages"])
        if "Judge the last answer" in said:
            return Step(text=VERDICT)
        return Step(text="Done.") if "'tool'" in said else Step(text="", calls=calls)

    return answer


SEND = Call("send", '{"to": "Ann"}', "call_1")


async def begun(house: House, *calls: Call, **permissions: Json) -> Talk:
    """A chat whose model makes these calls in each turn."""
    talk = await begin_talk(house)
    await allow(talk, **{"allow_irreversible": True, **permissions})
    house.mock.play(calling(*(calls or (SEND,))))  # type: ignore[arg-type]
    return talk


async def ways(talk: Talk, floor_id: str) -> list[tuple[str, Json]]:
    """The paths that make the answer anew, with their bodies."""
    said = await talk.house.memory.get(f"/messages?session_id={talk.session}")
    asked = next(each["id"] for each in said if each["role"] == "user")
    return [
        (f"/floors/{floor_id}/retry", dict(TOOLS)),
        (f"/messages/{asked}/edit-and-regenerate", {"content": "Send it", **TOOLS}),
        (f"/sessions/{talk.session}/regenerate", dict(TOOLS)),
    ]


async def blocking(talk: Talk, path: str, body: Json) -> list[Json]:
    """The calls that are in the way."""
    status, answer = await talk.post(path, body)
    assert (status, answer["error"]["code"]) == (409, NEEDED), answer
    found: list[Json] = answer["error"]["details"]["blocking_executions"]
    return found


@pytest.mark.parametrize("fault", [None, "The letter is lost."])
async def test_what_cannot_be_undone_wants_a_confirmation(house: House, fault: str | None) -> None:
    post = open_post(house)
    # An error made once for all runs of the test would hold, by its traceback, the turn in which it was raised.
    post.fault = None if fault is None else BadRequest(fault)
    talk = await begun(house)
    done = await talk.respond("Send it", **TOOLS)
    (call,) = await house.memory.get(f"/tool-executions?floor_id={done['floor_id']}")
    asked = len(house.mock.requests)
    for path, body in await ways(talk, done["floor_id"]):
        (blocker,) = await blocking(talk, path, body)
        assert blocker == {
            "execution_id": call["id"],
            "tool_name": "send",
            "provider_id": "builtin",
            "provider_type": "builtin",
            "side_effect_level": "irreversible",
            "status": "success" if fault is None else "error",
            "lifecycle_state": "finished",
            "replay_safety": "confirm_on_replay",
            "reason": "confirmation_required",
            "error_message": None if fault is None else "Error: The letter is lost.",
        }
        assert [each["code"] for each in named(await talk.events(f"{path}/stream", body), "error")] == [NEEDED]
        assert await talk.refused(path, {**body, "confirmed_execution_ids": ["another"]}) == (409, NEEDED)
    assert (len(house.mock.requests), len(post.sent)) == (asked, 1)
    in_the_way = [1, 2, 2]  # the retry's own call is on the floor, the edit's is not
    for number, (path, body) in enumerate(await ways(talk, done["floor_id"])):
        found = [each["execution_id"] for each in await blocking(talk, path, body)]
        status, answer = await talk.post(path, {**body, "confirmed_execution_ids": found})
        assert status == 200, answer
        assert (len(found), len(post.sent)) == (in_the_way[number], number + 2)


async def test_what_never_goes_again_takes_no_confirmation(house: House) -> None:
    post = open_post(house, replay_safety="never_auto_replay")
    talk = await begun(house)
    done = await talk.respond("Send it", **TOOLS)
    for path, body in await ways(talk, done["floor_id"]):
        status, answer = await talk.post(path, body)
        assert (status, answer["error"]["code"]) == (409, BLOCKED)
        (blocker,) = answer["error"]["details"]["blocking_executions"]
        assert blocker["reason"] == "never_auto_replay"
        assert await talk.refused(path, {**body, "confirmed_execution_ids": [blocker["execution_id"]]}) == (409, BLOCKED)
    assert len(post.sent) == 1


async def test_what_is_safe_or_did_not_run_or_goes_with_its_turn_is_in_nobodys_way(house: House) -> None:
    post = open_post(house, replay_safety="safe")
    roll = Call("roll_dice", "{}", "call_2")
    write = Call("set_variable", '{"key": "gold", "value": 7}', "call_3")
    denied = Call("create_worldbook", '{"name": "W", "content": {"entries": {}}}', "call_4")
    wrong = Call("send", "[", "call_5")
    talk = await begun(house, SEND, roll, write, denied, wrong, slot_deny_list={"narrator": ["create_worldbook"]})
    done = await talk.respond("Send it", **TOOLS)
    for path, body in await ways(talk, done["floor_id"]):
        status, answer = await talk.post(path, body)
        assert status == 200, answer
    assert len(post.sent) == 4


async def test_calls_and_writes_are_confirmed_together(house: House) -> None:
    open_post(house)
    talk = await begun(house)
    await registered(talk, "deed", default_replay_safety="confirm_on_replay")
    done = await talk.respond("Send it", session_state_writes=[{"namespace": "deed", "slot": "door", "value": 1}], **TOOLS)
    path = f"/floors/{done['floor_id']}/retry"
    status, answer = await talk.post(path, TOOLS)
    assert (status, answer["error"]["code"]) == (409, "replay_confirmation_required")
    told = answer["error"]["details"]
    calls = {"confirmed_execution_ids": [each["execution_id"] for each in told["blocking_executions"]]}
    mutations = [each["mutation_id"] for each in told["blocking_session_state_mutations"]]
    assert await talk.refused(path, calls) == (409, "session_state_replay_confirmation_required")
    assert await talk.refused(path, {"confirmed_session_state_mutation_ids": mutations}) == (409, NEEDED)
    status, answer = await talk.post(path, {**calls, "confirmed_session_state_mutation_ids": mutations})
    assert status == 200, answer


async def test_calls_of_a_regenerate_and_of_an_edit_that_failed_are_in_the_way_of_the_next(house: House) -> None:
    post = open_post(house)
    talk = await begun(house)
    done = await talk.respond("Hello")
    _, edit, regenerate = await ways(talk, done["floor_id"])

    def breaks(recorded: Recorded) -> Step:
        return Step(status=400) if "'tool'" in str(recorded.body["messages"]) else Step(text="", calls=(SEND,))

    house.mock.play(breaks)
    found: list[Json] = []
    for path, body in (edit, regenerate):
        confirmed = {**body, "confirmed_execution_ids": [each["execution_id"] for each in found]}
        assert await talk.refused(path, confirmed) == (502, "upstream_error")
        found = await blocking(talk, path, body)
    assert (len(found), len(post.sent)) == (2, 2)


@pytest.mark.parametrize("timeout", [0.01, 30.0])
async def test_a_call_whose_end_nobody_saw_is_uncertain_and_not_made_again_unasked(house: House, timeout: float) -> None:
    post = open_post(house, timeout=timeout)
    post.hangs, post.fault = timeout < 1, OutcomeUnknown("Nobody knows.")
    talk = await begun(house)
    house.mock.script([Step(text="", calls=(SEND,)), Step(text="", calls=(SEND,)), Step(text="Done.")])
    done = await talk.respond("Send it", **TOOLS)
    calls = await house.memory.get(f"/tool-executions?floor_id={done['floor_id']}")
    told = {call["status"]: (call["error_code"], call["replay_safety"]) for call in calls}
    assert told == {"uncertain": ("tool_outcome_unknown", "uncertain"), "blocked": ("tool_outcome_unknown", "safe")}
    (blocker,) = await blocking(talk, f"/floors/{done['floor_id']}/retry", TOOLS)
    assert (blocker["status"], len(post.sent)) == ("uncertain", 1)


async def test_a_refused_answer_stays_where_another_attempt_would_call_again(house: House) -> None:
    post = open_post(house)
    talk = await begun(house)
    status, answer = await house.memory.call("PATCH", f"/sessions/{talk.session}", {"verifier_pipeline_id": "plain"})
    assert status == 200, answer
    config = {"enableTools": True, "enableVerifier": True, "verifierFailStrategy": "retry", "maxRetries": 3}
    done = await talk.respond("Send it", config=config)
    assert (done["generated_text"], len(post.sent)) == ("Done.", 1)


@pytest.mark.parametrize("has_called", [True, False])
async def test_the_key_of_a_turn_that_failed_is_free_unless_it_called(house: House, has_called: bool) -> None:
    post = open_post(house)
    talk = await begun(house)
    house.mock.script([*([Step(text="", calls=(SEND,))] if has_called else []), Step(status=400), Step(text="Done.")])
    path, body = f"/sessions/{talk.session}/respond", {"message": "Send it", **TOOLS}
    key = {"idempotency-key": "mine"}
    assert await talk.refused(path, body, **key) == (502, "upstream_error")
    status, answer = await talk.post(path, body, **key)
    if has_called:
        assert (status, answer["error"]["code"]) == (410, "idempotency_answer_gone")
    else:
        assert status == 200, answer
    assert len(post.sent) == has_called


async def test_the_games_state_names_the_calls(house: House) -> None:
    open_post(house)
    talk = await begun(house)
    done = await talk.respond("Send it", **TOOLS)
    (call,) = await house.memory.get(f"/tool-executions?floor_id={done['floor_id']}")
    found = await house.memory.get(f"/sessions/{talk.session}/state/resolve?branch_id=main&namespace=game_state")
    assert [each["value"]["toolExecutionIds"] for each in found] == [[call["id"]]] * 2
