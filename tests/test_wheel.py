"""The wheel carries everything: installed where there is no checkout, the demo has its page, its gallery and its answer."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT, skip
from tests.test_docs import running_demo

SOURCES = ("agentui", "static", "pipelines", "presets", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")


def pip(*arguments: str | Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run pip. ``path`` holds packages that come before this environment's."""
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **({} if path is None else {"PYTHONPATH": str(path)})}
    command = [sys.executable, "-m", "pip", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """agentui's wheel, built from a copy of the sources, which lies in ``source`` beside its folder."""
    tmp_path = tmp_path_factory.mktemp("wheel")
    (backend := tmp_path / "backend").mkdir()
    got = pip("install", "--quiet", "--target", backend, "setuptools>=77")
    if got.returncode != 0:
        skip(f"pip cannot get the build backend: {got.stderr.strip().splitlines()[-1:]}")
    (source := tmp_path / "source").mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    built = pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path / "wheels", source, path=backend)
    assert built.returncode == 0, built.stderr
    (made,) = (tmp_path / "wheels").iterdir()
    return made


def files_that_go_along(source: Path) -> set[str]:
    """The page and the gallery by name, without what the page's bundles are made of."""
    folders = (source / name for name in ("static", "pipelines", "presets"))
    every = {path.relative_to(source).as_posix() for folder in folders for path in folder.rglob("*") if path.is_file()}
    return {name for name in every if not name.startswith("static/vendor/build/")}


def read(address: str, body: object = None) -> bytes:
    """What is at an address; a body makes it a POST of JSON."""
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(address, data, {"content-type": "application/json"}), timeout=30) as got:
        return bytes(got.read())


@pytest.mark.timeout(300)
def test_the_demo_works_from_a_wheel(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name.removeprefix("agentui/_shipped/") for name in archive.namelist() if "/_shipped/" in name}
    assert packed == files_that_go_along(wheel.parent.parent / "source")
    installed = pip("install", "--quiet", "--no-deps", "--target", tmp_path / "site", wheel)
    assert installed.returncode == 0, installed.stderr
    with demo_from(tmp_path / "site", tmp_path / "home") as origin:
        assert b"<title>" in read(f"{origin}/")
        assert read(f"{origin}/ui/icon.svg") == (ROOT / "static" / "icon.svg").read_bytes()
        listed = {item["id"] for item in json.loads(read(f"{origin}/api/pipelines"))}
        assert listed == {path.stem for path in (ROOT / "pipelines").iterdir()}
        assert listed == {item["id"] for item in json.loads(read(f"{origin}/api/templates"))}
        body = {"model": "demo-small", "messages": [{"role": "user", "content": "Hello!"}]}
        reply = json.loads(read(f"{origin}/v1/chat/completions", body))
        assert "Hello!" in reply["choices"][0]["message"]["content"]


@contextmanager
def demo_from(site: Path, home: Path) -> Iterator[str]:
    """The demo of the package in ``site``, started in an empty folder; its origin."""
    home.mkdir()
    program = (
        "import agentui, pathlib, sys; from agentui.cli import main\n"
        "assert pathlib.Path(agentui.__file__).is_relative_to(sys.argv[1]), agentui.__file__\n"
        "sys.exit(main(['demo', '--port', '0', '--data', 'data']))"
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", program, str(site)]
    with subprocess.Popen(command, cwd=home, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip().rpartition(" ")[2]
        finally:
            process.terminate()


CONVERSATION = """
import importlib.util, sys
import agentui
from agentui.sdk import NotFound, TavernClient
assert agentui.__file__.startswith(sys.prefix), agentui.__file__
absent = ("aiohttp", "orjson", "pydantic", "sqlalchemy", "structlog")
assert not [name for name in absent if importlib.util.find_spec(name)]
with TavernClient(sys.argv[1]) as client:
    session = client.sessions.create(title="Campfire")
    for event in client.sessions.respond_stream(session["id"], message="Hello!"):
        if event["type"] == "chunk":
            print(event["payload"]["chunk"], end="")
    assert [floor["floor_no"] for floor in client.sessions.iterate_timeline(session["id"])] == [0]
    try:
        client.sessions.get("nobody")
    except NotFound as error:
        print(error.code)
"""


@pytest.mark.timeout(300)
async def test_the_client_works_where_there_is_httpx_and_nothing_of_the_server(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "empty", with_pip=False)
    [site] = (tmp_path / "empty").rglob("site-packages")
    installed = await asyncio.to_thread(pip, "install", "--quiet", "--no-deps", "--target", site, wheel)
    assert installed.returncode == 0, installed.stderr
    copy_with_what_it_needs("httpx", site)
    program = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    async with running_demo(tmp_path) as origin:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [str(program), "-c", CONVERSATION, origin]
        run = partial(subprocess.run, command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        said = await asyncio.to_thread(run)
    assert said.returncode == 0, said.stderr
    assert "You said: Hello!" in said.stdout and said.stdout.endswith("not_found\n")


def copy_with_what_it_needs(name: str, site: Path) -> None:
    """Put a package of this environment and all that it requires into another one."""
    found = distribution(name)
    for file in found.files or ():
        if ".." not in file.parts:
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(found.locate_file(file)), site / file)
    for each in map(Requirement, found.requires or ()):
        if each.marker is None or each.marker.evaluate({"extra": ""}):
            copy_with_what_it_needs(each.name, site)
