"""Makes ``python -m agentui`` work on a machine that has Python and nothing else.

Standard library only. In a checkout whose packages are missing it makes ``.venv`` beside the sources, installs agentui
there, and starts the same command inside it. Where everything is installed already it does nothing. Pythons since 3.7 can read
it, so that one that is too old is told so.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 11)

_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*(?:>=\s*([0-9.]+))?[^;]*(;.*)?$")


def enter_environment(module: str, extra: str | None = None) -> None:
    """Return when this interpreter has what the project needs; otherwise start ``module`` again inside ``.venv``.

    ``extra`` is a group of optional dependencies from pyproject.toml (``test``).
    Ends the program with one sentence when the environment cannot be made, and with none at Ctrl+C.
    """
    if sys.version_info < OLDEST_PYTHON:
        _stop(f"agentui needs Python {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or newer; this is {sys.version.split()[0]}.")
    project_file = ROOT / "pyproject.toml"
    if not project_file.is_file() or _has_everything(_requirements(project_file, extra)):
        return
    folder = ROOT / ".venv"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if Path(sys.prefix).resolve() == folder.resolve() and _is_stamped(folder, project_file, extra):
        _stop(f"Packages are missing in {folder} although they were installed: delete that folder and try again.")
    if not _is_stamped(folder, project_file, extra) or not _works(python):
        try:
            _install(folder, python, project_file, extra)
        except KeyboardInterrupt:
            sys.exit(130)
    _start_again(python, module)


def _requirements(project_file: Path, extra: str | None) -> list[str]:
    # Only a checkout has a project file to read.
    import tomllib

    project = tomllib.loads(project_file.read_text(encoding="utf-8"))["project"]
    wanted: list[str] = list(project["dependencies"])
    if extra is not None:
        wanted += project["optional-dependencies"][extra]
    return wanted


def _has_everything(requirements: list[str]) -> bool:
    """True when every requirement without a platform marker is installed and new enough."""
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match is None or match.group(3):
            continue
        try:
            installed = importlib.metadata.version(match.group(1))
        except importlib.metadata.PackageNotFoundError:
            return False
        if match.group(2) and _numbers(installed) < _numbers(match.group(2)):
            return False
    return True


def _numbers(version: str) -> tuple[int, int, int]:
    """The first three numbers of a version; 24 is 24.0.0."""
    first, second, third = [*(int(part) for part in re.findall(r"\d+", version)[:3]), 0, 0, 0][:3]
    return first, second, third


def _stamp(project_file: Path, extra: str | None) -> tuple[str, str]:
    """The stamp's file name and what it must hold."""
    digest = hashlib.sha256(project_file.read_bytes() + sys.version.encode()).hexdigest()
    return f"agentui-{extra or 'run'}.stamp", digest


def _is_stamped(folder: Path, project_file: Path, extra: str | None) -> bool:
    name, digest = _stamp(project_file, extra)
    try:
        return (folder / name).read_text(encoding="utf-8") == digest
    except OSError:
        return False


def _works(python: Path, code: str = "") -> bool:
    """Whether this interpreter is there, starts, and runs the code."""
    try:
        return subprocess.run([str(python), "-c", code], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def _install(folder: Path, python: Path, project_file: Path, extra: str | None) -> None:
    """Make the environment (again, where it does not work) and install the project into it."""
    print(f"Setting up {folder} (once; this takes a minute) ...", flush=True)
    # One that was interrupted while it was made has no pip.
    if not _works(python, "import pip"):
        was_there = folder.exists()
        # Every later start does without it.
        import venv

        try:
            venv.create(folder, with_pip=True, clear=was_there)
        except subprocess.CalledProcessError as error:
            if not was_there:
                # Half an environment would look like a whole one next time.
                shutil.rmtree(folder, ignore_errors=True)
            _stop(
                f"The virtual environment {folder} could not be made ({error}). "
                "On Debian and Ubuntu install the package python3-venv first."
            )
        except OSError as error:
            _stop(f"The virtual environment {folder} could not be made ({error.strerror}): this folder has to take new files.")
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", target]
    if subprocess.run(command, check=False).returncode != 0:
        _stop("The packages could not be installed; pip says above why. Mend that and run the same command again.")
    name, digest = _stamp(project_file, extra)
    (folder / name).write_text(digest, encoding="utf-8")


def _start_again(python: Path, module: str) -> NoReturn:
    """Run the same command inside the environment."""
    command = [str(python), "-m", module, *sys.argv[1:]]
    sys.stdout.flush()
    if sys.platform == "win32":
        # Windows' exec returns to the shell at once, so the command runs as a child there.
        try:
            sys.exit(subprocess.call(command))
        except KeyboardInterrupt:
            sys.exit(130)
    os.execv(command[0], command)


def _stop(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    sys.exit(1)
