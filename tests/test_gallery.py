"""What is shipped in pipelines/ and presets/ is valid, explained, and runs for every caller."""

import subprocess
import sys
from collections.abc import AsyncIterator
from itertools import combinations
from pathlib import Path

import pytest
import pytest_asyncio

from agentui.demo import DemoServer
from agentui.jsonio import Json, dumps, loads
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.node import Catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.plans.compile import compile_plan
from agentui.presets import PresetLibrary
from tests.api.callers import DIALECTS, Caller, is_whole, streamed_text, text_of
from tests.conftest import ROOT, Server, StartServer, quick_demo, servers

PIPELINES = sorted((ROOT / "pipelines").glob("*.json"))
NODE = (240, 126)
PRESETS = sorted((ROOT / "presets").glob("*.json"))


def name(path: Path) -> str:
    return path.stem


def read(path: Path) -> Json:
    """The document in a file."""
    return loads(path.read_bytes())


def at_the_demo(document: Json) -> Json:
    """The pipeline with every address replaced by the demo's, and the raw one's keys left as they are."""
    for node in document["nodes"]:
        if node["type"] == "HttpRequest" and not node["config"]["url"].startswith("http://127."):
            node["config"] |= {"url": "http://127.0.0.1:9/"}  # where nobody listens
        if node["type"] in ("ProviderCall", "RawForward"):
            node["config"]["base_url"] = "demo"
            for target in node["config"].get("targets", ()):
                target["base_url"] = "demo"
                target.pop("secret", None)
    return document


def test_there_is_something_to_choose_from() -> None:
    assert {"default", "demo"} <= {path.stem for path in PIPELINES}
    assert len(PIPELINES) >= 5
    assert {"openai", "anthropic", "gemini", "ollama", "llama-cpp", "vllm", "lm-studio", "koboldcpp", "openrouter"} <= {
        path.stem for path in PRESETS
    }


@pytest.mark.parametrize("path", PIPELINES, ids=name)
def test_a_pipeline_compiles_without_a_warning_and_says_what_it_is_for(path: Path) -> None:
    document = loads(path.read_bytes())
    plan = compile_plan(path.stem, document, Catalog(BUILTIN))
    assert plan.warnings == ()
    assert len(document["description"]) > 20
    assert all(node["title"] for node in document["nodes"])


@pytest.mark.parametrize("path", [*PIPELINES, *PRESETS], ids=name)
def test_a_file_is_written_as_a_save_would_write_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "\t" not in text
    assert "/work" not in text


@pytest.mark.parametrize("path", PRESETS, ids=name)
def test_a_preset_is_valid_and_says_what_it_is_for(path: Path, tmp_path: Path) -> None:
    library = PresetLibrary(ROOT / "presets", tmp_path)
    library.refresh()
    preset = library.good(path.stem)
    assert preset.description
    assert not preset.model_extra
    assert preset.base_url


@pytest.mark.parametrize("path", PRESETS, ids=name)
def test_a_presets_fields_make_a_node(path: Path) -> None:
    preset = loads(path.read_bytes())
    config = {
        field: preset[field]
        for field in ("provider", "base_url", "endpoint", "headers", "model", "template")
        if field in preset
    }
    document = {"format": 1, "name": "x", "nodes": [{"id": "n1", "type": "ProviderCall", "config": config}], "edges": []}
    assert compile_plan("x", document, Catalog(BUILTIN)).warnings == ()


def test_the_folder_loads_as_a_library(tmp_path: Path) -> None:
    library = PipelineLibrary(ROOT / "pipelines", tmp_path, Catalog(BUILTIN))
    library.refresh()
    assert [entry.id for entry in library.entries()] == [path.stem for path in PIPELINES]
    assert all(entry.is_valid for entry in library.entries())
    assert library.active == "default"


def test_agentui_check_finds_nothing() -> None:
    command = [sys.executable, "-m", "agentui", "check", "pipelines/*.json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{len(PIPELINES)} checked, 0 with errors.\n"


@pytest.mark.parametrize("path", PIPELINES, ids=name)
def test_no_node_stands_on_another(path: Path) -> None:
    """Drawn as the editor draws them: 240 wide, and as high as four ports are; what is in a loop stands below its head."""
    nodes = {node["id"]: node for node in read(path)["nodes"]}
    places = {id: (node["position"]["x"], node["position"]["y"]) for id, node in nodes.items()}
    on = [
        (a, b)
        for a, b in combinations(places, 2)
        if all(abs(p - q) < d for p, q, d in zip(places[a], places[b], NODE, strict=True))
    ]
    assert on == []
    for loop, (x, y) in places.items():
        body = [places[id] for id, node in nodes.items() if node.get("parent") == loop]
        if not body:
            continue
        right, bottom = (max(values) + size for values, size in zip(zip(*body, strict=True), NODE, strict=True))
        assert all(at[0] > x and at[1] >= y + NODE[1] for at in body), loop
        others = (places[id] for id, node in nodes.items() if id != loop and node.get("parent") != loop)
        assert not [at for at in others if x - NODE[0] < at[0] < right and y - NODE[1] < at[1] < bottom], loop


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def whole_gallery(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """A server with every pipeline, led to the demo."""
    documents = {path.stem: at_the_demo(read(path)) for path in PIPELINES}
    async with quick_demo() as demo, servers(tmp_path_factory.mktemp("gallery")) as start:
        yield await start(documents, named_origins={"demo": demo.origin})


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("path", PIPELINES, ids=name)
async def test_a_pipeline_runs_for_every_caller(whole_gallery: Server, path: Path) -> None:
    for dialect in DIALECTS:
        # The pipelines that remember need a chat; to the others the header means nothing.
        headers = {"x-agentui-session": f"{path.stem} {dialect}"}
        caller = Caller(dialect, whole_gallery.origin, key="demo-key-0123456789", headers=headers, prefix=f"/p/{path.stem}")
        whole = await caller.ask("What is the weather like?", "demo-small")
        assert whole.status == 200, (dialect, whole.body)
        assert text_of(dialect, whole.json).strip()
        stream = await caller.ask("What is the weather like?", "demo-small", stream=True)
        assert stream.status == 200, (dialect, stream.body)
        assert streamed_text(dialect, stream.events).strip()
        assert is_whole(dialect, stream.events)


async def test_the_demo_pipeline_needs_no_key(start_server: StartServer, demo: DemoServer, gallery: Path) -> None:
    server = await start_server(
        {"demo": loads((gallery / "pipelines" / "demo.json").read_bytes())}, named_origins={"demo": demo.origin}, active="demo"
    )
    for dialect in DIALECTS:
        got = await Caller(dialect, server.origin, key="").ask("Hi", "demo-small")
        assert got.status == 200, got.body


async def test_both_drafts_reach_the_merge(start_server: StartServer, demo: DemoServer, gallery: Path) -> None:
    document = at_the_demo(loads((gallery / "pipelines" / "two-models-merge.json").read_bytes()))
    server = await start_server({"default": document}, named_origins={"demo": demo.origin})
    got = await Caller("openai", server.origin, key="k").ask("Hi", "demo-small")
    run = server.state.history.get(got.headers["x-agentui-run"])
    (merge,) = [event for event in run.events.items if event.type == "node.request" and event.node == "n3"]
    asked = dumps(merge.as_json(run.id, 0, run.redactor, whole=True)["data"]["body"]).decode()
    for draft in ("n1", "n2"):
        text = run.out[draft]["response_text"]
        assert text
        assert dumps(text).decode().strip('"') in asked
