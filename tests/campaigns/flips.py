"""A pipeline's file that is replaced and rewritten again and again while requests run: every answer is of one version.

What replaces it whole and what writes it anew in place (as editors do, so that for a moment there is half a file) take turns.
"""

import asyncio
import itertools
from pathlib import Path

import aiohttp

from agentui.jsonio import Json, dumps_pretty
from tests.api.callers import Caller, Got, is_whole, streamed_text, text_of
from tests.campaigns.campaign import Campaign, Trial
from tests.conftest import Server, servers
from tests.faults.callers import DIALECTS
from tests.turns.house import chain, sets, text

WORDS = ("light", "dark")
CALLERS = 4


def version(word: str) -> Json:
    """A pipeline whose two nodes say a word together; between them stands enough to be cut anywhere."""
    first = sets(("run", "half", "string", word), ("run", "filler", "string", word * 500), id="first")
    return chain(first, sets(text(f"{{{{ half }}}}-{word}"), id="second"))


async def flips(trial: Trial) -> None:
    """Flip the file while callers ask."""
    versions = [dumps_pretty(version(word)) for word in WORDS]
    async with servers(trial.folder) as start:
        server = await start({"flips": version(WORDS[0])}, active="flips")
        file = server.pipelines / "flips.json"
        is_over = asyncio.Event()
        callers = [asyncio.create_task(_ask(trial, server, number, is_over)) for number in range(CALLERS)]
        try:
            for number in itertools.count(1):
                if number > trial.size or trial.is_over():
                    break
                data = versions[number % 2]
                if trial.random.random() < 0.5:
                    await asyncio.to_thread(_replace, file, data)
                else:
                    await asyncio.to_thread(_rewrite, server, file, data, trial.random.randrange(len(data)))
                await asyncio.to_thread(server.state.pipelines.refresh)
                trial.counts["flips"] += 1
                await _check_now(trial, server, number)
        finally:
            is_over.set()
            await asyncio.gather(*callers)


def _replace(file: Path, data: bytes) -> None:
    draft = file.with_suffix(".new")
    draft.write_bytes(data)
    draft.replace(file)


def _rewrite(server: Server, file: Path, data: bytes, cut: int) -> None:
    """Write the file in place, and let the server see it in the middle of that."""
    with file.open("wb") as written:
        written.write(data[:cut])
        written.flush()
        server.state.pipelines.refresh()
        written.write(data[cut:])


async def _check_now(trial: Trial, server: Server, number: int) -> None:
    """What is asked behind a flip is of the version that it made."""
    said = _said("openai", await Caller("openai", server.origin).ask(), stream=False)
    word = WORDS[number % 2]
    if said != f"{word}-{word}":
        trial.fail(f"after flip {number} to {word} the answer is {said!r}")


async def _ask(trial: Trial, server: Server, number: int, is_over: asyncio.Event) -> None:
    """Ask again and again, streamed and not, in one dialect."""
    dialect = DIALECTS[number % len(DIALECTS)]
    wanted = {f"{word}-{word}" for word in WORDS}
    caller = Caller(dialect, server.origin)
    while not is_over.is_set():
        stream = trial.random.random() < 0.5
        try:
            got = await caller.ask(stream=stream)
            said = _said(dialect, got, stream=stream)
        except (aiohttp.ClientError, TimeoutError, LookupError, ValueError) as error:
            said = f"{type(error).__name__}: {error}"
        trial.counts["answers"] += 1
        if said not in wanted:
            trial.fail(f"an answer to {dialect} is of no version: {said[:300]!r}")


def _said(dialect: str, got: Got, *, stream: bool) -> str:
    """The text of a whole answer, or what came instead."""
    if got.status != 200 or (stream and not is_whole(dialect, got.events)):
        return f"{got.status} {got.body[:200]!r}"
    return streamed_text(dialect, got.events) if stream else text_of(dialect, got.json)


CAMPAIGNS = [Campaign("files.flips", flips, counted="flips", short=100, long=1000, short_seconds=30.0)]
