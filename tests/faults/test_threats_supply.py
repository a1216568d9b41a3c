"""What agentui is made of, and what its code never does (T4, T24, T29; an import runs nothing)."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CODE = sorted((ROOT / "agentui").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = [name for name in PROJECT["optional-dependencies"] if name not in ("test", "editor-dev")]
"""Groups of packages that a server may be installed with; the others are for who works on agentui."""


IMPORTED_AS = {"pystemmer": "Stemmer", "python-jsonpath": "jsonpath", "pyyaml": "yaml"}
"""Packages whose module is called otherwise."""


def name_of(requirement: str) -> str:
    return re.split(r"[\[><=;! ]", requirement, maxsplit=1)[0]


def served_with() -> set[str]:
    """Every package that a server may need, but for agentui's own name in a group of groups."""
    lines = [*PROJECT["dependencies"], *(line for extra in EXTRAS for line in PROJECT["optional-dependencies"][extra])]
    return {name_of(line) for line in lines} - {"agentui"}


def documented() -> set[str]:
    """The packages that the page about security names as what the server is made of."""
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    section = text.split("\n## What it is made of\n")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.MULTILINE))


def test_the_packages_are_the_documented_ones() -> None:
    assert documented() == served_with()


ANOTHERS = re.compile(r"(?:pip|pipx|uvx|uv add|uv tool) (?:install |run )?(?:-\S+ )*[\"'`]*agentui(?!-proxy)\b|agentui\[")
"""A command that would fetch the package index's ``agentui``, which is another project's. (A path ends in ``/agentui``.)"""


def test_nobody_is_told_to_install_another_projects_package() -> None:
    assert ANOTHERS.search("pip install -U 'agentui[sdk]'") and ANOTHERS.search("pipx run agentui")
    assert PROJECT["name"] == "agentui-proxy" and PROJECT["scripts"] == {"agentui": "agentui.__main__:main"}
    pages = [ROOT / "README.md", ROOT / "SECURITY.md", *(path for path in (ROOT / "docs").rglob("*") if path.is_file())]
    scripts = [path for path in (ROOT / "static").rglob("*.js") if "vendor" not in path.parts]
    read = [*CODE, *scripts, *(path for path in pages if path.suffix not in (".png", ".jpg", ".webp"))]
    assert [str(path) for path in read if ANOTHERS.search(path.read_text(encoding="utf-8"))] == []


def test_every_package_has_a_floor_and_those_with_a_past_have_the_version_that_mended_it() -> None:
    floors = {name_of(line): re.search(r">=([0-9.]+)", line) for line in PROJECT["dependencies"]}
    assert all(floors.values()), floors
    versions = {name: tuple(map(int, floor[1].split("."))) for name, floor in floors.items() if floor is not None}
    assert versions["aiohttp"] >= (3, 14)
    assert versions["jinja2"] >= (3, 1, 6)


@cache
def tree(path: Path) -> ast.Module:
    """A file's code; each is read by several tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[str]:
    """The top names of the modules that a file imports, wherever in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_nothing_is_imported_that_is_not_declared() -> None:
    # Two come with aiohttp, whose own interface hands out their types.
    declared = {IMPORTED_AS.get(name, name.replace("-", "_")) for name in served_with()} | {"yarl", "multidict"}
    used = {name for path in CODE for name in imports(path)} - sys.stdlib_module_names - {"agentui"}
    # A namespace (opentelemetry) is filled by several packages.
    assert [name for name in used if not any(f"{known}_".startswith(f"{name}_") for known in declared)] == []


