"""``python -m tests.bench.recall``: how well and how fast a turn is reminded.

    python -m tests.bench.recall                     recall, precision, tokens and staleness, by language, beside simpler ways
    python -m tests.bench.recall --speed             a chat of 50,000 messages and 20,000 memories
    python -m tests.bench.recall --precision FOLDER  the cases of PrecisionMemBench, from a checkout of its repository
    ... --database URL                               on PostgreSQL, not on SQLite

``recall_data/LANGUAGE.tsv`` holds facts of role-play, a line of a chat for each that should bring it up, and for some the fact
that held before, which must not come up any more; ``quiet.tsv`` lines that should bring up nothing. No model is asked.
"""

import argparse
import asyncio
import gc
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random

import orjson
from sqlalchemy import Connection, bindparam, insert, update

from agentui.chat.estimates import text_tokens
from agentui.jobs.runner import JobRunner
from agentui.jsonio import Json
from agentui.memories.edges import create_edge
from agentui.memories.indexing import ChatIndexing
from agentui.memories.items import NewItem, create_item
from agentui.memories.ranking import RecallSettings
from agentui.memories.reading import Spot
from agentui.memories.recall import Question, Recall
from agentui.memories.sights import Sights
from agentui.search.index import fill, open_space
from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import branches, floors, sessions
from tests.search.chat import add_floors

DATA = Path(__file__).parent / "recall_data"
LANGUAGES = ("en", "zh", "ru")
ACCOUNT = "me"
LINE = 2
"""Tokens of what stands around a text in a prompt."""


@dataclass(frozen=True)
class Case:
    """A fact, the line that should bring it up, and what held before it."""

    fact: str
    line: str
    before: str | None


def cases_of(language: str) -> list[Case]:
    """The cases of a language."""
    rows = [line.split("\t") for line in (DATA / f"{language}.tsv").read_text().splitlines()]
    return [Case(row[0], row[1], row[2] if len(row) > 2 else None) for row in rows]


def quiet_of(language: str) -> list[str]:
    """Lines that should bring up nothing."""
    rows = [line.split("\t") for line in (DATA / "quiet.tsv").read_text().splitlines()]
    return [line for of, line in rows if of == language]


@dataclass
class Figures:
    """What a way of recalling comes to over some cases. Texts are given best first."""

    cases: int = 0
    at: dict[int, int] = field(default_factory=lambda: dict.fromkeys((1, 3, 5), 0))
    within: dict[int, int] = field(default_factory=lambda: dict.fromkeys((100, 500), 0))
    given: int = 0
    right: int = 0
    tokens: int = 0
    stale: int = 0
    updated: int = 0
    quiet: int = 0
    silent: int = 0

    def count(self, case: Case, texts: Sequence[str]) -> None:
        """Count what was recalled for a case."""
        self.cases += 1
        place = texts.index(case.fact) if case.fact in texts else None
        for most in self.at:
            self.at[most] += place is not None and place < most
        used = [text_tokens(text) + LINE for text in texts]
        for budget in self.within:
            self.within[budget] += place is not None and sum(used[: place + 1]) <= budget
        self.given += len(texts)
        self.right += place is not None
        self.tokens += sum(used)
        self.updated += case.before is not None
        self.stale += case.before in texts

    def count_quiet(self, texts: Sequence[str]) -> None:
        """Count what was recalled for a line that should bring up nothing."""
        self.quiet += 1
        self.silent += not texts

    def row(self, language: str, way: str) -> str:
        """A line of the table."""
        n = self.cases
        shares = [self.at[1] / n, self.at[3] / n, self.at[5] / n, self.within[100] / n, self.within[500] / n]
        rest = f"{self.right / max(1, self.given):.2f} | {self.tokens / n:.0f} | {self.stale}/{self.updated}"
        return f"| {language} | {way} | {' | '.join(f'{s:.2f}' for s in shares)} | {rest} | {self.silent}/{self.quiet} |"


