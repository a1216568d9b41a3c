"""A turn reads no more of its chat than its prompt can hold, and the prompt is the same as if it had read all."""

from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, insert

from agentui.api.keys import STORE
from agentui.chat.messages import Text, ToolCall, ToolResult
from agentui.chats.parts import content_of
from agentui.jsonio import Json
from agentui.library.bundles import Bundle
from agentui.prompt.explain import first_included_no
from agentui.prompt.policy import resolve_policy
from agentui.prompt.prepared import PreparedTurn
from agentui.prompt.tokens import TokenEstimator
from agentui.store.tables import floors, messages, pages
from agentui.turns.history import Past, read_facts, read_until
from agentui.turns.joining import join_session
from agentui.turns.live.preparing import history_reach
from tests.turns.chat import ACCOUNT
from tests.turns.conftest import StartHouse
from tests.unit.prompt.parts import prepared


class Said(NamedTuple):
    """One side of a floor."""

    text: str
    is_hidden: bool = False


class Turn(NamedTuple):
    """A floor; ``calls``: the model calls a tool, whose result is on the next one."""

    asked: Said | None
    answered: Said | None
    calls: bool


LETTERS = st.sampled_from(["a", "a", "a", "word ", "é", "好", " \n", "\u3000", "{{char}}"])
TEXTS = st.builds(str.__mul__, LETTERS, st.integers(0, 600))
SELDOM = st.sampled_from([False, False, False, True])
SAID = st.none() | st.builds(Said, TEXTS, SELDOM)
TURN = st.builds(Turn, SAID, SAID, SELDOM)
# Few random lists are longer than a prompt: without the second kind all of them may be read whole.
TURNS = st.lists(TURN, min_size=1, max_size=40) | st.lists(TURN, min_size=24, max_size=40)
POLICY = {"budget": {"reserved_completion_tokens": 0}}
HIDING = {**POLICY, "visibility": {"hidden_floor_ranges": [{"start_floor_no": 3, "end_floor_no": 9}]}}


def keep(db: Connection, name: str, said: list[Turn], call: str | None, result: str | None) -> tuple[str, str]:
    """A session with these floors; its id, and that of the last floor. ``call`` and ``result`` are parts as they are stored."""
    session = join_session(db, ACCOUNT, name, None, 1).session_id
    place = {"session_id": session, "branch_id": "main", "state": "committed", "updated_at": 1}
    mine: dict[str, Json] = {"account_id": ACCOUNT, "created_at": 1}
    rows: dict[Any, list[dict[str, Json]]] = {floors: [], pages: [], messages: []}
    ids = [f"{session}-{number:03}" for number in range(len(said))]
    for number, (id, parent, turn) in enumerate(zip(ids, [None, *ids], said, strict=False)):
        rows[floors].append({"id": id, "floor_no": number, "parent_floor_id": parent, **place, **mine})
        is_called = number > 0 and said[number - 1].calls
        sides = (
            ("input", "user", turn.asked, is_called and result),
            ("output", "assistant", turn.answered, turn.calls and call),
        )
        for page_no, (kind, role, words, part) in enumerate(sides):
            page = {"id": f"{id}-{page_no}", "floor_id": id, "page_no": page_no, "page_kind": kind, "is_active": True}
            rows[pages].append({**page, "updated_at": 1, **mine})
            if words is None and not part:
                continue
            text, is_hidden = ("", False) if part or words is None else words
            message = {"id": page["id"], "page_id": page["id"], "seq": 0, "role": role, "content": text, "is_hidden": is_hidden}
            rows[messages].append({**message, "parts_json": part or None, **mine})
    for table, values in rows.items():
        if values:
            db.execute(insert(table), values)
    return session, ids[-1]


def told(past: Past, window: int, estimator: TokenEstimator) -> PreparedTurn:
    """The prompt of a turn with this past."""
    more = {"policy": resolve_policy(POLICY).policy, "window": window, "estimator": estimator}
    return prepared("Go on.", *past.entries, is_cut=past.is_cut, unread=past.unread, **more)


async def test_a_prompt_is_the_same_however_little_of_its_chat_is_read(start_house: StartHouse) -> None:
    house = await start_house()
    numbers = count()
    cut = 0
    call = await content_of("", (ToolCall("c1", "look", "{}"),))
    result = await content_of("", (ToolResult("c1", (Text("found"),), "look"),))

    def law(db: Connection) -> None:
        @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
        @given(TURNS, st.integers(200, 2400), st.sampled_from([0.25, 0.8, 1.0, 4.0]))
        def same(said: list[Turn], window: int, factor: float) -> None:
            nonlocal cut
            session, floor = keep(db, f"chat {next(numbers)}", said, call.parts_json, result.parts_json)
            estimator, facts = TokenEstimator(factor), read_facts(db, ACCOUNT, session, "main")
            reach = history_reach(POLICY, Bundle(), {"max_context_tokens": window}, lambda _: estimator, facts)
            assert reach.fits is not None
            assert history_reach(HIDING, Bundle(), {}, lambda _: estimator, facts).fits is None
            short = read_until(db, ACCOUNT, floor, replace(reach, most=10**9))
            whole = read_until(db, ACCOUNT, floor, replace(reach, most=10**9, fits=None))
            cut += short.is_cut
            one, other = told(short, window, estimator), told(whole, window, estimator)
            assert one.messages == other.messages
            assert one.macro_scope.values["lastMessageId"] == other.macro_scope.values["lastMessageId"]
            assert first_included_no(one) == first_included_no(other)
            if not any(turn.calls for turn in said):
                seen = [each for each in short.entries if not each.is_hidden]
                read = sum(len(each.text.strip()) for each in seen if each.floor_no > short.entries[0].floor_no)
                assert read <= reach.fits

        same()

    await house.server.app[STORE].write(law)
    assert cut
