"""The gates that every change must pass: formatting, lint, types, and the direction of imports."""

import ast
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import networkx as nx
import pytest

from agentui.vendors.registry import VENDOR_TITLES
from tests.conftest import must_run, skip
from tests.import_graph import circles, import_graph, importers, loose_files
from tests.sdk.generate import existing, generated

ROOT = Path(__file__).parent.parent
VENDOR_BUILD = ROOT / "static" / "vendor" / "build"
JS_ERRORS, NO_DENO, NO_TYPES = 1, 2, 3
"""Exit codes of ``check_js.py``."""


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "ruff", "check", "agentui", "tests", "static"],
        ["-m", "ruff", "format", "--check", "agentui", "tests", "static"],
        ["-m", "mypy"],
        ["-c", "from importlinter.cli import lint_imports_command as run; run()"],
    ],
    ids=["ruff check", "ruff format", "mypy", "import-linter"],
)
@pytest.mark.timeout(300)
def test_the_gate_is_clean(command: list[str]) -> None:
    run = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-4000:]


def test_the_python_client_has_a_method_for_every_route_as_it_is() -> None:
    """What to do where it is older: a line in tests/sdk/names.py for a new route, then ``python -m tests.sdk.generate``."""
    assert existing() == generated(), "run python -m tests.sdk.generate"


MAY_NAME = {
    # the type of a vendor's name
    "chat/request.py": set(VENDOR_TITLES),
    # the table that tells dialects by path, headers and body
    "vendors/detect.py": set(VENDOR_TITLES),
    # the table of routes that pass through, each its vendor's
    "vendors/passed.py": set(VENDOR_TITLES),
    # the platform that OpenAI's two dialects share
    "vendors/openai": {"openai_responses"},
    # the dialect in which a turn of a chat is asked, so that every pipeline understands it
    "turns/live/generation.py": {"openai"},
    # the preset of that name
    "settings.py": {"openai"},
    # the dialect of a preset that names none, as its files always had it
    "presets.py": {"openai"},
    # the dialect in which the demo answers a path that is in none
    "demo/server.py": {"openai"},
    # the table of the providers that profiles name, which are services' names, and the dialect of each
    "profiles/providers.py": set(VENDOR_TITLES),
    "profiles/records.py": {"openai"},
    "sdk/shapes/models/llm_profiles.py": {"openai"},
    # names of secrets, which are services' names: openrouter stands beside openai
    "secrets/origins.py": {"gemini", "openai"},
}
"""Files and folders that may name a dialect which is not their own."""


def test_what_is_odd_about_a_dialect_is_known_in_its_folder_only() -> None:
    package = ROOT / "agentui"
    strays = [
        f"{path.relative_to(ROOT)}:{node.lineno} names {node.value!r}"
        for path in sorted(package.rglob("*.py"))
        if re.search("|".join(VENDOR_TITLES), text := path.read_text(encoding="utf-8"))  # most need not be parsed
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in VENDOR_TITLES
        if not _may_name(path.relative_to(package), node.value)
    ]
    assert not strays, "\n".join(strays)


def _may_name(path: Path, vendor: str) -> bool:
    """Whether the file is in the vendor's own folder, or on the list."""
    listed = any(vendor in names and path.is_relative_to(place) for place, names in MAY_NAME.items())
    return listed or path.is_relative_to(Path("vendors", vendor))


def test_no_test_waits_with_what_takes_a_promise_for_the_truth() -> None:
    strays = [
        f"{path.relative_to(ROOT)}:{node.lineno}: wait_for_function takes an async function's promise for the truth; take until"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if "wait_for_function" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr == "wait_for_function"
    ]
    assert not strays, "\n".join(strays)


IMPORTED_IN = {
    "Stemmer": ("agentui.words.stems",),
    "aiohappyeyeballs": ("agentui.upstream.http",),
    "alembic": ("agentui.store",),
    "anyio": ("agentui.mcp.streams",),
    "argon2": ("agentui.accounts.passwords",),
    "asyncpg": ("agentui.store",),
    "authlib": ("agentui.accounts.provider",),
    "cryptography": ("agentui.secrets", "agentui.accounts.passkey_way"),
    "genai_prices": ("agentui.usage.prices",),
    "httptools": ("agentui.upstream.http",),
    "httpx": ("agentui.sdk",),
    "httpx2": ("agentui.mcp.streams",),
    "jinja2": ("agentui.templating.hadtavern",),
    "jmespath": ("agentui.pipeline.nodes.data.queries",),
    "jsonpath": ("agentui.pipeline.nodes.data.queries",),
    "joserfc": ("agentui.accounts.tokens", "agentui.accounts.provider"),
    "jsonschema": ("agentui.tools.schemas",),
    "mcp": ("agentui.mcp",),
    "mcp_types": ("agentui.mcp",),
    "networkx": ("agentui.pipeline",),
    "opentelemetry": ("agentui.api.ops.tracing",),
    "prometheus_client": ("agentui.api.ops.metrics",),
    "prompt_toolkit": ("agentui.terminal",),
    "pydantic_settings": ("agentui.settings",),
    "python_socks": ("agentui.upstream.http",),
    "referencing": ("agentui.tools.schemas",),
    "regex": ("agentui.regexes",),
    "rich": ("agentui.terminal",),
    "sqlalchemy": (
        "agentui.operations",
        "agentui.accounts",
        "agentui.chats",
        "agentui.definitions",
        "agentui.jobs",
        "agentui.library",
        "agentui.mcp",
        "agentui.memories",
        "agentui.owned.rows",
        "agentui.profiles",
        "agentui.search",
        "agentui.store",
        "agentui.turns",
        "agentui.usage",
        "agentui.variables",
    ),
    "structlog": ("agentui.logs",),
    "uvloop": ("agentui.serving.stopping",),
    "webauthn": ("agentui.accounts.passkey_way",),
    "yaml": ("agentui.tools.vars.front_matter",),
}
"""The one place that may import each library that is not everybody's; SQLAlchemy's are those that hold transactions."""
EVERYBODYS = {"aiohttp", "orjson", "pydantic", "typing_extensions", "yarl"}


