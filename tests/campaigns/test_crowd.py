"""The campaigns of crowds and of long life can fail: what they measure with finds what is put before it."""

import asyncio
from pathlib import Path

import pytest

from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.process import HAS_PROC, Process, serving
from tests.campaigns.soak import Sample, Soak, in_thirds, slope

pytestmark = pytest.mark.skipif(not HAS_PROC, reason="a process's memory is read from /proc")


def trial(folder: Path, requests: int) -> Trial:
    made = Trial("soak.mixed", requests, 60.0, 1, folder)
    made.counts["requests"] = requests
    return made


def soak_of(folder: Path, *, bytes_a_request: float, descriptors_a_sample: int) -> Soak:
    """A household that has lived, with a server that leaks so much."""
    made = trial(folder, 100_000)
    soak = Soak(made, Process(0, "", folder), None, None)  # type: ignore[arg-type]  # it asks nobody
    for number in range(101):
        requests = number * 1000
        # Arenas come and go.
        memory = 100_000_000 + int(bytes_a_request * requests) + (number * 7919) % 5 * 200_000
        soak.samples.append(Sample(number * 20.0, requests, memory, 40 + descriptors_a_sample * number))
    soak.latencies = [(at * 0.2, 0.005) for at in range(10_000)]
    soak.controls = [(at * 0.2, 0.002) for at in range(10_000)]
    return soak


def test_a_household_that_is_as_it_was_is_found_well(tmp_path: Path) -> None:
    soak = soak_of(tmp_path, bytes_a_request=1.0, descriptors_a_sample=0)
    soak.judge()
    assert soak.trial.failures == []


def test_a_leak_of_memory_is_found(tmp_path: Path) -> None:
    soak = soak_of(tmp_path, bytes_a_request=100.0, descriptors_a_sample=0)
    soak.judge()
    assert [failure.partition(" by")[0] for failure in soak.trial.failures] == ["Memory grows"]


def test_a_leak_of_descriptors_is_found(tmp_path: Path) -> None:
    soak = soak_of(tmp_path, bytes_a_request=0.0, descriptors_a_sample=1)
    soak.judge()
    assert [failure.partition(" from")[0] for failure in soak.trial.failures] == ["Descriptors grew"]


def test_answers_that_take_ever_longer_are_found_unless_the_machine_is_what_is_slow(tmp_path: Path) -> None:
    soak = soak_of(tmp_path, bytes_a_request=0.0, descriptors_a_sample=0)
    soak.latencies = [(at, seconds * (1 + at / 10)) for at, seconds in soak.latencies]
    soak.judge()
    assert [failure.partition(" took")[0] for failure in soak.trial.failures] == ["Answers"]
    slow = soak_of(tmp_path, bytes_a_request=0.0, descriptors_a_sample=0)
    slow.latencies = soak.latencies
    slow.controls = [(at, seconds * (1 + at / 10)) for at, seconds in slow.controls]
    slow.judge()
    assert slow.trial.failures == []


def test_a_line_is_fitted() -> None:
    assert slope([(0, 5.0), (10, 25.0), (20, 45.0)]) == 2.0
    assert slope([(3, 1.0), (3, 9.0)]) == 0.0
    assert in_thirds([(0.0, 1.0), (5.0, 2.0), (9.0, 3.0), (9.9, 4.0)], 9.0) == [[1.0], [2.0], [3.0, 4.0]]


async def test_a_process_tells_what_it_holds_and_what_is_under_way(tmp_path: Path) -> None:
    async with serving(tmp_path / "server", {}) as process:
        assert process.memory() > 20_000_000
        process.forget_peak()
        assert process.peak() >= process.memory() - 4_000_000
        descriptors = await process.resting_descriptors()
        assert await process.is_quiet(descriptors) == ""
        connections = [await asyncio.open_connection("127.0.0.1", process.port) for _ in range(10)]
        assert await process.is_quiet(descriptors, seconds=1.0) != ""
        for _, writer in connections:
            writer.close()
        assert await process.is_quiet(descriptors) == ""
        assert process.faults() == []
        process.log.write_text('level=error event="Request req_1 failed by a fault of agentui itself"')
        assert len(process.faults()) == 1


async def test_a_campaign_that_does_nothing_has_failed(tmp_path: Path) -> None:
    async def nothing(trial: Trial) -> None:
        """Do nothing."""

    made = await Campaign("crowd.none", nothing, counted="streams", short=10, long=10).fight(tmp_path)
    assert made.failures == ["Only 0 of 10 streams were tried."]
