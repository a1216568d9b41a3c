"""A package of somebody else's brings a node type, and a broken one does no harm."""

import subprocess
import sys
import textwrap
from pathlib import Path
from zipfile import ZipFile

import pytest

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


def python(installed: Path, code: str) -> str:
    """What a script prints in a fresh interpreter that has the package."""
    script = textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(installed)!r}]\n{script}"],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_installed_node_shows_in_the_catalog_with_its_form_and_help(installed: Path) -> None:
    out = python(
        installed,
        """
        from agentui.pipeline.node import load_catalog
        from agentui.pipeline.nodes import BUILTIN
        catalog, _ = load_catalog(BUILTIN)
        (shout,) = [kind for kind in catalog.describe() if kind["type"] == "Shout"]
        print(shout["title"], shout["category"], shout["help"], sorted(shout["schema"]["properties"]), shout["defaults"])
        (ask,) = [kind for kind in catalog.describe() if kind["type"] == "Ask"]
        print([field["title"] for field in ask["schema"]["properties"].values()], ask["schema"]["required"], ask["defaults"])
        print(sorted(set(catalog.names()) - set(BUILTIN)), set(BUILTIN) <= set(catalog.names()))
        """,
    )
    assert out.splitlines() == [
        "Shout text Says a text loudly. ['marks', 'text'] {'text': '{{ chat.last_user }}', 'marks': 1}",
        "['Base URL', 'LLM name'] ['base_url'] {'llm_name': 'small'}",
        "['Ask', 'Picky', 'Shout'] True",
    ]


def test_every_entry_that_is_no_node_type_is_one_complaint(installed: Path) -> None:
    out = python(
        installed,
        """
        from agentui.pipeline.node import load_catalog
        from agentui.pipeline.nodes import BUILTIN
        catalog, complaints = load_catalog(BUILTIN)
        print(catalog["SetVars"] is BUILTIN["SetVars"])
        print("\\n".join(sorted(complaints)))
        """,
    )
    kept, *complaints = out.splitlines()
    assert kept == "True"
    homeless = complaints.pop(4)
    assert homeless.startswith("The node type 'Homeless' of 'shouting:Homeless' has no form and is left out: Pydantic")
    assert complaints == [
        "The entry point 'function' is not a node type: decorate a Node subclass with @node.",
        "The entry point 'unnamed' is not a node type: decorate a Node subclass with @node.",
        "The node plug-in 'broken' does not import: RuntimeError: a package in pieces",
        "The node plug-in 'missing' does not import: AttributeError: module 'shouting' has no attribute 'Missing'",
        "The node type 'SetVars' of 'shouting:Impostor' exists already and is left out.",
    ]


def test_an_installed_node_runs_in_a_server_beside_a_broken_plug_in(installed: Path, tmp_path: Path) -> None:
    out = python(
        installed,
        f"""
        import asyncio, pathlib
        import aiohttp
        from agentui.serving.application import create_app
        from agentui.serving.listener import Listener
        from agentui.jsonio import dumps
        from agentui.settings import Settings

        folder = pathlib.Path({str(tmp_path)!r})
        for name in ("pipelines", "presets"):
            (folder / name).mkdir()

        def put(id, type, **config):
            nodes = [{{"id": "n1", "type": type, "config": config}}]
            (folder / "pipelines" / f"{{id}}.json").write_bytes(dumps({{"format": 1, "name": id, "nodes": nodes}}))

        put("default", "Shout", marks=2)
        put("picky", "Picky")

        async def main():
            app = create_app(Settings(port=0, pipelines=folder / "pipelines", presets=folder / "presets", data=folder / "data"))
            listener = Listener(app)
            port = await listener.start("127.0.0.1", 0)
            body = {{"model": "m", "messages": [{{"role": "user", "content": "hello"}}]}}
            async with aiohttp.ClientSession(f"http://127.0.0.1:{{port}}") as session:
                async with session.post("/v1/chat/completions", json=body) as answer:
                    print((await answer.json())["choices"][0]["message"]["content"])
                async with session.post("/p/picky/v1/chat/completions", json=body) as answer:
                    print(answer.status, (await answer.json())["error"]["message"])
            await listener.stop()

        asyncio.run(main())
        """,
    )
    first, second = out.splitlines()
    assert first == "HELLO!!"
    assert second.startswith("422 ")
    assert "Picky does not accept this configuration: KeyError: 'never expected this'" in second


def test_agentui_check_knows_installed_nodes_and_names_broken_ones(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "loud.json").write_text('{"format": 1, "name": "loud", "nodes": [{"id": "n1", "type": "Shout"}]}')
    out = python(
        installed,
        f"""
        import contextlib, io
        from agentui.cli import main
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = main(["check", {str(tmp_path / "loud.json")!r}])
        print(code, len(said.getvalue().splitlines()))
        """,
    )
    assert out.splitlines() == ["1 checked, 0 with errors.", "0 6"]
