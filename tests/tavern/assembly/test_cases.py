"""The cases and what was recorded of them belong together."""

from collections import Counter

from tests.tavern.assembly.case import cases, recorded

LEAST = 120
ROLES = {"system", "user", "assistant"}


def test_every_case_has_a_name_of_its_own() -> None:
    assert [name for name, count in Counter(case.name for case in cases()).items() if count > 1] == []
    assert len(cases()) >= LEAST


def test_every_case_was_recorded_as_it_is() -> None:
    digests = {name: one["digest"] for name, one in recorded().items()}
    assert digests == {case.name: case.digest for case in cases()}, "record what changed again (see record.py)"


def test_every_turn_was_recorded_with_its_messages() -> None:
    kept = recorded()
    for case in cases():
        turns = kept[case.name]["turns"]
        assert len(turns) == len(case.turns), case.name
        for turn in turns:
            assert set(turn) - {"prefill"} == {"messages", "draws"}, case.name
            assert all(0 <= drawn < 1 for drawn in turn["draws"]), case.name
            for message in turn["messages"]:
                assert set(message) <= {"role", "content", "name"}, case.name
                assert message["role"] in ROLES, case.name
                assert isinstance(message["content"], str), case.name
