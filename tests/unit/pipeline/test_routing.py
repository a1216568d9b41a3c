"""Laws of several targets: who answers after any failures, how weights share, and whom a hash keeps."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentui.errors import (
    AgentUIError,
    AllTargetsFailed,
    Busy,
    NodeFailed,
    UpstreamInvalid,
    UpstreamRefused,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.model.calls import Targets
from agentui.pipeline.nodes.model.failures import kind_of
from agentui.pipeline.nodes.model.provider_call import ProviderCall
from agentui.pipeline.nodes.model.routing import Route
from agentui.pipeline.nodes.model.targets import ModelTarget, hash_draws, weighted_order
from agentui.pipeline.run import Run
from agentui.upstream.health import FAILURES
from tests.unit.pipeline.parts import Ear, compiled, make_run

MOST = 6


def refused(kind: Any, status: int) -> UpstreamRefused:
    return UpstreamRefused("No.", status=status, kind=kind, vendor="openai")


MENDED: dict[str, AgentUIError] = {
    "rate": refused("rate_limit", 429),
    "server": refused("server", 500),
    "slow": UpstreamTimeout("Slow."),
    "away": UpstreamUnreachable("Away."),
    "odd": UpstreamInvalid("Odd."),
    "key": refused("authentication", 401),
    "unfit": NodeFailed("Not so."),
}
FINAL: dict[str, AgentUIError] = {"bad": refused("invalid_request", 400), "large": refused("too_large", 413)}
OUTCOMES = st.lists(st.sampled_from(["well", *MENDED]), min_size=1, max_size=MOST)


def routed(count: int, **config: Any) -> tuple[Run, Route, Ear]:
    """A route over so many targets, named by their numbers, of a run that has not begun."""
    rows = [{"name": str(number), "model": f"m{number}"} for number in range(count)]
    base = {"provider": "openai", "base_url": "https://x.example", "targets": rows, **config}
    plan = compiled([{"id": "n1", "type": "ProviderCall", "config": base}])
    node = plan.nodes[0].node
    assert isinstance(node, ProviderCall)
    targets: Targets = node._targets
    run, ear = make_run(plan), Ear()
    return run, Route(NodeContext(run, "n1", "ProviderCall", ear), targets.candidates, targets.routing), ear


class World:
    """What the targets come to, and what became of those that were asked."""

    def __init__(self, outcomes: Sequence[str], hints: Sequence[int] = ()) -> None:
        self.asked: list[int] = []
        self.under_way = 0
        self.discarded: list[int] = []
        self._outcomes = outcomes
        self._turns = hints

    async def begin(self, ctx: NodeContext, target: ModelTarget) -> int:
        """Ask a target: its number, after as many turns of the loop as its hint says."""
        number = int(ctx.render(target.model).removeprefix("m"))
        self.asked.append(number)
        self.under_way += 1
        try:
            for _ in range(self._turns[number] if self._turns else 0):
                await asyncio.sleep(0)
        finally:
            self.under_way -= 1
        outcome = self._outcomes[number]
        if outcome != "well":
            raise {**MENDED, **FINAL}[outcome].with_traceback(None)
        return number

    async def discard(self, number: int) -> None:
        self.discarded.append(number)


@given(OUTCOMES)
@settings(deadline=None)
def test_after_any_failures_the_first_healthy_target_answers_and_no_other_is_asked(outcomes: list[str]) -> None:
    run, route, _ = routed(len(outcomes))
    world = World(outcomes)
    if "well" in outcomes:
        first = outcomes.index("well")
        assert asyncio.run(route.first(world.begin, world.discard)) == first
        assert world.asked == list(range(first + 1))
        assert [line["state"] for line in route.attempts] == ["failed"] * first + ["answered"]
        # From then on it is asked first.
        assert asyncio.run(route.first(world.begin, world.discard)) == first
        assert world.asked[-1] == first and len(world.asked) == first + 2
    else:
        with pytest.raises(AllTargetsFailed) as failed:
            asyncio.run(route.first(world.begin, world.discard))
        assert world.asked == list(range(len(outcomes)))
        assert [line["target"] for line in failed.value.details["targets"]] == [str(n) for n in range(len(outcomes))]
    assert world.discarded == []
    assert sum(event.type == "run.warning" for event in run.events.items) == sum(
        line["state"] == "failed" for line in route.attempts
    )


@given(OUTCOMES, st.sampled_from(sorted(FINAL)), st.integers(0, MOST))
@settings(deadline=None)
def test_what_is_not_to_be_mended_ends_it_where_it_happens(outcomes: list[str], final: str, place: int) -> None:
    outcomes = [each for each in outcomes if each != "well"]
    outcomes.insert(place, final)
    _, route, _ = routed(len(outcomes))
    world = World(outcomes)
    with pytest.raises(UpstreamRefused) as told:
        asyncio.run(route.first(world.begin, world.discard))
    assert told.value is FINAL[final]
    assert world.asked == list(range(outcomes.index(final) + 1))


@given(st.data(), OUTCOMES, st.integers(0, 3))
@settings(deadline=None)
def test_a_race_has_one_winner_that_is_well_and_leaves_nothing_running(data: Any, outcomes: list[str], at_once: int) -> None:
    turns = data.draw(st.lists(st.integers(0, 5), min_size=len(outcomes), max_size=len(outcomes)))
    _, route, _ = routed(len(outcomes), strategy="race", at_once=at_once)
    world = World(outcomes, turns)

    async def race() -> int:
        try:
            return await route.first(world.begin, world.discard)
        finally:
            assert world.under_way == 0
            assert len(asyncio.all_tasks()) == 1

    if "well" not in outcomes:
        with pytest.raises(AllTargetsFailed):
            asyncio.run(race())
        assert sorted(world.asked) == list(range(len(outcomes)))
        return
    winner = asyncio.run(race())
    assert outcomes[winner] == "well" and winner not in world.discarded
    told = Counter(line["state"] for line in route.attempts)
    assert told["answered"] == 1
    assert len(route.attempts) <= len(outcomes)


async def test_who_leaves_during_a_race_leaves_nothing_running() -> None:
    _, route, _ = routed(3, strategy="race")
    begun = asyncio.Event()
    closed: list[str] = []

    async def begin(ctx: NodeContext, target: ModelTarget) -> int:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            closed.append(ctx.render(target.model))
        return 0

    task = asyncio.create_task(route.first(begin, World([]).discard))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(closed) == ["m0", "m1", "m2"]


async def test_a_target_that_failed_in_a_row_is_left_alone_and_asked_when_nobody_else_answers() -> None:
    run, route, _ = routed(2)
    key = (
        route.order[0]
        .resolve(NodeContext(run, "n1", "ProviderCall", None))
        .health_key(NodeContext(run, "n1", "ProviderCall", None))
    )
    for _ in range(FAILURES):
        run.services.target_health.failed(key, 30)
    world = World(["well", "server"])
    assert await route.first(world.begin, world.discard) == 0
    assert world.asked == [1, 0]
    assert [line["state"] for line in route.attempts] == ["skipped", "failed", "answered"]
    assert run.services.target_health.away(key) is None


async def test_a_full_queue_of_the_servers_own_leads_to_the_next_target_and_harms_none() -> None:
    run, route, _ = routed(2)

    async def begin(ctx: NodeContext, target: ModelTarget) -> int:
        if ctx.render(target.model) == "m0":
            raise Busy("Calls are under way.", retry_after=1.0)
        return 1

    assert await route.first(begin, World([]).discard) == 1
    assert len(run.services.target_health) == 0


def test_what_no_other_target_would_mend_has_no_kind() -> None:
    assert kind_of(AgentUIError("A fault.")) is None


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0.001, 1)), max_size=20))
def test_a_weighted_order_has_everybody_once_and_those_without_weight_last(rows: list[tuple[float, float]]) -> None:
    weights = [weight for weight, _ in rows]
    order = weighted_order(weights, [draw for _, draw in rows])
    assert sorted(order) == list(range(len(rows)))
    resting = [position for position in order if not weights[position]]
    assert order[len(order) - len(resting) :] == sorted(resting)


def test_targets_come_first_as_often_as_their_weights_say() -> None:
    chance = random.Random(7)
    weights, times = [1.0, 2.0, 5.0], 8000
    first = Counter(weighted_order(weights, [1 - chance.random() for _ in weights])[0] for _ in range(times))
    for position, weight in enumerate(weights):
        expected = times * weight / sum(weights)
        assert abs(first[position] - expected) < 5 * (expected * (1 - weight / sum(weights))) ** 0.5


def test_a_hash_shares_by_weight_and_moves_only_whom_a_leaving_target_had() -> None:
    names, weights, times = ["a", "b", "c"], [1.0, 2.0, 1.0], 4000

    def chosen(key: int, among: Sequence[int]) -> str:
        found = [names[position] for position in among]
        return found[weighted_order([weights[position] for position in among], hash_draws(str(key), found))[0]]

    before = [chosen(key, (0, 1, 2)) for key in range(times)]
    assert before == [chosen(key, (0, 1, 2)) for key in range(times)]
    share = Counter(before)
    assert abs(share["b"] - times / 2) < 5 * (times / 4) ** 0.5
    after = [chosen(key, (0, 1)) for key in range(times)]
    assert all(new == old for new, old in zip(after, before, strict=True) if old != "c")
    assert [chosen(key, (2, 1, 0)) for key in range(100)] == before[:100], "whatever their order"
