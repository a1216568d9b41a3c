"""The pipelines that the documentation shows do run: one for each node type, and those of the page about a first agent."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from agentui.jsonio import Json, loads
from agentui.pipeline.nodes import BUILTIN
from tests.api.callers import Caller, streamed_text, text_of
from tests.conftest import Server, quick_demo, servers
from tests.test_docs import blocks, page
from tests.test_gallery import at_the_demo

pytestmark = pytest.mark.asyncio(loop_scope="module")

DECIDES, REMEMBERS = [loads(block.text.encode()) for block in blocks("docs/first-agent.md", language="json", info="pipeline")]
SHOWN = {
    document["name"]: document
    for block in blocks("docs/nodes.md", "docs/routing.md", "docs/pipelines.md", language="json", info="pipeline")
    if block.info == "pipeline"
    for document in [loads(block.text.encode())]
    if '"asset"' not in block.text  # what the library has is tried where the library is
}
TRANSLATE = {"format": 1, "name": "Translate", "nodes": [{"id": "n1", "type": "ProviderCall"}]}


def runnable(document: Json, origin: str) -> Json:
    """The pipeline with every call led to the demo, which is at ``origin``, and with no stored keys."""
    for node in document["nodes"]:
        config = node.setdefault("config", {})
        if node["type"] == "HttpRequest":
            config |= {"url": f"{origin}/", "headers": {}}
        if node["type"] == "ProviderCall":
            config.pop("headers", None)
    return at_the_demo(document)


@dataclass(frozen=True)
class Recipes:
    """A server with the pipelines of the documentation."""

    server: Server

    async def ask(self, id: str, text: str, *, stream: bool = False, session: str = "") -> tuple[str, set[str]]:
        """Ask a pipeline: what it says, and which nodes ran."""
        caller = Caller(
            "openai", self.server.origin, "recipes-key-0123456789", f"/p/{id}", {"x-agentui-session": session or id}
        )
        got = await caller.ask(text, "demo-small", stream=stream)
        assert got.status == 200, got.body
        run = self.server.state.history.get(got.headers["x-agentui-run"])
        return (streamed_text("openai", got.events) if stream else text_of("openai", got.json)), set(run.out)


def id_of(name: str) -> str:
    """A file's name for a pipeline's."""
    return re.sub(r"\W+", "-", name.lower())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recipes(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Recipes]:
    """The documentation's pipelines on one server, with the demo behind them."""
    async with quick_demo() as demo, servers(tmp_path_factory.mktemp("recipes")) as start:
        documents = {id_of(name): runnable(document, demo.origin) for name, document in SHOWN.items()}
        more = {"first-agent": DECIDES, "dice": REMEMBERS, "translate": runnable(TRANSLATE, demo.origin)}
        yield Recipes(await start({**documents, **more}, named_origins={"demo": demo.origin}))


@pytest.mark.parametrize("name", SHOWN)
async def test_an_example_of_a_node_answers(recipes: Recipes, name: str) -> None:
    said, _ = await recipes.ask(id_of(name), "Tell me about code, and about Ada.")
    assert said.strip()


async def test_every_node_type_has_an_example_that_runs() -> None:
    assert BUILTIN.keys() - {node["type"] for document in SHOWN.values() for node in document["nodes"]} == set()
    linked = re.findall(r"\]\(nodes\.md#(\w+)\)", page("docs/first-agent.md").split("## Recipes")[1])
    assert {kind.lower() for kind in BUILTIN} - set(linked) == set()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_the_first_agent_decides_and_goes_on_behind_a_failure(recipes: Recipes, stream: bool) -> None:
    said, ran = await recipes.ask("first-agent", "Show me some code", stream=stream)
    assert ran == {"n1", "n2", "n4"}
    assert "You said: Show me some code" in said
    said, ran = await recipes.ask("first-agent", "Hello", stream=stream)
    assert ran == {"n1", "n3"}
    assert "You said: Hello" in said


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_the_second_agent_rolls_dice_and_remembers(recipes: Recipes, stream: bool) -> None:
    session = f"table {stream}"
    said, ran = await recipes.ask("dice", "Please roll_dice", stream=stream, session=session)
    assert "The tool answered:" in said and "This is turn 1." in said
    assert ran == {"count", "agent"}
    said, _ = await recipes.ask("dice", "And now?", stream=stream, session=session)
    assert "This is turn 2." in said
