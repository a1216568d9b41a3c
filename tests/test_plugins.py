"""A package of somebody else's brings a node type, and a broken one does no harm."""

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from agentui.jsonio import Json
from tests.conftest import ROOT

SHOUT = '''
"""A node of somebody else's."""

from agentui.pipeline.node import Node, NodeParams, node


class ShoutParams(NodeParams):
    """What to shout."""

    text: str = "{{ chat.last_user }}"
    marks: int = 1


@node("Shout")
class Shout(Node[ShoutParams]):
    """Says a text loudly."""

    Params = ShoutParams
    title = "Shout"
    category = "text"

    def prepare(self, build):
        self.text = build.text("text", self.params.text)

    async def run(self, ctx):
        return {"text": ctx.render(self.text).upper() + "!" * self.params.marks}


@node("Picky")
class Picky(Node[NodeParams]):
    """Fails while it is prepared."""

    Params = NodeParams

    def prepare(self, build):
        raise KeyError("never expected this")


class HomelessParams(NodeParams):
    """A field that no form can show."""

    home: type = str


@node("Homeless")
class Homeless(Node[HomelessParams]):
    """Has no form."""

    Params = HomelessParams


class AskParams(NodeParams):
    """One field without a default, one with."""

    base_url: str
    llm_name: str = "small"


@node("Ask")
class Ask(Node[AskParams]):
    """Wants an address."""

    Params = AskParams


class Unnamed(Node[NodeParams]):
    """Forgot its decorator."""

    Params = NodeParams


@node("SetVars")
class Impostor(Node[NodeParams]):
    """Wants another node's name."""

    Params = NodeParams


function = print
'''
ENTRIES = {
    "shout": "shouting:Shout",
    "picky": "shouting:Picky",
    "homeless": "shouting:Homeless",
    "ask": "shouting:Ask",
    "unnamed": "shouting:Unnamed",
    "impostor": "shouting:Impostor",
    "function": "shouting:function",
    "missing": "shouting:Missing",
    "broken": "broken_shouting:Anything",
}


def build_wheel(folder: Path) -> Path:
    """The package as a wheel, put together by hand: its modules and four files of metadata (PEP 427)."""
    info = "shouting-1.0.dist-info"
    entries = "\n".join(f"{name} = {value}" for name, value in ENTRIES.items())
    files = {
        "shouting.py": SHOUT,
        "broken_shouting.py": 'raise RuntimeError("a package in pieces")\n',
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[agentui.nodes]\n{entries}\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    wheel = folder / "shouting-1.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the package."""
    target = tmp_path_factory.mktemp("target")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    wheel = build_wheel(tmp_path_factory.mktemp("wheel"))
    done = subprocess.run([*command, "--target", str(target), str(wheel)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


PROGRAM = """
import asyncio, contextlib, io, json, pathlib, sys
sys.path[:0] = sys.argv[1:3]
import aiohttp
from agentui.cli import main
from agentui.jsonio import dumps
from agentui.pipeline.node import load_catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.settings import Settings

folder = pathlib.Path(sys.argv[3])

def listed():
    catalog, complaints = load_catalog(BUILTIN)
    kinds = {kind["type"]: kind for kind in catalog.describe()}
    own = sorted(set(catalog.names()) - set(BUILTIN))
    has_all = set(BUILTIN) <= set(catalog.names()) and catalog["SetVars"] is BUILTIN["SetVars"]
    return {"kinds": kinds, "own": own, "has_all": has_all, "complaints": sorted(complaints)}

def put(id, type, **config):
    file = folder / "pipelines" / f"{id}.json"
    file.write_bytes(dumps({"format": 1, "name": id, "nodes": [{"id": "n1", "type": type, "config": config}]}))
    return str(file)

async def answers():
    app = create_app(Settings(port=0, pipelines=folder / "pipelines", presets=folder / "presets", data=folder / "data"))
    listener = Listener(app)
    port = await listener.start("127.0.0.1", 0)
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        async with session.post("/v1/chat/completions", json=body) as answer:
            whole = await answer.json()
        async with session.post("/p/picky/v1/chat/completions", json=body) as answer:
            refused = [answer.status, (await answer.json())["error"]["message"]]
    await listener.stop()
    return {"whole": whole, "refused": refused}

def checked(file):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["check", file])
    return {"code": code, "out": out.getvalue(), "complaints": len(err.getvalue().splitlines())}

for name in ("pipelines", "presets"):
    (folder / name).mkdir()
loud = put("default", "Shout", marks=2)
put("picky", "Picky")
print(json.dumps({"catalog": listed(), "answers": asyncio.run(answers()), "check": checked(loud)}))
"""


@pytest.fixture(scope="module")
def told(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Json:
    """What a fresh interpreter that has the package tells of its catalog, of a server and of ``agentui check``."""
    folders = [str(folder) for folder in (ROOT, installed, tmp_path_factory.mktemp("home"))]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, *folders], capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_installed_node_shows_in_the_catalog_with_its_form_and_help(told: Json) -> None:
    catalog = told["catalog"]
    shout, ask = catalog["kinds"]["Shout"], catalog["kinds"]["Ask"]
    assert (shout["title"], shout["category"], shout["help"]) == ("Shout", "text", "Says a text loudly.")
    assert set(shout["schema"]["properties"]) == {"marks", "text"}
    assert shout["defaults"] == {"text": "{{ chat.last_user }}", "marks": 1}
    assert [field["title"] for field in ask["schema"]["properties"].values()] == ["Base URL", "LLM name"]
    assert (ask["schema"]["required"], ask["defaults"]) == (["base_url"], {"llm_name": "small"})
    assert (catalog["own"], catalog["has_all"]) == (["Ask", "Picky", "Shout"], True)


def test_every_entry_that_is_no_node_type_is_one_complaint(told: Json) -> None:
    complaints = told["catalog"]["complaints"]
    homeless = complaints[4]
    assert homeless.startswith("The node type 'Homeless' of 'shouting:Homeless' has no form and is left out: Pydantic")
    assert [complaint for complaint in complaints if complaint != homeless] == [
        "The entry point 'function' is not a node type: decorate a Node subclass with @node.",
        "The entry point 'unnamed' is not a node type: decorate a Node subclass with @node.",
        "The node plug-in 'broken' does not import: RuntimeError: a package in pieces",
        "The node plug-in 'missing' does not import: AttributeError: module 'shouting' has no attribute 'Missing'",
        "The node type 'SetVars' of 'shouting:Impostor' exists already and is left out.",
    ]


def test_an_installed_node_runs_in_a_server_beside_a_broken_plug_in(told: Json) -> None:
    assert told["answers"]["whole"]["choices"][0]["message"]["content"] == "HELLO!!"
    status, said = told["answers"]["refused"]
    assert status == 422
    assert "Picky does not accept this configuration: KeyError: 'never expected this'" in said


def test_agentui_check_knows_installed_nodes_and_names_broken_ones(told: Json) -> None:
    assert told["check"] == {"code": 0, "out": "1 checked, 0 with errors.\n", "complaints": 6}
