"""The vendored bundles: what they are, what they are licensed under, and that they work under the page's own policy."""

import asyncio
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

try:
    import playwright.async_api as playwright
except ImportError:
    playwright = None  # type: ignore[assignment]  # the tests say that they are skipped

from tests.browser.conftest import AXE, WAIT_MS, Editor, OpenEditor, axe
from tests.conftest import ROOT, StartServer, call

VENDOR = ROOT / "static" / "vendor"
BUILD = VENDOR / "build"
FREE = {"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}
FOLDERS = [(VENDOR, FREE), (AXE.parent, FREE | {"MPL-2.0"})]
"""What the page is made of has to be free of conditions on the rest; what only tests use may be under a file's copyleft."""

folders = pytest.mark.parametrize(("folder", "licences"), FOLDERS, ids=["page", "tests"])


def listed(folder: Path) -> dict[str, Any]:
    """The folder's VENDOR.json."""
    document: dict[str, Any] = json.loads((folder / "VENDOR.json").read_text(encoding="utf-8"))
    return document


@folders
def test_every_file_is_the_one_that_was_built(folder: Path, licences: set[str]) -> None:
    there = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and BUILD not in path.parents and path.name != "VENDOR.json"
    }
    files = listed(folder)["files"]
    assert there == set(files)
    for name, about in files.items():
        body = (folder / name).read_bytes()
        assert (len(body), hashlib.sha256(body).hexdigest()) == (about["size"], about["sha256"]), name


@folders
def test_every_package_is_free_and_its_licence_is_there(folder: Path, licences: set[str]) -> None:
    document = listed(folder)
    texts = (folder / "LICENSES.txt").read_text(encoding="utf-8")
    names = {f"{package['name']}@{package['version']}" for package in document["packages"]}
    assert names == {name for about in document["files"].values() for name in about["packages"]}
    for package in document["packages"]:
        assert package["licence"] in licences, package
        heading = f"\n{package['name']} {package['version']} ({package['licence']})\n"
        assert heading in texts, package
        text = texts.split(heading, 1)[1].split("=" * 80, 2)[1]
        assert "copyright" in text.lower() and len(text) > 500, package


@folders
def test_every_package_is_the_one_that_the_lock_file_pins(folder: Path, licences: set[str]) -> None:
    text = (BUILD / "deno.lock").read_text(encoding="utf-8")
    locked = {key.split("_")[0]: entry["integrity"] for key, entry in json.loads(text)["npm"].items()}
    for package in listed(folder)["packages"]:
        assert package["integrity"] == locked[f"{package['name']}@{package['version']}"], package
    assert "://" not in text, "the lock file names a registry's host"


def test_the_pins_are_exact() -> None:
    manifest = json.loads((BUILD / "package.json").read_text(encoding="utf-8"))
    for name, version in {**manifest["dependencies"], **manifest["devDependencies"]}.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), f"{name} is pinned to {version}"


