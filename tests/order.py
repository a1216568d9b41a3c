"""
The order of the tests where several processes run them.

Each process takes the next whole file when it has nearly done with its last, so files that take long have to come first: a long
one that begins when the others are through runs alone to the end, as half of the browser's tests did.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

SECONDS: Mapping[str, float] = {
    "tests/": 0.07,
    "tests/test_": 0.3,
    # type checkers, and whole servers as processes of their own
    "tests/test_bootstrap": 2,
    "tests/test_cli": 2,
    "tests/test_gates": 10,
    "tests/test_wheel": 5,
    "tests/test_workers": 4,
    "tests/accounts/": 0.15,
    "tests/accounts/test_purges": 0.8,
    "tests/accounts/test_revoking": 1,
    "tests/accounts/test_shell": 0.5,
    "tests/api/chats/test_bad_input": 0.8,
    "tests/browser/": 1.2,
    "tests/browser/test_a11y": 4,
    "tests/browser/test_accounts": 2.2,
    "tests/browser/test_canaries": 15,
    "tests/browser/test_core_": 0.01,
    "tests/browser/test_hostile": 4,
    "tests/browser/test_signing_in": 3,
    "tests/browser/test_story": 6,
    "tests/browser/test_usage": 3.5,
    "tests/browser/test_workspace": 2,
    "tests/campaigns/": 0.8,
    "tests/isolation/": 0.3,
    "tests/isolation/test_workers": 5,
    "tests/memories/test_sight_model": 2.3,
    "tests/turns/": 0.17,
    "tests/unit/": 0.02,
    "tests/unit/test_doubling": 0.1,
    "tests/usage/": 0.2,
    "tests/usage/test_processes": 6,
}
"""Processor time that one test takes about, by how names of files begin; the longest beginning counts. It need not be right:
what matters is that nothing long comes late."""
TOGETHER: Mapping[str, float] = {"tests/matrix/": 2}
"""Folders whose files share a server, and so stand together: where, by the seconds of one file."""


Item = TypeVar("Item")


def longest_first(items: Iterable[Item], name: Callable[[Item], str]) -> list[Item]:
    """
    The same tests, files that take long before others; within a file nothing changes places. ``name`` gives a test's name as
    pytest has it: ``tests/unit/test_ids.py::test_order[case]``.
    """
    files: dict[str, list[Item]] = {}
    for item in items:
        files.setdefault(name(item).partition("::")[0], []).append(item)
    return [item for file in sorted(files, key=lambda file: -_seconds(file, len(files[file]))) for item in files[file]]


def _seconds(file: str, tests: int) -> float:
    for folder, seconds in TOGETHER.items():
        if file.startswith(folder):
            return seconds
    return tests * SECONDS[max((known for known in SECONDS if file.startswith(known)), key=len, default="tests/")]
