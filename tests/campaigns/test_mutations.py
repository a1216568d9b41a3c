"""The list of mutations tells a suite that notices from one that does not."""

import subprocess
from pathlib import Path

import pytest

from tests.campaigns.mutations import MUTATIONS, Mutation, copy, misplaced, try_out

SUM = "def add(a, b):\n    return a + b\n"
TEST = "from house import add\n\ndef test_it():\n    assert add(2, {}) == {}\n"


def wrong(tests: str, old: str = "a + b") -> Mutation:
    return Mutation("house.py", old, "a * b", "a sum is a product", tests)


@pytest.mark.timeout(120)
def test_what_the_tests_see_is_caught_and_the_rest_slips(tmp_path: Path) -> None:
    checkout, folder = tmp_path / "checkout", tmp_path / "copy"
    checkout.mkdir()
    (checkout / "house.py").write_text(SUM)
    (checkout / "test_well.py").write_text(TEST.format(3, 5))
    (checkout / "test_badly.py").write_text(TEST.format(2, 4))
    (checkout / "stray.txt").write_text("nobody committed this")
    subprocess.run(["git", "init", "-q"], cwd=checkout, check=True)
    subprocess.run(["git", "add", "house.py", "test_well.py", "test_badly.py"], cwd=checkout, check=True)
    copy(checkout, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["house.py", "test_badly.py", "test_well.py"]
    assert try_out(folder, wrong("test_well.py"), {}) == "caught"
    assert try_out(folder, wrong("test_badly.py"), {}) == "slipped"
    assert try_out(folder, wrong("test_nowhere.py"), {}) == "not told: its tests fail without it"
    assert (folder / "house.py").read_text() == SUM


def test_a_mutation_whose_text_is_gone_or_ambiguous_is_named(tmp_path: Path) -> None:
    (tmp_path / "house.py").write_text(SUM)
    assert misplaced(tmp_path, [wrong("")]) == []
    assert misplaced(tmp_path, [wrong("", "a - b"), wrong("", "a")]) == [
        "house.py: 'a - b' stands there 0 times",
        "house.py: 'a' stands there 3 times",
    ]


def test_every_mutation_has_tests_that_exist_and_changes_something() -> None:
    root = Path(__file__).parents[2]
    assert len(MUTATIONS) >= 60
    for mutation in MUTATIONS:
        assert mutation.old != mutation.new
        assert mutation.tests.split()
        assert [path for path in mutation.tests.split() if not (root / path).exists()] == [], mutation.breaks
