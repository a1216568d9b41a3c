"""A pipeline that is changed while requests run through it: each request keeps the version that it began with (S9)."""

import asyncio
from collections import Counter

from agentui.jsonio import Json
from tests.api.editor_client import editing
from tests.faults.callers import Asked, Heard, ask, check_whole
from tests.faults.conftest import PATIENCE, StartHouse, until
from tests.faults.speech import streamed
from tests.turns.house import chain, sets, target, text
from tests.unit.upstream.conftest import Bytes, Visit

STREAMS = 100


def versions_of(base_url: str, word: str) -> dict[str, Json]:
    """Two pipelines that say ``word``: as the model that a streamed call asks for, and in a node behind a call."""
    called = target("openai", base_url, model=word)
    return {"during": chain(called), "after": chain(target("openai", base_url), sets(text(word), id="says"))}


async def test_a_hundred_streams_end_with_the_version_they_began_with(start_house: StartHouse, wild: Bytes) -> None:
    held: list[Visit] = []
    goes_on = asyncio.Event()

    async def echo(visit: Visit) -> None:
        """Say the model that was asked for, the first half of it at once and the rest when told to."""
        word = visit.body.partition(b'"model":"')[2].partition(b'"')[0].decode()
        said = streamed(visit.head.split(b" ")[1].decode(), f"{word} " * 8)
        half = said.index(b"\n\n", len(said) // 2) + 2
        await visit.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n", said[:half])
        held.append(visit)
        await goes_on.wait()
        await visit.say(said[half:])
        visit.writer.close()

    wild.script = echo
    house = await start_house(wild.url, versions_of(wild.url, "old"), max_per_origin=2 * STREAMS)
    ways = [pipeline for pipeline in ("during", "after") for _ in range(STREAMS // 2)]

    async def through(pipeline: str) -> Heard:
        asked = ask("openai", stream=True)
        return await house.send(Asked(f"/p/{pipeline}{asked.path}", asked.headers, asked.body))

    def check(pipeline: str, heard: Heard, word: str) -> None:
        check_whole("openai", heard, {"during": f"{word} " * 8, "after": word}[pipeline], stream=True)

    async with editing(house.server) as editor, asyncio.timeout(5 * PATIENCE):
        streams = [asyncio.ensure_future(through(pipeline)) for pipeline in ways]
        await until(lambda: len(held) == STREAMS, PATIENCE)
        old = {pipeline: (await editor.get(f"/api/pipelines/{pipeline}")).etag for pipeline in ("during", "after")}
        for pipeline, document in versions_of(wild.url, "new").items():
            saved = await editor.put(f"/api/pipelines/{pipeline}", document, if_match=old[pipeline])
            assert saved.status == 200, saved.text
        goes_on.set()
        for pipeline in ("during", "after"):
            check(pipeline, await through(pipeline), "new")
        for pipeline, heard in zip(ways, await asyncio.gather(*streams), strict=True):
            check(pipeline, heard, "old")
        new = {pipeline: (await editor.get(f"/api/pipelines/{pipeline}")).etag for pipeline in ("during", "after")}
        assert not set(old.values()) & set(new.values())
        runs = (await editor.get("/api/runs?limit=1000")).body
        shown = Counter((run["pipeline"], f'"{run["version"]}"', run["state"]) for run in runs)
        assert shown == {
            (pipeline, version, "finished"): times
            for versions, times in ((old, STREAMS // 2), (new, 1))
            for pipeline, version in versions.items()
        }
        first = (await editor.get(f"/api/runs/{runs[-1]['id']}")).body
        assert first["document"] == versions_of(wild.url, "old")[first["pipeline"]]
