"""What SillyTavern sent for each case is what our assembly makes of it, but for differences that are decided."""

import json

import pytest

from tests.conftest import ROOT
from tests.tavern.assembly.case import HERE, Case, cases, recorded
from tests.tavern.assembly.replay import played, sent

CASES = {case.name: case for case in cases()}
DIFFERENCES: dict[str, list[str]] = json.loads((HERE / "differences.json").read_text(encoding="utf-8"))
"""Cases that differ, by the reason, as ``docs/sillytavern.md`` tells it."""
DIFFERENT = {name for names in DIFFERENCES.values() for name in names}
RECORDED = recorded()


@pytest.mark.parametrize("case", [case for name, case in CASES.items() if name not in DIFFERENT], ids=lambda case: case.name)
def test_the_same_is_sent(case: Case) -> None:
    turns = RECORDED[case.name]["turns"]
    assert list(played(case, turns)) == [sent(turn) for turn in turns]


@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_what_is_said_to_differ_differs(name: str) -> None:
    turns = RECORDED[name]["turns"]
    assert list(played(CASES[name], turns)) != [sent(turn) for turn in turns]


def test_every_difference_is_documented() -> None:
    told = (ROOT / "docs" / "sillytavern.md").read_text(encoding="utf-8")
    assert [reason for reason in DIFFERENCES if f"**{reason}**" not in told] == []
