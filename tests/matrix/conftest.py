"""One server, one mock and one client per SDK for the whole folder, and the sum of what was checked."""

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from agentui.api.keys import SERVICES
from agentui.jsonio import Json, dumps
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.settings import Settings
from agentui.tools.tool import HostedTool
from agentui.upstream.breaker import Breaker
from agentui.upstream.retry import RetryBudget
from tests.conftest import call
from tests.matrix.callers import Callers
from tests.matrix.neutral import CALLERS, UPSTREAMS, Answer, Ask, Seen
from tests.matrix.readers import read
from tests.upstreams.server import Mock, Step, start_mock

HERE = Path(__file__).parent
PAIRS = tuple(product(CALLERS, UPSTREAMS))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder drives SDKs or their wire shapes, all on one event loop."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.sdk)
            # First, for in auto mode pytest-asyncio has marked the item already.
            item.add_marker(pytest.mark.asyncio(loop_scope="package"), append=False)
            # google-genai itself subclasses aiohttp's session when it makes its first asynchronous client.
            ignored = "ignore:Inheritance class AiohttpClientSession:DeprecationWarning"
            item.add_marker(pytest.mark.filterwarnings(ignored))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How much of the matrix holds."""
    counts = {
        outcome: sum(report.nodeid.startswith("tests/matrix/") for report in terminalreporter.stats.get(outcome, ()))
        for outcome in ("passed", "failed", "error", "skipped")
    }
    checks = sum(counts.values()) - counts["skipped"]
    if checks:
        share = 100 * counts["passed"] / checks
        terminalreporter.write_line(f"strict matrix: {counts['passed']} of {checks} checks pass ({share:.1f} %)")


def pair_id(pair: tuple[str, str]) -> str:
    """``caller>upstream``."""
    return ">".join(pair)


def pairs(callers: tuple[str, ...] = CALLERS, upstreams: tuple[str, ...] = UPSTREAMS) -> pytest.MarkDecorator:
    """Parametrise a test with all pairs of these callers and upstreams."""
    return pytest.mark.parametrize("pair", list(product(callers, upstreams)), ids=pair_id, indirect=True)


def foreign_pairs(callers: tuple[str, ...] = CALLERS, upstreams: tuple[str, ...] = UPSTREAMS) -> pytest.MarkDecorator:
    """The same without the pairs of one dialect, whose requests and answers pass as they came."""
    chosen = [pair for pair in product(callers, upstreams) if pair[0] != pair[1]]
    return pytest.mark.parametrize("pair", chosen, ids=pair_id, indirect=True)


streamed = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@dataclass
class Pair:
    """One caller and one upstream, with agentui between them."""

    caller_name: str
    upstream: str
    mock: Mock
    callers: Callers
    origin: str

    async def ask(self, ask: Ask | None = None, step: Step | None = None, *, stream: bool = False) -> Answer:
        """Ask through agentui; ``step`` is what the upstream says next (None: what the model's name stands for)."""
        if step is not None:
            # Three times: the server may ask again where that is right.
            self.mock.script([step] * 3)
        caller = self.callers[self.caller_name]
        answer = await caller.ask(f"{self.origin}/p/{self.upstream}", ask or Ask(), stream=stream)
        self.mock.forget_steps()
        return answer

    @property
    def seen(self) -> Seen:
        """What the upstream got last."""
        return read(self.mock.last)


def application(
    folder: Path,
    mock: Mock,
    *,
    pipelines: Mapping[str, Json] = MappingProxyType({}),
    hosted: Iterable[HostedTool] = (),
    **config: Any,
) -> web.Application:
    """A server with one pipeline per upstream, whose node has this ``config``, and others."""
    (folder / "pipelines").mkdir(parents=True)
    (folder / "presets").mkdir()
    documents = {upstream: call(upstream, mock.origin, **config) for upstream in UPSTREAMS}
    for name, document in {**documents, **pipelines}.items():
        (folder / "pipelines" / f"{name}.json").write_bytes(dumps(document))
    settings = Settings(port=0, pipelines=folder / "pipelines", presets=folder / "presets", data=folder / "data")
    return create_app(settings, named_origins={}, secret_env={}, default_active="openai", tools=hosted)


@asynccontextmanager
async def running(app: web.Application) -> AsyncIterator[str]:
    """Let a server run; gives its origin."""
    listener = Listener(app)
    port = await listener.start("127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await listener.stop()


@asynccontextmanager
async def agentui(folder: Path, mock: Mock, **parts: Any) -> AsyncIterator[str]:
    """A running server of these parts (see ``application``); gives its origin."""
    async with running(application(folder, mock, **parts)) as origin:
        yield origin


@pytest.fixture(scope="package")
def no_outside_settings() -> Iterator[None]:
    """Settings of the person who runs the tests stay out of the shared server too."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("AGENTUI_") and name != "AGENTUI_TESTS_MUST_RUN":
                patch.delenv(name)
        yield


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def shared_mock() -> AsyncIterator[Mock]:
    """The one mock."""
    server = await start_mock()
    yield server
    await server.close()


@pytest.fixture(scope="package")
def shared_app(shared_mock: Mock, no_outside_settings: None, tmp_path_factory: pytest.TempPathFactory) -> web.Application:
    """The one server."""
    return application(tmp_path_factory.mktemp("matrix") / "server", shared_mock)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def shared_origin(shared_app: web.Application) -> AsyncIterator[str]:
    """Where the one server is."""
    async with running(shared_app) as origin:
        yield origin


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def callers() -> AsyncIterator[Callers]:
    """The SDKs."""
    made = Callers.make()
    yield made
    await made.close()


@pytest.fixture
def mock(shared_mock: Mock) -> Mock:
    """The mock, with nothing in it from other tests."""
    shared_mock.forget_steps()
    shared_mock.requests.clear()
    return shared_mock


@pytest.fixture
def origin(shared_origin: str) -> str:
    """Where agentui is."""
    return shared_origin


@pytest_asyncio.fixture(loop_scope="package")
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """A plain HTTP client."""
    async with aiohttp.ClientSession() as made:
        yield made


@pytest.fixture
def pair(request: pytest.FixtureRequest, mock: Mock, callers: Callers, origin: str) -> Pair:
    """The caller and the upstream of this check."""
    caller, upstream = request.param
    return Pair(caller, upstream, mock, callers, origin)


@pytest.fixture
def fresh(pair: Pair, shared_app: web.Application) -> Pair:
    """The pair, at a server that has forgotten the failures of other tests: its circuit is closed, and it may try again."""
    for origin in shared_app[SERVICES].upstream.origins().values():
        origin.breaker, origin.budget = Breaker(), RetryBudget()
    return pair
