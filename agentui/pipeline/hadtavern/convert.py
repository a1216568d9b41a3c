"""A HadTavern file as a document of agentui's.

What has no counterpart stays where it stood (``config``) or stands in ``x_hadtavern`` of its node or of the document, and a
note of the report tells of it.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.documents.document import MAX_FILE_BYTES, is_id
from agentui.jsonio import InvalidJson, Json, dumps, loads
from agentui.pipeline.hadtavern.configs import CONVERTERS, Notes
from agentui.pipeline.hadtavern.file import FileNode, HadTavernFile, read_file
from agentui.pipeline.hadtavern.report import KEPT, HadTavernReport, NoteKind
from agentui.pipeline.hadtavern.rounds import BODY, put_in_loops
from agentui.pipeline.node import Catalog

TYPES: Final[Mapping[str, str]] = {
    "setvars": "SetVars",
    "providercall": "ProviderCall",
    "rawforward": "RawForward",
    "if": "If",
    "return": "Return",
    "while": "Loop",
}
"""HadTavern's types by their names in small letters, without what stands between words."""

_WIDTH, _HEIGHT, _COLUMNS = 320, 220, 5
_LETTERS = re.compile(r"[^a-z0-9]")
_NO_ID = re.compile(r"[^A-Za-z0-9_-]+")
_SIDES: Final[Mapping[str, str]] = {"output_1": "then", "true": "then", "output_2": "else", "false": "else"}
"""The ways out of an If."""
_ROUNDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("output_1", "true", "then", "body", "loop"), BODY),
    **dict.fromkeys(("output_2", "false", "else", "exit", "end"), "done"),
}
"""The ways out of a while: to what it repeats, and on."""
_DONE = frozenset({"done", "output_1", "vars", "result", "response_text", "output"})


@dataclass(frozen=True, slots=True)
class ConvertedPipeline:
    """A document, which may have problems of its own, and what became of the file."""

    document: dict[str, Json]
    report: HadTavernReport


def convert(value: Json, name: str, catalog: Catalog, limits: FileLimits) -> ConvertedPipeline:
    """The document that a file's JSON becomes; ``name`` counts where the file has none.

    Raises InvalidFile for what is no pipeline of HadTavern's, and for what is larger than a document may be.
    """
    limits.check(value)
    file = read_file(value)
    report = HadTavernReport(file.format)
    ids = _ids(file, report)
    nodes = [_node(node, number, ids[node.key], catalog, report) for number, node in enumerate(file.nodes)]
    if not nodes:
        raise InvalidFile("The pipeline has no nodes.")
    edges = put_in_loops(nodes, _edges(file, ids, nodes, catalog, report), report)
    document: dict[str, Json] = {
        "format": 1,
        "name": (file.name or name.strip() or "HadTavern")[:200],
        "nodes": nodes,
        "edges": edges,
    }
    if file.description:
        document["description"] = file.description
    _name_answer(document, report)
    rest = {**file.rest, **({"nodes": dict(file.odd)} if file.odd else {})}
    for member in file.rest:
        report.note(f"This is not used here; it is kept under {KEPT}.", field=member, kind="kept")
    for key in file.odd:
        report.note(f"This is no node; it is kept under {KEPT}.", field=f"nodes.{key}", kind="kept")
    if rest:
        document[KEPT] = rest
    report.nodes, report.edges = len(nodes), len(edges)
    return ConvertedPipeline(_checked(document), report)


def _checked(document: dict[str, Json]) -> dict[str, Json]:
    """The document, if it can be saved. Raises InvalidFile."""
    written = dumps(document)
    if len(written) > MAX_FILE_BYTES:
        raise InvalidFile(f"The pipeline has more than {MAX_FILE_BYTES} bytes.", is_too_large=True)
    try:
        loads(written)
    except InvalidJson as error:
        raise InvalidFile(f"What the file becomes is too large: {error}.", is_too_large=True) from error
    return document


def _ids(file: HadTavernFile, report: HadTavernReport) -> dict[str, str]:
    """The id of each node by its key: ``3`` is ``n3``, for that is what ``[[OUT3]]`` means."""
    ids: dict[str, str] = {}
    again: Counter[str] = Counter()
    taken: set[str] = set()
    for node in file.nodes:
        wanted = f"n{node.id}" if node.id.isascii() and node.id.isdigit() else node.id
        id = wanted if is_id(wanted) else (_NO_ID.sub("_", wanted).strip("_")[:50] or "node")
        first = id
        while id in taken:
            again[first] += 1
            id = f"{first[:50]}_{again[first] + 1}"
        taken.add(id)
        ids[node.key] = id
        if id != wanted:
            report.note(f"The id {wanted!r:.80} became {id!r}; texts that read its OUT must name it so.", id, "id")
    return ids


