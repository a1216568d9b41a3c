"""The graph of a package's imports: which module imports which, those for types and those inside of functions too."""

import ast
import sys
from pathlib import Path

import networkx as nx


def import_graph(root: Path) -> nx.DiGraph:
    """Every module below ``root`` (a package), with an edge to each module and to each library that it imports.

    A module's node has its file as ``file``; a library has none.
    """
    files = {_name(root, file): file for file in sorted(root.rglob("*.py"))}
    graph = nx.DiGraph()
    for name, file in files.items():
        graph.add_node(name, file=file)
    for name, file in files.items():
        for imported in _imports(ast.parse(file.read_text(encoding="utf-8"))):
            if imported in files:
                if imported != name:
                    graph.add_edge(name, imported)
            elif (library := imported.partition(".")[0]) not in sys.stdlib_module_names and library != root.name:
                graph.add_edge(name, library)
    return graph


def _name(root: Path, file: Path) -> str:
    parts = file.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module) -> list[str]:
    """What is imported: of ``from a import b`` both ``a`` and ``a.b``, for that may be a module."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, "imports are absolute here"
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def circles(graph: nx.DiGraph) -> list[list[str]]:
    """The modules that import each other, however far around."""
    return [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1]


def loose_files(graph: nx.DiGraph) -> dict[str, str]:
    """Files beside a folder that is their subject: those which that folder alone imports, with the folder."""
    loose = {}
    for module, file in graph.nodes(data="file"):
        package = module.rpartition(".")[0]
        if file is None or file.name == "__init__.py" or not package:
            continue
        folders = {_step_below(package, importer) for importer in graph.predecessors(module)}
        if len(folders) == 1 and (folder := folders.pop()) is not None and _is_package(graph, folder):
            loose[module] = folder
    return loose


def _step_below(package: str, module: str) -> str | None:
    """The module or folder right below ``package`` that holds ``module``; None where that lies elsewhere."""
    if not module.startswith(f"{package}."):
        return None
    return f"{package}.{module.removeprefix(f'{package}.').partition('.')[0]}"


def _is_package(graph: nx.DiGraph, name: str) -> bool:
    file = graph.nodes[name].get("file") if name in graph else None
    return file is not None and file.name == "__init__.py"


def importers(graph: nx.DiGraph) -> dict[str, set[str]]:
    """The modules that import each library."""
    return {library: set(graph.predecessors(library)) for library, file in graph.nodes(data="file") if file is None}