@pytest.fixture(scope="module")
def graph() -> nx.DiGraph:
    """The graph of agentui's imports."""
    return import_graph(ROOT / "agentui")


def test_imports_go_in_no_circle_not_even_for_types(graph: nx.DiGraph) -> None:
    assert circles(graph) == []


BESIDE = {
    # Every node that asks a model stands on it, and whatever else will ask one.
    "agentui.pipeline.model_call": "agentui.pipeline.nodes",
}
"""Files that one folder alone imports, and which are still no part of its subject."""


def test_no_file_lies_beside_the_folder_that_is_its_subject(graph: nx.DiGraph) -> None:
    assert loose_files(graph) == BESIDE


def test_a_library_is_imported_in_one_place(graph: nx.DiGraph) -> None:
    found = importers(graph)
    assert found.keys() == IMPORTED_IN.keys() | EVERYBODYS
    for library, places in IMPORTED_IN.items():
        others = {module for module in found[library] if not any(f"{module}.".startswith(f"{place}.") for place in places)}
        assert not others, f"{library} belongs to {', '.join(places)}"


def test_the_graph_shows_circles_loose_files_and_importers(tmp_path: Path) -> None:
    package = tmp_path / "shop"
    for name, text in {
        "__init__.py": "",
        "customer.py": "from shop.orders import order",
        "orders/__init__.py": "",
        "orders/order.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shop.orders.line import Line",
        "orders/line.py": "def price():\n    from shop.orders.order import Order\n    import httptools.parser",
        "discount.py": "import json",
        "orders/total.py": "from shop.discount import half",
    }.items():
        (package / name).parent.mkdir(exist_ok=True, parents=True)
        (package / name).write_text(text)
    graph = import_graph(package)
    assert circles(graph) == [["shop.orders.line", "shop.orders.order"]]
    assert loose_files(graph) == {"shop.discount": "shop.orders"}
    assert importers(graph) == {"httptools": {"shop.orders.line"}}


@pytest.mark.timeout(300)
def test_the_maintainers_scripts_have_no_type_errors() -> None:
    scripts = sorted(path.name for path in VENDOR_BUILD.glob("*.py"))
    assert "vendor.py" in scripts
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        "",
        "--cache-dir",
        str(ROOT / ".mypy_cache"),
        *scripts,
    ]
    run = subprocess.run(command, cwd=VENDOR_BUILD, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def check_js(*files: Path) -> subprocess.CompletedProcess[str]:
    """Check the types of these modules, or of all in ``static/js``; skips where there is no deno, or no way to the types."""
    command = [sys.executable, str(VENDOR_BUILD / "check_js.py"), *map(str, files)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode in (NO_DENO, NO_TYPES):
        skip(run.stderr.splitlines()[0])
    return run


@contextmanager
def once_for_what_is_there(config: pytest.Config, name: str) -> Iterator[None]:
    """Skip what was good the last time over the same ``static`` and the same test; where all must run, skip nothing."""
    read = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(path for path in (ROOT / "static").rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        read.update(f"{path}\0".encode() + path.read_bytes())
    cache: pytest.Cache | None = getattr(config, "cache", None)
    if cache is not None and not must_run() and cache.get(f"agentui/{name}", None) == read.hexdigest():
        pytest.skip("Nothing in static/ has changed since this was good.")
    yield
    if cache is not None:
        cache.set(f"agentui/{name}", read.hexdigest())


@pytest.mark.timeout(300)
def test_the_pages_own_javascript_has_no_type_errors(pytestconfig: pytest.Config) -> None:
    with once_for_what_is_there(pytestconfig, "types of the page"):
        run = check_js()
        assert run.returncode == 0, run.stderr[-8000:]


TYPED = """\
import { React, Flow } from "VENDOR/ui.js";
import { state } from "VENDOR/codemirror.js";
/** @type {string} */
export const side = Flow.Position.Left;
export const canvas = React.createElement(Flow.ReactFlow, { nodes: [] });
export const code = state.EditorState.create({ doc: "3" });
/** @param {string} path */
export function open(path) { return path; }
"""
MISTAKES = [
    ("@type {string}", "@type {number}", "TS2322"),
    ("{ nodes: [] }", "{ nodez: [] }", "TS2769"),
    ('{ doc: "3" }', "{ doc: 3 }", "TS2322"),
    ("/** @param {string} path */", "", "TS7006"),
]


@pytest.mark.timeout(300)
def test_the_bundles_are_typed_as_their_packages_are(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    with once_for_what_is_there(pytestconfig, "types of the bundles"):
        good = TYPED.replace("VENDOR", VENDOR_BUILD.parent.as_uri())
        bad = good
        for right, wrong, _ in MISTAKES:
            bad = bad.replace(right, wrong)
        (tmp_path / "good.js").write_text(good)
        (tmp_path / "bad.js").write_text(bad)
        run = check_js(tmp_path / "good.js", tmp_path / "bad.js")
        assert run.returncode == JS_ERRORS
        assert "good.js:" not in run.stderr, run.stderr
        assert sorted(re.findall(r"^(TS\d+) \[ERROR\]: (?! )", run.stderr, re.M)) == sorted(code for _, _, code in MISTAKES)
