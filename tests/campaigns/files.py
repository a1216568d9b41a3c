"""Pipeline and preset files cut at every byte and flipped at every bit, in folders that are being served (reliability S7).

After each damage the folder's library must serve the last good version, say what is wrong and where, and leave the neighbours
as they were; what is not damaged enough to notice (a letter in a name) is the new good version, letter for letter.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import aiohttp

from agentui.demo import DemoSettings, start_demo
from agentui.documents.document import Entry
from agentui.documents.folder import FolderLibrary
from agentui.jsonio import Json, dumps
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.node import Catalog
from agentui.pipeline.nodes import BUILTIN
from agentui.presets import PresetLibrary
from tests.campaigns.campaign import Campaign, Trial
from tests.conftest import ROOT, Server, call, servers

NEIGHBOUR: Final = "neighbour"
VICTIM: Final = "victim"
_RESTART_EVERY = 50


@dataclass(frozen=True, slots=True)
class Damage:
    """One file that was good: cut before ``offset``, or with one bit of the byte there turned over (``bit`` from 0)."""

    kind: str
    name: str
    offset: int
    bit: int | None

    def of(self, data: bytes) -> bytes:
        """What is left of the file."""
        if self.bit is None:
            return data[: self.offset]
        flipped = data[self.offset] ^ 1 << self.bit
        return data[: self.offset] + bytes((flipped,)) + data[self.offset + 1 :]


class Folder:
    """A library over a folder of two files, one of which is damaged again and again."""

    def __init__(self, kind: str, root: Path) -> None:
        self.kind = kind
        self._root = root
        (root / kind).mkdir(parents=True)
        self.file = root / kind / f"{VICTIM}.json"
        neighbour = (ROOT / kind / "demo.json").read_bytes()
        (root / kind / f"{NEIGHBOUR}.json").write_bytes(neighbour)
        self.library = self.open()
        self.served: Json = None
        """The last good document of the victim."""

    def open(self) -> FolderLibrary[Any]:
        """A library over the folder, as a server makes one when it starts."""
        folder, data = self._root / self.kind, self._root / "data"
        library: FolderLibrary[Any]
        if self.kind == "pipelines":
            library = PipelineLibrary(folder, data, Catalog(BUILTIN), NEIGHBOUR)
        else:
            library = PresetLibrary(folder, data)
        library.refresh()
        return library

    def put(self, data: bytes) -> Entry[Any]:
        """Write the victim as a careless program would, in place, and let the library look."""
        self.file.write_bytes(data)
        self.library.refresh()
        return self.library.entry(VICTIM)


async def cut_files(trial: Trial) -> None:
    """The shipped pipelines and presets: every cut, every flipped bit; a short form takes a sample of them."""
    good = {
        (kind, path.stem): path.read_bytes()
        for kind in ("pipelines", "presets")
        for path in sorted((ROOT / kind).glob("*.json"))
    }
    every = list(_damages(good))
    trial.figures["possible"] = len(every)
    chosen = every if trial.size >= len(every) else _sample(trial.random, every, good, trial.size)
    folders = {kind: Folder(kind, trial.folder / kind) for kind in ("pipelines", "presets")}
    current: tuple[str, str] | None = None
    for damage in chosen:
        if trial.is_over():
            break
        folder = folders[damage.kind]
        whole = good[damage.kind, damage.name]
        if (damage.kind, damage.name) != current:
            current = damage.kind, damage.name
            folder.put(whole)
            folder.served = json.loads(whole)
        _damage(trial, folder, damage, whole)
    await serve_damaged(trial)


def _damages(good: Mapping[tuple[str, str], bytes]) -> Iterator[Damage]:
    """Every cut and every bit of every file."""
    for (kind, name), data in good.items():
        yield from (Damage(kind, name, offset, None) for offset in range(len(data)))
        yield from (Damage(kind, name, offset, bit) for offset in range(len(data)) for bit in range(8))


def _sample(random: Random, every: list[Damage], good: Mapping[tuple[str, str], bytes], size: int) -> list[Damage]:
    """Every cut of the smallest pipeline, and others by chance, in the order of the files."""
    smallest = min((key for key in good if key[0] == "pipelines"), key=lambda key: len(good[key]))
    cuts = [number for number, each in enumerate(every) if (each.kind, each.name) == smallest and each.bit is None]
    others = random.sample(range(len(every)), max(0, size - len(cuts)))
    return [every[number] for number in sorted({*cuts, *others})]


def _damage(trial: Trial, folder: Folder, damage: Damage, whole: bytes) -> None:
    """Damage the file, and check what the library makes of it."""
    trial.counts["files"] += 1
    data = damage.of(whole)
    try:
        entry = folder.put(data)
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        trial.fail(f"{damage}: {type(error).__name__}: {error}")
        folder.library = folder.open()
        return
    document = _document(data)
    if entry.is_valid:
        trial.counts["still good"] += 1
        if document is None or entry.good is None or entry.good.document != document:
            trial.fail(f"{damage}: the library serves what the file does not say")
        folder.served = document
    else:
        trial.counts["refused"] += 1
        _check_refusal(trial, damage, entry, is_json=document is not None)
    if entry.good is None or entry.good.document != folder.served:
        trial.fail(f"{damage}: the last good version does not serve")
    if not folder.library.entry(NEIGHBOUR).is_valid:
        trial.fail(f"{damage}: another file is affected")
    if trial.counts["files"] % _RESTART_EVERY == 0:
        _restart(trial, folder, damage)


def _check_refusal(trial: Trial, damage: Damage, entry: Entry[Any], *, is_json: bool) -> None:
    """A refused file says where it is wrong: its line and column, or the node or field."""
    errors = [problem for problem in entry.problems if problem.severity == "error"]
    if not errors or any(not problem.message for problem in errors):
        trial.fail(f"{damage}: nothing says what is wrong: {entry.problems}")
    elif not is_json and not (errors[0].line and errors[0].column):
        trial.fail(f"{damage}: no line and column: {errors[0]}")
    elif is_json and not any(
        problem.field or problem.node or problem.line or problem.code != "spec.invalid" for problem in errors
    ):
        trial.fail(f"{damage}: neither node nor field: {errors}")


def _restart(trial: Trial, folder: Folder, damage: Damage) -> None:
    """A server that starts now serves the last good version too."""
    trial.counts["restarts"] += 1
    entry = folder.open().entry(VICTIM)
    if entry.good is None or entry.good.document != folder.served:
        trial.fail(f"{damage}: after a restart the last good version does not serve")


def _document(data: bytes) -> Json:
    """What a careful other parser takes the bytes for; None where they are no JSON object."""
    try:
        document = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except ValueError:
        return None
    if not isinstance(document, dict) or any(
        0xD800 <= ord(each) <= 0xDFFF for each in json.dumps(document, ensure_ascii=False)
    ):
        return None
    return document


def _refuse(name: str) -> None:
    raise ValueError(name)


# The same through a server.


async def serve_damaged(trial: Trial) -> None:
    """A real server, a real caller: requests are served by the last good version while the file is broken."""
    whole = (ROOT / "pipelines" / "demo.json").read_bytes()
    every = list(_damages({("pipelines", "demo"): whole}))
    cuts = [damage for damage in every if damage.bit is None]
    number = max(5, min(len(cuts), trial.size // 800))
    chosen = [*trial.random.sample(cuts, number), *trial.random.sample(every, number)]
    demo = await start_demo(settings=DemoSettings(delay=0))
    try:
        async with servers(trial.folder) as start, aiohttp.ClientSession() as session:
            server = await start(
                {VICTIM: json.loads(whole), NEIGHBOUR: call("caller", demo.origin)},
                named_origins={"demo": demo.origin},
                active=NEIGHBOUR,
            )
            file = server.pipelines / f"{VICTIM}.json"
            for damage in chosen:
                if trial.is_over():
                    break
                await _serve_one(trial, server, session, file, damage, whole)
    finally:
        await demo.close()


async def _serve_one(
    trial: Trial, server: Server, session: aiohttp.ClientSession, file: Path, damage: Damage, whole: bytes
) -> None:
    """Damage the file, let the server look, ask it for the list and for an answer of both pipelines."""
    trial.counts["asked of a server"] += 1
    for data in (whole, damage.of(whole)):
        await asyncio.to_thread(file.write_bytes, data)
        await asyncio.to_thread(server.state.pipelines.refresh)
    async with session.get(f"{server.origin}/api/pipelines") as reply:
        listed = {each["id"]: each for each in await reply.json()}
    async with session.get(f"{server.origin}/api/pipelines/{VICTIM}") as reply:
        state = await reply.json()
    is_cut = damage.bit is None and damage.offset < len(whole.rstrip())
    if is_cut and (listed[VICTIM]["valid"] or not listed[VICTIM]["problem_count"]):
        trial.fail(f"{damage}: GET /api/pipelines does not say that something is wrong: {listed[VICTIM]}")
    if is_cut and not (
        state["problems"][0]["line"] and state["problems"][0]["column"] and state["notice"] and state["serving"]
    ):
        trial.fail(f"{damage}: GET /api/pipelines/{VICTIM} does not say what is wrong where, and what serves: {state}")
    if not listed[NEIGHBOUR]["valid"]:
        trial.fail(f"{damage}: GET /api/pipelines says that another file is wrong: {listed[NEIGHBOUR]}")
    for id in (VICTIM, NEIGHBOUR):
        body = {"model": "demo", "messages": [{"role": "user", "content": "Hello"}]}
        headers = {"content-type": "application/json"}
        async with session.post(f"{server.origin}/p/{id}/v1/chat/completions", data=dumps(body), headers=headers) as answer:
            said = await answer.read()
        # A flipped letter may name another host or model: an error of the upstream's is an answer of the new version.
        is_new = id == VICTIM and listed[VICTIM]["valid"] and answer.status != 500
        is_served = answer.status == 200 or is_new
        if not is_served:
            trial.fail(f"{damage}: {id} answers {answer.status}: {said[:300]!r}")


CAMPAIGNS = [Campaign("files.cut", cut_files, counted="files", short=1_000, long=1_000_000, short_seconds=40.0, least=0.05)]