HEAD = (
    "| | way | recall@1 | @3 | @5 | in 100 tokens | in 500 | precision | tokens | stale | silent |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)

Way = Callable[[str], Sequence[str]]


def simple_ways(every: Sequence[str], importance: Mapping[str, float]) -> dict[str, Way]:
    """Ways that know no words' languages: what is cut off at 500 tokens is as good as not there."""
    newest, best = list(reversed(every)), sorted(every, key=lambda text: -importance[text])
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE facts USING fts5(fact)")
    db.executemany("INSERT INTO facts VALUES (?)", [(text,) for text in every])

    def by_fts5(line: str) -> list[str]:
        words = re.findall(r"\w+", line)
        if not words:
            return []
        asked = " OR ".join(f'"{word}"' for word in words)
        return [row[0] for row in db.execute("SELECT fact FROM facts WHERE facts MATCH ? ORDER BY rank", (asked,))]

    return {
        "newest first": lambda line: within(newest),
        "by importance": lambda line: within(best),
        "FTS5 as it comes": lambda line: within(by_fts5(line)),
    }


def within(texts: Sequence[str], budget: int = 500) -> list[str]:
    """As many of the texts as the budget holds."""
    taken = []
    for text in texts:
        budget -= text_tokens(text) + LINE
        if budget < 0:
            break
        taken.append(text)
    return taken


def recall_on(store: Store) -> Recall:
    """Recall, as a server has it."""
    return Recall(store, Sights(store), ChatIndexing(store, JobRunner(store, "bench")))


def make_chat(db: Connection, session_id: str) -> None:
    """A chat with a floor."""
    times = {"account_id": ACCOUNT, "created_at": 1, "updated_at": 1}
    db.execute(insert(sessions).values(id=session_id, **times))
    db.execute(insert(branches).values(session_id=session_id, branch_id="main", **times))
    add_floors(db, ACCOUNT, session_id, [("...", "...")])


def know(db: Connection, session_id: str, cases: Sequence[Case], importance: Mapping[str, float]) -> None:
    """Write the facts of a chat, those that held before first."""
    make_chat(db, session_id)
    for now, case in enumerate(cases):
        ids = [
            create_item(db, ACCOUNT, NewItem("chat", session_id, "fact", text, importance=importance[text]), now).id
            for text in (case.before, case.fact)
            if text is not None
        ]
        if len(ids) == 2:
            create_edge(db, ACCOUNT, ids[1], ids[0], "updates", now)
    open_space(db, ACCOUNT, session_id)
    fill(db, ACCOUNT, session_id)


async def measure(store: Store, language: str) -> dict[str, Figures]:
    """The figures of a language, by way."""
    cases, quiet, random = cases_of(language), quiet_of(language), Random(7)
    every = [text for case in cases for text in (case.before, case.fact) if text is not None]
    importance = {text: random.randint(30, 90) / 100 for text in every}
    await store.write(know, language, cases, importance)
    recall, figures = recall_on(store), Figures()

    async def by_recall(line: str) -> list[str]:
        found = await recall.recall(ACCOUNT, Spot(language), Question(line), RecallSettings())
        return [one.text for one in found.recalled]

    for case in cases:
        figures.count(case, await by_recall(case.line))
    for line in quiet:
        figures.count_quiet(await by_recall(line))
    found = {"recall by words": figures}
    for name, way in simple_ways(every, importance).items():
        found[name] = Figures()
        for case in cases:
            found[name].count(case, way(case.line))
        for line in quiet:
            found[name].count_quiet(way(line))
    return found


async def quality(store: Store) -> None:
    """Print the table of qualities."""
    print(HEAD)
    for language in LANGUAGES:
        for way, figures in (await measure(store, language)).items():
            print(figures.row(language, way), flush=True)


MESSAGES, ITEMS, ROUNDS = 50_000, 20_000, 40


async def speed(store: Store) -> None:
    """Print what a recall takes in a long chat, and how long it holds the event loop."""
    random = Random(3)
    vocabulary = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(3, 10))) for _ in range(30_000)]
    weights = [1 / (place + 10) for place in range(len(vocabulary))]

    def say(count: int) -> str:
        return " ".join(random.choices(vocabulary, weights, k=count))

    turns = [(say(20), say(60)) for _ in range(MESSAGES // 2)]
    facts = [say(10) for _ in range(ITEMS)]

    def make(db: Connection) -> None:
        times = {"account_id": ACCOUNT, "created_at": 1, "updated_at": 1}
        db.execute(insert(sessions).values(id="long", **times))
        db.execute(insert(branches).values(session_id="long", branch_id="main", **times))
        ids = add_floors(db, ACCOUNT, "long", turns)
        leads = update(floors).where(floors.c.id == bindparam("of")).values(parent_floor_id=bindparam("before"))
        db.execute(leads, [{"of": id, "before": before} for before, id in pairwise(ids)])
        open_space(db, ACCOUNT, "long")

    await store.write(make)
    for first in range(0, ITEMS, 500):
        await store.write(add_facts, facts[first : first + 500], first)
    while await store.write(fill, "me", "long"):
        pass
    recall = recall_on(store)
    questions = [Question(say(20), say(60), say(20)) for _ in range(ROUNDS)]
    gc.collect()
    began = time.perf_counter()
    await recall.recall(ACCOUNT, Spot("long"), questions[0])
    print(f"the first, nothing kept         {(time.perf_counter() - began) * 1000:6.1f} ms")
    times, spent, held = [], [], []
    for question in questions:
        began, used = time.perf_counter(), time.process_time()
        found = await recall.recall(ACCOUNT, Spot("long"), question)
        times.append(time.perf_counter() - began)
        spent.append(time.process_time() - used)
        assert found.recalled
    for question in questions:
        watch = asyncio.create_task(longest_hold())
        await asyncio.sleep(0)
        await recall.recall(ACCOUNT, Spot("long"), question)
        watch.cancel()
        held.append(await watch)
    for what, seconds in (("a recall", times), ("its processor time", spent), ("loop held at most", held)):
        seconds.sort()
        print(f"{what:25}median {seconds[ROUNDS // 2] * 1000:6.1f} ms, longest {seconds[-1] * 1000:6.1f} ms")


def add_facts(db: Connection, facts: Sequence[str], first: int) -> None:
    """Write facts of the long chat."""
    for number, fact in enumerate(facts, first):
        source = f"long-{number % (MESSAGES // 2):05}-a"
        create_item(db, ACCOUNT, NewItem("chat", "long", "fact", fact, sources=[(source, None)]), number)


async def longest_hold() -> float:
    """The longest that the loop's own thread worked without coming to the next task, until it is cancelled: its processor time,
    for the machine may have other things to do."""
    longest = 0.0
    try:
        while True:
            began = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - began)
    except asyncio.CancelledError:
        return longest


async def precision(store: Store, folder: Path) -> None:
    """Print how many of PrecisionMemBench's single-turn cases with an expected memory pass: that one, and no other.

    A belief is a global memory whose keys are its aliases; scopes are chats here, for a memory of one is not seen from another.
    What is superseded or resolved, another user's, pinned, or an open question is asked for by other means than recall.
    """
    beliefs = orjson.loads((folder / "fixtures" / "beliefs.seed.json").read_bytes())
    cases = orjson.loads((folder / "fixtures" / "retrieval.cases.json").read_bytes())
    asked = [case for case in cases if case["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude")]
    passed, recall = 0, recall_on(store)
    for number, case in enumerate(asked):
        ids = await store.write(believe, f"case{number}", [one for one in beliefs if is_asked(one, case["scope"])])
        settings = RecallSettings(with_turns=False)
        found = await recall.recall(ACCOUNT, Spot(f"case{number}"), Question(case["query"]), settings)
        got = {ids[one.id] for one in found.recalled}
        is_right = got == set(case["expect"]["relevantBeliefs"]["shouldOnlyInclude"])
        passed += is_right
        if not is_right:
            print(f"  {case['caseId']}: {sorted(got)}")
    print(f"PrecisionMemBench: {passed} of {len(asked)} cases that expect a memory")


def is_asked(belief: Mapping[str, Json], scopes: Sequence[str]) -> bool:
    """Whether a belief is one that recall may find in these scopes."""
    is_live = belief["superseded_by"] is None and belief["resolved_at"] is None and belief["user_id"] == "test-user"
    is_recalled = not belief["pinned"] and belief["type"] != "open_question"
    return is_live and is_recalled and not {*scopes}.isdisjoint(belief["scope"])


def believe(db: Connection, session_id: str, beliefs: Sequence[Mapping[str, Json]]) -> dict[str, str]:
    """Write beliefs as memories of a chat; the belief by each memory's id."""
    make_chat(db, session_id)
    ids = {}
    for belief in beliefs:
        keys = [str(belief["canonical_name"]).replace("_", " "), *belief["aliases"]]
        new = NewItem("chat", session_id, "fact", str(belief["content"]), keys=keys)
        ids[create_item(db, ACCOUNT, new, 1).id] = str(belief["_id"])
    return ids


async def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--speed", action="store_true", help="a long chat")
    parser.add_argument("--precision", type=Path, metavar="FOLDER", help="a checkout of tenurehq/precisionMemBench")
    parser.add_argument("--database", metavar="URL", help="a PostgreSQL database, blank")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store: Store = PostgresStore(options.database) if options.database else SqliteStore(Path(folder) / "agentui.db")
        await store.start()
        try:
            if options.speed:
                await speed(store)
            elif options.precision:
                await precision(store, options.precision)
            else:
                await quality(store)
        finally:
            await store.close()


if __name__ == "__main__":
    asyncio.run(main())