FORBIDDEN_MODULES = frozenset(
    {"PIL", "ctypes", "dill", "lxml", "marshal", "pickle", "pty", "shelve", "tarfile", "xml", "yaml", "zipfile"}
)
"""They run what they read, unpack what they are given, or draw it."""
NEEDED = {
    "agentui/assets/files/charx.py": {"zipfile"},
    "agentui/serving/process.py": {"ctypes"},
    "agentui/tools/vars/front_matter.py": {"yaml"},
}
"""A CharX card is an archive: its members are read into memory, each within bounds, and never written under their names. The
head of a skill rule is read by YAML's base loader, which makes texts and nothing else. The process itself calls one function
of the C library, with a number: the one that gives freed memory back."""
STARTS_PROCESSES = frozenset({"agentui/bootstrap.py", "agentui/mcp/streams.py", "agentui/serving/supervisor.py"})
"""The first, before there is a server, makes the environment that a checkout runs in; the last starts agentui's own workers.
Between them: the programs of MCP servers, which the operator names, in a file or, where he lets callers do that, over the API.
None takes a word from a pipeline."""
FORBIDDEN_CALLS = frozenset({"eval", "exec", "compile", "__import__", "execfile", "input", "breakpoint"})
ASKS = {"agentui/cli.py": {"input"}}
"""The command that removes an account asks the person who typed it."""


def calls(path: Path) -> Iterator[tuple[int, str]]:
    """Calls of bare names, by line."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.lineno, node.func.id


def test_the_code_runs_no_strings_unpacks_no_archives_and_starts_no_programs() -> None:
    assert len(CODE) > 200
    for path in CODE:
        name = path.relative_to(ROOT).as_posix()
        assert not set(imports(path)) & FORBIDDEN_MODULES - NEEDED.get(name, set()), name
        assert [call for call in calls(path) if call[1] in FORBIDDEN_CALLS - ASKS.get(name, set())] == [], name
        if name in STARTS_PROCESSES:
            continue
        assert not {"subprocess", "multiprocessing"} & set(imports(path)), name
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bunpack_archive\b|\bos\.(system|popen|exec\w*|spawn\w*|fork\w*)\(|create_subprocess", text), (
            name
        )


QUADRATIC = re.compile(
    r"\b(?:email\.(?!utils\b)|cgi\b|parse_header\b|parse_content_disposition\b|MultipartReader\b)|from email import"
)
"""What reads headers in quadratic time: the standard library's email package and what stands on it."""
OF_AIOHTTP = re.compile(r"\brequest\.(?:content_type|charset|content_disposition|post|text|json|multipart)\b(?!\()?")
"""What aiohttp reads by it; ``request.read`` gives bytes."""


def test_no_header_is_read_by_the_email_package_nor_by_what_stands_on_it() -> None:
    read = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in CODE}
    named = {name: [*QUADRATIC.findall(text), *OF_AIOHTTP.findall(text)] for name, text in read.items()}
    # In words that say why.
    said = {"agentui/http/multipart.py": 2, "agentui/http/route.py": 1}
    assert {name: len(found) for name, found in named.items() if found} == said, named


def constants(path: Path) -> set[str]:
    """The names of a module that stand for texts which are written there."""
    return {
        target.id
        for node in tree(path).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def test_sql_is_never_put_together_from_texts() -> None:
    """Statements are built by SQLAlchemy with parameters, or written whole, with pieces that are constants of their module.

    SQLite's PRAGMA takes no parameters; its values are numbers of ours. What ``OneOf`` of ``prepared.py`` puts together are
    pieces that SQLAlchemy's own compiler made, a column and a parameter.
    """
    suspicious = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|ATTACH|CREATE|DROP|ALTER)\b")
    found = []
    for path in CODE:
        written = constants(path)
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.JoinedStr):
                words = "".join(
                    part.value for part in node.values if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
                given = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
                if suspicious.search(words) and not all(isinstance(one, ast.Name) and one.id in written for one in given):
                    found.append(f"{path.relative_to(ROOT).as_posix()}:{node.lineno}: {words}")
    pieces = [one for one in found if one.startswith("agentui/store/prepared.py:")]
    assert [one.partition(": ")[2] for one in pieces] == [
        " IN (SELECT value FROM json_each())",
        " = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST( AS jsonb))))",
    ]
    assert [one for one in found if one not in pieces] == [], found


def test_what_the_pages_are_made_of_stands_in_one_fixed_folder() -> None:
    """No link leads out of ``static``, and no file of it is hidden: what is served is what was written to be served."""
    static = ROOT / "static"
    for path in static.rglob("*"):
        assert not path.is_symlink(), path
        assert not any(part.startswith(".") for part in path.relative_to(static).parts if part != ".DS_Store"), path