@pytest.mark.parametrize("bundle", ["ui.js", "codemirror.js", "eventsource.js"])
def test_a_bundle_makes_no_code_from_strings(bundle: str) -> None:
    text = (VENDOR / bundle).read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w$.])eval\(|(?<![\w$])Function\(", text)


def test_react_is_the_production_build() -> None:
    text = (VENDOR / "ui.js").read_text(encoding="utf-8")
    assert "process.env" not in text and "Warning: " not in text
    assert "https://react.dev/errors/" in text  # production names its errors by number, with this address


async def test_what_the_bundles_are_made_from_is_not_served(start_server: StartServer) -> None:
    server = await start_server({"default": call("openai", "demo")})
    async with httpx.AsyncClient(base_url=server.origin) as client:
        assert (await client.get("/ui/vendor/LICENSES.txt")).status_code == 200
        bundle = await client.get("/ui/vendor/ui.js")
        assert bundle.status_code == 200
        assert bundle.headers["content-type"].startswith("text/javascript")
        for path in BUILD.iterdir():
            assert (await client.get(f"/ui/vendor/build/{path.name}")).status_code == 404


async def test_each_load_of_the_page_has_a_nonce_of_its_own(start_server: StartServer) -> None:
    server = await start_server({"default": call("openai", "demo")})
    nonces = set()
    async with httpx.AsyncClient(base_url=server.origin) as client:
        for path in ("/", "/ui/", "/ui/index.html"):
            got = await client.get(path)
            policy = got.headers["content-security-policy"]
            nonce = re.search(r"style-src 'self' 'nonce-([\w-]{24})';", policy)
            assert nonce, policy
            assert f'<meta name="csp-nonce" content="{nonce[1]}">' in got.text
            assert got.headers["cache-control"] == "no-store"
            assert "etag" not in got.headers
            nonces.add(nonce[1])
        assert "nonce" not in (await client.get("/ui/vendor/ui.js")).headers["content-security-policy"]
    assert len(nonces) == 3


async def without_the_editor(page: "playwright.Page") -> None:
    """Let the page load nothing of the editor's own: neither modules nor styles."""
    await page.route(re.compile(r"/ui/@\w+/js/"), lambda route: route.fulfill(body="", content_type="text/javascript"))
    await page.route(re.compile(r"/ui/@\w+/css/"), lambda route: route.fulfill(body="", content_type="text/css"))


@pytest_asyncio.fixture(loop_scope="session")
async def bare(open_editor: OpenEditor) -> Editor:
    """The page under the server's policy, without the editor's own modules and styles: for tests of what it stands on."""
    return await open_editor(prepare=without_the_editor)


MOUNT = """async () => {
  const { React, Flow, createRoot, createPortal, flushSync } = await import("/ui/vendor/ui.js");
  const { state, view, commands, language, langJson, highlight, search, autocomplete, lint, merge } =
    await import("/ui/vendor/codemirror.js");
  const sheet = document.createElement("link");
  sheet.rel = "stylesheet";
  sheet.href = "/ui/vendor/xyflow.css";
  const loaded = new Promise((done) => sheet.addEventListener("load", done));
  document.head.append(sheet);
  await loaded;
  const canvas = document.createElement("section");
  canvas.id = "canvas";
  canvas.style.cssText = "width: 600px; height: 400px";
  const code = document.createElement("section");
  code.id = "code";
  document.body.replaceChildren(canvas, code);

  const nodes = [
    { id: "a", position: { x: 0, y: 0 }, data: { label: "First" } },
    { id: "b", position: { x: 200, y: 150 }, data: { label: "Second" } },
  ];
  const edges = [{ id: "a-b", source: "a", target: "b" }];
  const above = createPortal(React.createElement("p", { id: "portal" }, "Above"), document.body);
  const flow = React.createElement(
    Flow.ReactFlow, { defaultNodes: nodes, defaultEdges: edges, fitView: true },
    React.createElement(Flow.Background), React.createElement(Flow.MiniMap), React.createElement(Flow.Controls), above);
  flushSync(() => createRoot(canvas).render(flow));

  window.editor = new view.EditorView({
    parent: code,
    state: state.EditorState.create({
      doc: '{"model": "demo"}',
      extensions: [
        view.EditorView.cspNonce.of(document.querySelector("meta[name=csp-nonce]").content),
        view.lineNumbers(), view.keymap.of([...commands.defaultKeymap, ...search.searchKeymap]),
        langJson.json(), lint.linter(langJson.jsonParseLinter()), autocomplete.autocompletion(), search.search(),
        language.syntaxHighlighting(language.HighlightStyle.define([{ tag: highlight.tags.string, color: "rgb(1, 2, 3)" }])),
      ],
    }),
  });
  return typeof merge.MergeView;
}"""


@pytest.mark.browser
async def test_both_bundles_work_under_the_pages_policy(bare: Editor) -> None:
    page = bare.page
    assert await page.evaluate(MOUNT) == "function"
    await page.wait_for_selector(".react-flow__edge-path")
    assert await page.locator(".react-flow__node").all_inner_texts() == ["First", "Second"]
    assert await page.inner_text("body > #portal") == "Above"
    # React Flow places its nodes through style attributes: they are not where the style sheet alone would put them.
    boxes = [await node.bounding_box() for node in await page.locator(".react-flow__node").all()]
    assert boxes[0] and boxes[1] and boxes[0]["y"] + boxes[0]["height"] < boxes[1]["y"]

    # CodeMirror's own <style> is in force: the string has the colour of the theme.
    colours = "() => [...document.querySelectorAll('#code .cm-line span')].map((span) => getComputedStyle(span).color)"
    assert "rgb(1, 2, 3)" in await page.evaluate(colours)
    await page.click("#code .cm-content")
    await page.keyboard.press("Control+End")
    await page.keyboard.type(" oops")
    assert await page.evaluate("() => editor.state.doc.toString()") == '{"model": "demo"} oops'
    await page.wait_for_selector("#code .cm-lintPoint-error", state="attached")
    await page.keyboard.press("Control+f")
    await page.wait_for_selector("#code .cm-search input")
    assert bare.complaints == []
    picture = await bare.shot("bundles")
    assert picture.read_bytes().startswith(b"\x89PNG")


BREACHES = [
    ("document.head.append(Object.assign(document.createElement('style'), { textContent: 'p { top: 0 }' }))", "style"),
    ("document.head.append(Object.assign(document.createElement('script'), { textContent: '1' }))", "script"),
    ("new Image().src = 'http://127.0.0.1:9/x.png'", "img"),
    ("document.body.setAttribute('onclick', '1')", "script"),
    ("fetch('http://127.0.0.1:9/').catch(() => {})", "connect"),
    ("setTimeout('window.ran = true')", "script"),
    ("try { new Worker(URL.createObjectURL(new Blob(['']))) } catch {}", "worker"),
]
"""What a page might try, and the directive that forbids it. Neighbours break different ones: a late event is not mistaken."""


@pytest.mark.browser
async def test_the_policy_refuses_what_the_page_does_not_need(bare: Editor) -> None:
    """Each breach is heard of as a complaint, so that a page that commits one fails its test."""
    for breach, directive in BREACHES:
        bare.complaints.clear()
        await bare.page.evaluate(
            """async (directive) => {
              const broken = new Promise((done) => addEventListener("securitypolicyviolation", (event) => {
                if (event.effectiveDirective.startsWith(directive)) done();
              }));
              %s;
              await broken;
            }""".replace("%s", breach),
            directive,
        )
        async with asyncio.timeout(WAIT_MS / 1000):
            while not any("Content Security Policy" in text for text in bare.unexpected()):
                await bare.page.wait_for_timeout(10)
    assert await bare.page.evaluate("() => window.ran === undefined")
    bare.allow("Content Security Policy|csp")


@pytest.mark.browser
async def test_axe_finds_a_fault(bare: Editor) -> None:
    """The helper that other tests use sees what is wrong, and nothing where nothing is."""
    await bare.page.evaluate("() => document.body.innerHTML = '<main><h1>Page</h1><input id=\"nameless\"></main>'")
    found = await axe(bare.page)
    assert [(one["rule"], one["where"]) for one in found] == [("label", ["#nameless"])]
    await bare.page.evaluate("() => document.querySelector('#nameless').setAttribute('aria-label', 'Name')")
    assert await axe(bare.page) == []


@pytest.mark.browser
async def test_two_editors_share_a_server_and_nothing_else(bare: Editor, open_editor: OpenEditor) -> None:
    other = await open_editor(server=bare.server, path="/ui/index.html", width=390, height=844, prepare=without_the_editor)
    assert other.server is bare.server
    await bare.page.evaluate("() => localStorage.setItem('mine', '1')")
    assert await other.page.evaluate("() => [localStorage.getItem('mine'), innerWidth]") == [None, 390]
