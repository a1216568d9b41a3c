"""The examples of the client's page, and how they are said to the client that is awaited."""

import ast
import re
from dataclasses import dataclass

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "sdk.md"
_DOWNLOADS = {
    *(("exports", name) for name in ("character", "preset", "worldbook", "regex", "chat")),
    ("chat_transfer_jobs", "get_file"),
    ("characters", "get_image"),
    ("users", "get_image"),
    ("messages", "get_blob"),
}
_WAITED_FOR = {"result", "read", "save"}


@dataclass(frozen=True)
class Example:
    """A block of the page: the line that it begins at, and its text."""

    line: int
    text: str


def programs() -> list[Example]:
    """The whole programs of the page."""
    return _blocks("python")


def examples() -> list[Example]:
    """The pieces that have a ``client``, in the order of the page; each knows the names of those before it."""
    return _blocks("python sdk")


def _blocks(info: str) -> list[Example]:
    text = PAGE.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{info}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [Example(text[: match.start(1)].count("\n"), match[1]) for match in found]


def page(*, is_async: bool) -> ast.Module:
    """All examples as one function ``page(client)``, every statement at its line of the page."""
    head = "async def page(client: AsyncTavernClient)" if is_async else "def page(client: TavernClient)"
    module = ast.parse(f"from agentui.sdk import AsyncTavernClient, TavernClient\n{head} -> None:\n    pass")
    function = module.body[1]
    assert isinstance(function, ast.AsyncFunctionDef if is_async else ast.FunctionDef)
    function.body = []
    for example in examples():
        tree = ast.parse(example.text)
        ast.increment_lineno(tree, example.line)
        function.body += (_Awaited().visit(tree) if is_async else tree).body
    return ast.fix_missing_locations(module)


class _Awaited(ast.NodeTransformer):
    """Says to ``AsyncTavernClient`` what was said to ``TavernClient``."""

    def __init__(self) -> None:
        self._streams: set[str] = set()

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Name) and called.id == "next" and self._is_walked(node.args[0]):
            return ast.Await(ast.Call(ast.Name("anext", ast.Load()), node.args, node.keywords))
        if not isinstance(called, ast.Attribute):
            return node
        if _is_walked_or_left(node):
            return node
        if _is_clients(called) or (called.attr in _WAITED_FOR and not isinstance(called.value, ast.Name)):
            return ast.Await(node)
        return node

    def visit_With(self, node: ast.With) -> ast.AsyncWith:
        names = [item.optional_vars for item in node.items]
        self._streams |= {name.id for name in names if isinstance(name, ast.Name)}
        self.generic_visit(node)
        return ast.AsyncWith(node.items, node.body)

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        if self._is_walked(node.iter):
            return ast.AsyncFor(node.target, node.iter, node.body, node.orelse)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.is_async = int(self._is_walked(node.iter))
        return node

    def _is_walked(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._streams
        return isinstance(node, ast.Call) and _is_walked_or_left(node)


def _is_clients(called: ast.Attribute) -> bool:
    """Whether a name begins with ``client.``."""
    value = called.value
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name) and value.id == "client"


def _is_walked_or_left(node: ast.Call) -> bool:
    """Whether a call gives something to walk through, which is not awaited itself."""
    called = node.func
    if not isinstance(called, ast.Attribute) or not _is_clients(called) or not isinstance(called.value, ast.Attribute):
        return False
    resource, name = called.value.attr, called.attr
    is_download = (resource, name) in _DOWNLOADS
    return is_download or name.startswith(("iterate", "stream_")) or name.endswith("_stream")
