"""A machine with Python and nothing else gets an environment, or one sentence."""

import ast
import importlib.metadata
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from agentui import bootstrap
from agentui.bootstrap import _has_everything, _is_stamped, _numbers, _requirements, _stamp, _works
from tests import __main__ as running
from tests.conftest import ROOT, skip
from tests.order import SECONDS, TOGETHER, longest_first

MISSING = "a-package-that-nobody-has"


def test_this_environment_has_what_the_project_asks_for() -> None:
    wanted = _requirements(ROOT / "pyproject.toml", None)
    assert any(requirement.startswith("aiohttp") for requirement in wanted)
    assert _has_everything(wanted)


def test_a_group_of_extras_is_asked_for_too() -> None:
    wanted = _requirements(ROOT / "pyproject.toml", "test")
    assert set(_requirements(ROOT / "pyproject.toml", None)) < set(wanted)
    assert any(requirement.startswith("pytest") for requirement in wanted)


@pytest.mark.parametrize(
    ("requirement", "has"),
    [
        ("aiohttp", True),
        ("aiohttp>=1", True),
        ("aiohttp >= 1, <99", True),
        ("aiohttp[speedups]>=1", True),
        ("aiohttp>=9999", False),
        (MISSING, False),
        (f"{MISSING}>=1", False),
        (f"{MISSING}; sys_platform == 'plan9'", True),
    ],
)
def test_a_requirement_is_there_and_new_enough(requirement: str, has: bool) -> None:
    assert _has_everything([requirement]) is has


def test_the_installed_version_itself_is_new_enough() -> None:
    version = importlib.metadata.version("aiohttp")
    assert _has_everything([f"aiohttp>={version}"])


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("3", (3, 0, 0)), ("3.14", (3, 14, 0)), ("3.14.2", (3, 14, 2)), ("3.14.2.1", (3, 14, 2)), ("24.0rc1", (24, 0, 1))],
)
def test_versions_compare_by_three_numbers(version: str, numbers: tuple[int, ...]) -> None:
    assert _numbers(version) == numbers
    assert _numbers("24") >= _numbers("24.0")