def _node(node: FileNode, number: int, id: str, catalog: Catalog, report: HadTavernReport) -> dict[str, Json]:
    """One node of the document."""

    def note(message: str, field: str | None = None, kind: NoteKind = "changed") -> None:
        report.note(message, id, field, kind=kind)

    named = _LETTERS.sub("", node.type.lower())
    kind = TYPES.get(named, node.type)
    kept = dict(node.rest)
    for member in kept:
        note(f"This member is not known here; it is kept under {KEPT}.", member, "kept")
    config = dict(node.config)
    if kind in catalog:
        notes = Notes(note, kept)
        config = CONVERTERS.get(named, _unchanged)(config, notes)
        _check_config(config, kind, catalog, notes)
    else:
        note(
            f"There is no node type {kind or '(none)'!r:.100} here: replace the node. Its settings are kept.", "type", "unknown"
        )
    x, y = node.position or (_WIDTH * (number % _COLUMNS), _HEIGHT * (number // _COLUMNS))
    made: dict[str, Json] = {"id": id, "type": kind[:100] or "Unknown", "config": config, "position": {"x": x, "y": y}}
    if node.title:
        made["title"] = node.title
    if isinstance(node.enabled, bool):
        made["enabled"] = node.enabled
    if node.on_error in ("fail", "continue"):
        made["on_error"] = node.on_error
    for field in ("enabled", "on_error"):
        if (value := getattr(node, field)) is not None and field not in made:
            kept[field] = value
            note(f"This value has no meaning here; it is kept under {KEPT}.", field, "kept")
    if kept:
        made[KEPT] = kept
    return made


def _unchanged(config: dict[str, Json], notes: Notes) -> dict[str, Json]:
    return config


def _check_config(config: dict[str, Json], kind: str, catalog: Catalog, notes: Notes) -> None:
    """Tell of fields that the type does not have; take out those whose values do not fit."""
    fields = catalog[kind].Params.model_fields
    for name in config:
        if name not in fields:
            notes.note(f"{kind} has no such field here; it is kept, and ignored.", name, "kept")
    try:
        catalog[kind].Params.model_validate(config)
    except ValidationError as error:
        for item in error.errors(include_url=False, include_input=False):
            first = str(item["loc"][0]) if item["loc"] else ""
            where = ".".join(map(str, item["loc"]))
            if first in config and len(item["loc"]) == 1:
                notes.keep(first, config.pop(first), f"The value does not fit: {item['msg']}. It is kept under {KEPT}.")
            elif where:
                notes.note(f"The value does not fit: {item['msg']}.", where)


def _edges(
    file: HadTavernFile, ids: Mapping[str, str], nodes: list[dict[str, Json]], catalog: Catalog, report: HadTavernReport
) -> list[Json]:
    """The document's edges; what leads nowhere, or leaves by an unknown port, is told of."""
    by_name = {**{node.id: node.key for node in file.nodes}, **{node.key: node.key for node in file.nodes}}
    kinds = {node["id"]: node["type"] for node in nodes}
    edges: dict[tuple[str, str, str], None] = {}
    for link in file.links:
        ends = [_end(end, by_name, ids) for end in (link.source, link.target)]
        if not all(ends):
            missing = link.source if not ends[0] else link.target
            text = f"A connection leads to {missing!r:.80}, which is no node; it is left out."
            report.note(text, ends[0] or ends[1] or None, kind="dropped")
            continue
        source, target = ends
        kind = kinds[source]
        sides = _SIDES if kind == "If" else _ROUNDS if kind == "Loop" else {}
        port = sides.get(link.port) or ("done" if link.port in _DONE else link.port)
        known = (*catalog[kind].ports, *((BODY,) if kind == "Loop" else ())) if kind in catalog else (port,)
        if port not in known:
            first = next(iter(known), "done")
            report.note(f"A connection left by {port!r:.80}; it leaves by {first!r} now.", source, "outputs")
            port = first
        edges[source, target, port] = None
    return [{"from": a, "to": b, **({} if port == "done" else {"from_port": port})} for a, b, port in edges]


def _end(name: str, by_name: Mapping[str, str], ids: Mapping[str, str]) -> str:
    """The id of what a connection calls ``name``; "" for what is no node. The ``n`` of ``n3`` may be one of ours."""
    # A file may call a node by megabytes, in every one of its connections: no part of a name that is known is copied.
    key = by_name[name] if name in by_name else by_name.get(name.removeprefix("n"), "")
    return ids.get(key, "")


def _name_answer(document: dict[str, Json], report: HadTavernReport) -> None:
    """HadTavern answers with the node that ran last; where several are last, the last of the file is named."""
    followed = {edge["from"] for edge in document["edges"]}
    outside = (node for node in document["nodes"] if "parent" not in node and node.get("enabled", True))
    last = [node["id"] for node in outside if node["id"] not in followed]
    if len(last) > 1:
        document["answer"] = last[-1]
        report.note(
            f"Nothing follows {len(last)} nodes. This one answers now; name another if that is wrong.", last[-1], "answer"
        )
