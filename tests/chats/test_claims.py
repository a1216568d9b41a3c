"""Who holds a key, what was answered to it, and when that is forgotten."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select

from agentui.chats.parts import Content
from agentui.chats.rows import delete_floor
from agentui.store.tables import branches, claims, floors, sessions
from agentui.turns.failing import fail_floor
from agentui.turns.locks import Owner
from agentui.turns.recovery import recover
from agentui.turns.repeats import MAX_ANSWER, MAX_KEY, Claim, Saved, answer_to, attach, claim, hold, keep, once, pack, tidy
from agentui.turns.transactions import OpenedFloor, commit_floor, open_floor
from tests.chats.conftest import ME, OWNER, Memory, code_of

ASKED = claim("k", "POST", "/v1/messages", b"{}")
ANSWER = Saved(200, {"content-type": "application/json"}, pack(b'{"a":1}'))
DAY = 86_400_000


async def refusal(awaitable: Any) -> str:
    (error,) = await asyncio.gather(awaitable, return_exceptions=True)
    return code_of(error)


async def begin(
    memory: Memory, asked: Claim = ASKED, branch: str = "main", owner: str = OWNER, *, is_new_branch: bool = False
) -> OpenedFloor:
    """Open a floor that holds a key, as a turn does."""
    joined = await memory.join(branch=branch)
    memory.now += 1

    def transaction(db: Connection, account: str) -> OpenedFloor:
        hold(db, account, asked, owner, memory.now)
        ends = memory.now + 60_000
        place = joined.session_id, branch, "run", Owner(owner, ends)
        opened = open_floor(db, account, *place, Content("Hi"), memory.now, is_new_branch=is_new_branch)
        attach(db, account, asked, opened.floor_id)
        return opened

    opened: OpenedFloor = await memory.write(transaction)
    return opened


async def end(memory: Memory, opened: OpenedFloor, asked: Claim = ASKED, saved: Saved = ANSWER) -> None:
    """Commit it together with its answer."""

    def transaction(db: Connection, account: str) -> None:
        commit_floor(db, account, opened.floor_id, Content("Hello."), 1, 1, memory.now)
        keep(db, account, asked, saved, memory.now)

    await memory.write(transaction)


async def found(memory: Memory, asked: Claim = ASKED, owner: str = OWNER) -> Saved | None:
    saved: Saved | None = await memory.read(answer_to, asked, owner, memory.now)
    return saved


def test_a_claim_tells_requests_apart() -> None:
    same = claim("k", "POST", "/a", b"body")
    assert claim("k", "POST", "/a", b"body") == same
    others = [("POST", "/a", b"other"), ("POST", "/ab", b"ody"), ("POST", "/a", b"body", "s"), ("PUT", "/a", b"body")]
    assert same.fingerprint not in {claim("k", *parts).fingerprint for parts in others}
    assert claim("k", "\udcff").fingerprint != claim("k", "\ufffd").fingerprint


@pytest.mark.parametrize("key", ["", "x" * (MAX_KEY + 1), "a\nb", "a\x7f", "é", "a\udcff"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(Exception, match="255 printable") as caught:
        claim(key)
    assert code_of(caught.value) == "validation_error"


def test_a_body_is_kept_byte_for_byte_and_a_large_one_is_not() -> None:
    for body in (b"", b"\xff\x00", b"x" * MAX_ANSWER):
        assert Saved(200, {}, pack(body)).body() == body
    assert pack(b"x" * (MAX_ANSWER + 1)) is None


async def test_an_answer_is_found_once_the_turn_is_kept(memory: Memory) -> None:
    assert await found(memory) is None
    opened = await begin(memory)
    assert await refusal(found(memory)) == "idempotency_in_progress"
    await end(memory, opened)
    assert await found(memory) == ANSWER
    assert await refusal(begin(memory)) == "idempotency_in_progress"
    assert [row.state for row in await memory.rows(select(floors))] == ["committed"]


async def test_another_request_and_another_account_have_nothing_of_it(memory: Memory) -> None:
    opened = await begin(memory)
    other = claim("k", "something else")
    assert await refusal(found(memory, other)) == "idempotency_key_reused"
    assert await refusal(begin(memory, other, "alt")) == "idempotency_key_reused"
    await end(memory, opened)
    assert await refusal(found(memory, other)) == "idempotency_key_reused"
    memory.account = "somebody else"
    assert await found(memory, other) is None
    await begin(memory, other)


async def test_a_turn_that_fails_frees_its_key(memory: Memory) -> None:
    opened = await begin(memory)
    await memory.write(fail_floor, opened.floor_id, {"code": "x", "message": "x"}, memory.now)
    assert await found(memory) is None
    await end(memory, await begin(memory))
    assert await found(memory) == ANSWER


async def test_a_floor_that_is_removed_takes_its_answer_along(memory: Memory) -> None:
    opened = await begin(memory)
    await end(memory, opened)
    await memory.write(delete_floor, opened.floor_id)
    assert await found(memory) is None
    assert await memory.rows(select(claims)) == []


async def test_the_key_of_a_dead_process_is_free_when_its_turn_is(memory: Memory) -> None:
    is_alone = memory.store.status["engine"] == "sqlite"
    dead = await begin(memory, owner="dead-process")
    if not is_alone:
        # Another live worker may have it, until its time is over.
        assert await refusal(found(memory)) == "idempotency_in_progress"
        assert await refusal(begin(memory)) == "idempotency_in_progress"
        memory.now += 60_001
    assert await found(memory) is None
    opened = await begin(memory)
    states = {row.id: row.state for row in await memory.rows(select(floors))}
    assert states == {dead.floor_id: "failed", opened.floor_id: "generating"}
    assert await refusal(end(memory, dead)) == "commit_conflict"
    assert await refusal(found(memory)) == "idempotency_in_progress"
    await end(memory, opened)
    assert await found(memory) == ANSWER


async def test_recovery_frees_the_keys_of_dead_processes(memory: Memory) -> None:
    await begin(memory, owner="dead-process")
    memory.now += 60_001
    assert await memory.store.write(recover, OWNER, memory.now) == 1
    assert await memory.rows(select(claims)) == []


@pytest.mark.parametrize("finder", ["recover", "hold"])
async def test_the_branch_that_a_dead_turn_made_goes_with_it_whoever_finds_it(memory: Memory, finder: str) -> None:
    place = await memory.join()
    await memory.turn(place)
    await memory.join(branch="made")
    dead = await begin(memory, branch="made", owner="dead-process", is_new_branch=True)
    memory.now += 60_001
    if finder == "recover":
        assert await memory.store.write(recover, OWNER, memory.now) == 1
        assert await memory.rows(select(claims)) == []
    else:
        await begin(memory)
    assert {row.branch_id for row in await memory.rows(select(branches))} == {"main"}
    assert dead.floor_id not in {row.id for row in await memory.rows(select(floors))}


async def test_the_branch_that_a_dead_turn_made_stays_where_somebody_went_on(memory: Memory) -> None:
    await memory.turn(await memory.join())
    place = await memory.join(branch="made")
    await begin(memory, branch="made", owner="dead-process", is_new_branch=True)
    values = {"id": "other", "account_id": ME, "session_id": place.session_id, "branch_id": "made", "floor_no": 9}
    times = {"created_at": memory.now, "updated_at": memory.now}
    await memory.store.write(lambda db: db.execute(insert(floors).values(**values, state="committed", **times)) and None)
    memory.now += 60_001
    assert await memory.store.write(recover, OWNER, memory.now) == 1
    assert {row.branch_id for row in await memory.rows(select(branches))} == {"main", "made"}


async def test_of_many_at_once_one_opens_a_floor(memory: Memory) -> None:
    joined = [await memory.join(branch=f"b{number}") for number in range(8)]
    outcomes = await asyncio.gather(*(begin(memory, branch=each.branch_id) for each in joined), return_exceptions=True)
    codes = [code_of(outcome) for outcome in outcomes if isinstance(outcome, BaseException)]
    assert codes == ["idempotency_in_progress"] * 7
    assert len(await memory.rows(select(floors))) == 1


def make(db: Connection, account: str, id: str) -> str:
    """A write that doubled would break the primary key."""
    db.execute(insert(sessions).values(id=id, account_id=account, created_at=1, updated_at=1))
    return id


def shown(id: str) -> Saved:
    return Saved(201, {"x-id": id}, pack(id.encode()))


async def test_a_write_is_done_once_and_answered_alike(memory: Memory) -> None:
    async def ask(id: str, asked: Claim = ASKED) -> tuple[Saved, bool]:
        result: tuple[Saved, bool] = await memory.write(once, asked, memory.now, shown, make, ME, id)
        return result

    answers = await asyncio.gather(*(ask(f"s{number}") for number in range(8)))
    assert [is_old for _, is_old in answers].count(False) == 1
    assert len({saved.packed for saved, _ in answers}) == 1
    assert len(await memory.rows(select(sessions))) == 1
    assert await refusal(ask("t", claim("k", "other"))) == "idempotency_key_reused"
    assert await found(memory) == answers[0][0]


async def test_a_write_that_fails_keeps_nothing_and_frees_its_key(memory: Memory) -> None:
    def fail(db: Connection, account: str) -> str:
        make(db, account, "x")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        await memory.write(once, ASKED, memory.now, shown, fail, ME)
    assert await memory.rows(select(claims)) == await memory.rows(select(sessions)) == []
    assert (await memory.write(once, ASKED, memory.now, shown, make, ME, "x"))[1] is False


async def fill(memory: Memory, many: int, size: int = 100) -> None:
    """Answers of a second each, the first of them now."""
    saved = Saved(200, {}, b"x" * size)
    for number in range(many):
        await memory.write(once, claim(f"k{number}"), memory.now + number * 1000, lambda _: saved, lambda _: None)


async def left(memory: Memory) -> dict[str, int]:
    """The sizes of the bodies that are kept, by key."""
    return {row.key: row.size for row in await memory.rows(select(claims).order_by(claims.c.updated_at))}


async def test_answers_are_kept_a_day(memory: Memory) -> None:
    await fill(memory, 5)
    running = await begin(memory, claim("running"))
    start = memory.now - 1
    for later, kept in ((DAY, 5), (DAY + 1001, 3), (DAY + 60_000, 0)):
        await memory.store.write(tidy, start + later, DAY, 10_000)
        assert len(await left(memory)) == kept + 1
    await end(memory, running, claim("running"))


async def test_of_too_many_the_oldest_go(memory: Memory) -> None:
    await fill(memory, 9)
    await memory.store.write(tidy, memory.now, DAY, 10_000, 4)
    assert list(await left(memory)) == ["k5", "k6", "k7", "k8"]


async def test_of_too_much_the_oldest_bodies_go_and_their_requests_are_not_repeated(memory: Memory) -> None:
    await fill(memory, 6)
    await memory.store.write(tidy, memory.now, DAY, 250)
    assert await left(memory) == {"k0": 0, "k1": 0, "k2": 0, "k3": 0, "k4": 100, "k5": 100}
    assert await refusal(found(memory, claim("k0"))) == "idempotency_answer_gone"
    assert await refusal(memory.write(once, claim("k0"), memory.now, shown, make, ME, "x")) == "idempotency_answer_gone"
    assert await found(memory, claim("k5")) is not None
    assert await memory.store.write(tidy, memory.now, DAY, 0) == 0
    assert sum((await left(memory)).values()) == 0
