"""What a HadTavern file says, whichever form it has.

    {"drawflow": {"Home": {"data": {"1": {"name", "class", "data", "inputs", "outputs", "pos_x", "pos_y"}}}}}    the editor's
    {"nodes": [{"id", "type", "config", "in": {"depends": ["n1.done"]}}]}                                       a pipeline

Only the fields of nodes are told by seed 003; around them everything that looks alike is taken.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from agentui.assets.files.limits import InvalidFile
from agentui.jsonio import Json
from agentui.pipeline.plans.spec import MAX_NODES

MAX_LINKS: Final = MAX_NODES * 20

_READ: Final = frozenset({"drawflow", "nodes", "edges", "name", "description", "format"})
_DRAWN: Final = frozenset({"id", "name", "class", "data", "html", "typenode", "inputs", "outputs", "pos_x", "pos_y"})
_PLAIN: Final = frozenset({"id", "type", "name", "title", "config", "data", "in", "enabled", "on_error", "position"})


class Link(NamedTuple):
    """``target`` runs after ``source``, both by the names of the file, which it left by ``port``."""

    source: str
    target: str
    port: str


@dataclass(frozen=True, slots=True)
class FileNode:
    """A node as the file has it. ``key`` is what its links call it; ``rest`` are members that nobody knows."""

    key: str
    id: str
    type: str
    title: str
    config: Mapping[str, Json]
    position: tuple[float, float] | None
    enabled: Json
    on_error: Json
    rest: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class HadTavernFile:
    """A whole file; ``rest`` is what stands beside the nodes, ``odd`` what stood among them and is none, by its place."""

    format: Literal["drawflow", "pipeline"]
    name: str
    description: str
    nodes: tuple[FileNode, ...]
    links: tuple[Link, ...]
    rest: Mapping[str, Json]
    odd: Mapping[str, Json]


def read_file(value: Json) -> HadTavernFile:
    """Read a file's JSON. Raises InvalidFile for what is no pipeline of HadTavern's, and for too many nodes or edges."""
    if not isinstance(value, dict):
        raise InvalidFile("This is JSON, but no object.")
    drawn = value.get("drawflow")
    found: Mapping[str, Json] | None = _by_key(_home(drawn)) if isinstance(drawn, dict) else _by_key(value.get("nodes"))
    if found is None:
        raise InvalidFile("This is no pipeline of HadTavern's: it has neither drawflow.Home.data nor nodes.")
    if not found:
        raise InvalidFile("The pipeline has no nodes.")
    if len(found) > MAX_NODES:
        raise InvalidFile(f"The pipeline has {len(found)} nodes; a pipeline has at most {MAX_NODES}.", is_too_large=True)
    is_drawn = isinstance(drawn, dict)
    read = _drawn if is_drawn else _plain
    nodes = tuple(read(key, node) for key, node in found.items() if isinstance(node, dict))
    links = dict.fromkeys(_links(found, value, is_drawn=is_drawn))
    rest = {name: each for name, each in value.items() if name not in _READ or (name == "edges" and not isinstance(each, list))}
    if isinstance(drawn, dict) and (others := _other_modules(drawn)):
        rest["drawflow"] = others
    return HadTavernFile(
        "drawflow" if is_drawn else "pipeline",
        _text(value.get("name")),
        _text(value.get("description")),
        nodes,
        tuple(links),
        rest,
        {key: node for key, node in found.items() if not isinstance(node, dict)},
    )


def _module(drawn: Mapping[str, Json]) -> str:
    """The sheet that is read: Home, else the first that has nodes."""
    named = [name for name, sheet in drawn.items() if isinstance(sheet, dict) and isinstance(sheet.get("data"), dict | list)]
    return "Home" if "Home" in named or not named else named[0]


def _home(drawn: Mapping[str, Json]) -> Json:
    sheet = drawn.get(_module(drawn))
    return sheet.get("data") if isinstance(sheet, dict) else None


def _other_modules(drawn: Mapping[str, Json]) -> dict[str, Json]:
    """The sheets that are not read, and what stands beside the nodes of the one that is."""
    read = _module(drawn)
    others = {name: sheet for name, sheet in drawn.items() if name != read and sheet not in ({}, {"data": {}})}
    beside = {name: each for name, each in drawn[read].items() if name != "data"}
    return {**others, read: beside} if beside else others


def _by_key(nodes: Json) -> Mapping[str, Json] | None:
    """Nodes by what links call them; None where there is no place for nodes."""
    if isinstance(nodes, dict):
        return nodes
    if not isinstance(nodes, list):
        return None
    found: dict[str, Json] = {}
    for number, node in enumerate(nodes, 1):
        key = _text(node.get("id")) if isinstance(node, dict) else ""
        found[key if key and key not in found else f"{key or 'node'}#{number}"] = node
    return found


def _drawn(key: str, node: Mapping[str, Json]) -> FileNode:
    config = node.get("data")
    inner = config if isinstance(config, dict) else {}
    rest = {name: each for name, each in node.items() if name not in _DRAWN}
    if not isinstance(config, dict) and config not in (None, "", []):
        rest["data"] = config
    own = inner.get("_origId", inner.get("id"))
    place = (node.get("pos_x"), node.get("pos_y"))
    return FileNode(
        key,
        _text(own) or _text(node.get("id")) or key,
        _text(node.get("class")) or _text(node.get("name")) or _text(inner.get("type")),
        _text(inner.get("title")),
        {name: each for name, each in inner.items() if name not in ("_origId", "id", "type", "title")},
        _position(*place),
        None,
        None,
        rest,
    )


def _plain(key: str, node: Mapping[str, Json]) -> FileNode:
    config = node.get("config", node.get("data"))
    place = node.get("position")
    place = place if isinstance(place, dict) else {}
    rest = {name: each for name, each in node.items() if name not in _PLAIN}
    if not isinstance(config, dict) and config not in (None, "", []):
        rest["config"] = config
    return FileNode(
        key,
        _text(node.get("id")) or key,
        _text(node.get("type")) or _text(node.get("name")),
        _text(node.get("title")) or (_text(node.get("name")) if node.get("type") else ""),
        {name: each for name, each in (config if isinstance(config, dict) else {}).items() if name != "_origId"},
        _position(place.get("x"), place.get("y")),
        node.get("enabled"),
        node.get("on_error"),
        rest,
    )


def _links(nodes: Mapping[str, Json], value: Mapping[str, Json], *, is_drawn: bool) -> Iterator[Link]:
    """Every link, some twice. Raises InvalidFile for too many."""
    for count, link in enumerate(_drawn_links(nodes) if is_drawn else _plain_links(nodes, value)):
        if count >= 2 * MAX_LINKS:
            raise InvalidFile(f"The pipeline has more than {MAX_LINKS} edges.", is_too_large=True)
        yield link


def _drawn_links(nodes: Mapping[str, Json]) -> Iterator[Link]:
    """Drawflow tells each connection at both of its ends; the port is the name of the output."""
    for key, node in nodes.items():
        if not isinstance(node, dict):
            continue
        for output, end in _ends(node.get("outputs")):
            yield Link(key, _text(end.get("node")), output)
        for _, end in _ends(node.get("inputs")):
            yield Link(_text(end.get("node")), key, _text(end.get("input")) or "output_1")


def _ends(sides: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for name, side in sides.items() if isinstance(sides, dict) else ():
        connections = side.get("connections") if isinstance(side, dict) else None
        for end in connections if isinstance(connections, list) else ():
            if isinstance(end, dict):
                yield name, end


def _plain_links(nodes: Mapping[str, Json], value: Mapping[str, Json]) -> Iterator[Link]:
    """``in`` names what a node waits for: ``n1.done``, or a list of such; edges may stand beside the nodes too."""
    for key, node in nodes.items():
        named = node.get("in") if isinstance(node, dict) else None
        for each in named.values() if isinstance(named, dict) else [named]:
            for source in each if isinstance(each, list) else [each]:
                if isinstance(source, str) and source.strip():
                    name, _, port = source.strip().partition(".")
                    yield Link(name, key, port or "done")
    edges = value.get("edges")
    for edge in edges if isinstance(edges, list) else ():
        if isinstance(edge, dict):
            source, target = (edge.get("from", edge.get("source")), edge.get("to", edge.get("target")))
            yield Link(_text(source), _text(target), _text(edge.get("from_port")) or "done")


def _position(x: Json, y: Json) -> tuple[float, float] | None:
    numbers = [
        float(each) for each in (x, y) if isinstance(each, int | float) and not isinstance(each, bool) and abs(each) < 10**9
    ]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def _text(value: Json) -> str:
    """A text, or a number as one; "" for everything else."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