def test_a_stamp_holds_for_one_project_file_and_one_python(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text("[project]\n")
    assert not _is_stamped(tmp_path, project, None)
    name, digest = _stamp(project, None)
    (tmp_path / name).write_text(digest)
    assert _is_stamped(tmp_path, project, None)
    assert not _is_stamped(tmp_path, project, "test")
    project.write_text("[project]\nchanged = true\n")
    assert not _is_stamped(tmp_path, project, None)


def test_an_interpreter_works_or_it_does_not(tmp_path: Path) -> None:
    assert _works(Path(sys.executable))
    assert not _works(tmp_path / "python")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that asks for a package that is not installed."""
    (tmp_path / "agentui").mkdir()
    (tmp_path / "agentui" / "__init__.py").write_text("")
    shutil.copy(bootstrap.__file__, tmp_path / "agentui" / "bootstrap.py")
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "agentui"\nversion = "1"\ndependencies = ["{MISSING}>=1"]\n')
    return tmp_path


def enter(checkout: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    """Enter the checkout's environment in a fresh interpreter."""
    code = f"{before}\nfrom agentui.bootstrap import enter_environment\nenter_environment('agentui')\nprint('entered')\n"
    env = {**os.environ, "PYTHONPATH": str(checkout), "PIP_NO_INDEX": "1", "PYTHONUNBUFFERED": "1"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=checkout, env=env, capture_output=True, text=True, timeout=150, check=False
    )


def test_nothing_happens_where_everything_is_installed(checkout: Path) -> None:
    (checkout / "pyproject.toml").write_text('[project]\ndependencies = ["aiohttp>=1"]\n')
    done = enter(checkout)
    assert (done.returncode, done.stdout, done.stderr) == (0, "entered\n", "")
    assert not (checkout / ".venv").exists()


def test_nothing_happens_outside_a_checkout(checkout: Path) -> None:
    (checkout / "pyproject.toml").unlink()
    assert enter(checkout).stdout == "entered\n"


def test_an_old_python_is_told_what_it_lacks(checkout: Path) -> None:
    done = enter(checkout, "import sys; sys.version_info = (3, 9, 0, 'final', 0)")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("agentui needs Python 3.11 or newer; this is ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("module", ["agentui/__init__.py", "agentui/__main__.py", "agentui/bootstrap.py"])
def test_an_old_python_can_read_what_tells_it_so(module: str) -> None:
    source = (ROOT / module).read_text("utf-8")
    ast.parse(source, feature_version=(3, 7))
    # Types such as ``str | None`` are newer: they are read here, and not run.
    assert " | " not in source or "from __future__ import annotations" in source


def test_a_python_without_venv_gets_one_sentence_and_no_half_environment(checkout: Path) -> None:
    # What Debian's python3 without python3-venv does: the new interpreter cannot run ensurepip. Here it cannot start.
    for _ in range(2):
        done = enter(checkout, "import os; os.environ['PYTHONHASHSEED'] = 'not a number'")
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert "could not be made" in done.stderr
        assert "python3-venv" in done.stderr
        assert not (checkout / ".venv").exists()


def test_a_folder_that_cannot_be_made_is_no_matter_of_packages(checkout: Path) -> None:
    (checkout / ".venv").write_text("in the way")
    done = enter(checkout)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
    assert "could not be made" in done.stderr
    assert "python3-venv" not in done.stderr
    assert (checkout / ".venv").read_text() == "in the way"


@pytest.mark.parametrize(("command", "says"), [("chat", "could not be made"), ("serve", "The command line.")])
def test_the_chat_in_the_terminal_brings_packages_of_its_own(checkout: Path, command: str, says: str) -> None:
    project = f'[project]\ndependencies = []\noptional-dependencies.chat = ["{MISSING}"]\n'
    (checkout / "pyproject.toml").write_text(project)
    shutil.copy(ROOT / "agentui" / "__main__.py", checkout / "agentui")
    (checkout / "agentui" / "cli.py").write_text("def main():\n    return 'The command line.'\n")
    (checkout / ".venv").write_text("in the way, so that nothing is installed")
    start = [sys.executable, "-m", "agentui", command]
    env = {**os.environ, "PYTHONPATH": str(checkout), "PIP_NO_INDEX": "1"}
    done = subprocess.run(start, cwd=checkout, env=env, capture_output=True, text=True, timeout=150, check=False)
    assert says in done.stderr


def test_packages_that_cannot_be_installed_are_pips_to_explain(checkout: Path) -> None:
    # What Ctrl+C leaves of an environment that is being made: an interpreter, and nothing to install with.
    venv.create(checkout / ".venv", with_pip=False)
    done = enter(checkout)
    if "could not be made" in done.stderr:
        pytest.fail(f"this Python cannot make environments: {done.stderr}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("The packages could not be installed; pip says above why.")
    assert "Traceback" not in done.stderr
    assert not list((checkout / ".venv").glob("*.stamp"))


def test_what_a_killed_run_of_the_tests_left_in_memory_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(os, "fork"):
        skip("only Linux has such folders")
    monkeypatch.setattr(running, "MEMORY", tmp_path)
    (tmp_path / f"{running.PREFIX}dead").mkdir()
    (tmp_path / f"{running.PREFIX}dead" / "file").write_text("x")
    with running.in_memory() as folder:
        running.clear_memory()
        assert list(tmp_path.iterdir()) == [Path(folder)]
    assert list(tmp_path.iterdir()) == []


def test_files_that_take_long_come_first_and_whole() -> None:
    short, long = "tests/unit/test_ids.py::test_{}", "tests/browser/test_shell.py::test_{}"
    names = [short.format(1), long.format(2), short.format(3), "tests/matrix/test_text.py::test_4[a::b]", long.format(5)]
    elsewhere = "../mine/test_it.py::test_6"  # of the same weight as any file here
    names.append(elsewhere)
    assert longest_first(names, str) == [long.format(2), long.format(5), names[3], elsewhere, short.format(1), short.format(3)]


@pytest.mark.parametrize("beginning", [*SECONDS, *TOGETHER])
def test_the_order_of_the_tests_knows_files_that_exist(beginning: str) -> None:
    assert [*ROOT.glob(f"{beginning}*")]
