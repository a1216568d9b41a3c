"""A witness: callers who talk to a server until it is gone, what they were told was kept, and whether it was.

Every caller has a session of its own and says nothing twice, so that a turn that is lost, doubled or half is seen in the
database by itself. The checks read the tables, not the API: a fault of the API hides nothing.
"""

import asyncio
import json
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import aiohttp

from tests.api.callers import DIALECTS, Caller, is_whole
from tests.turns.house import Json, chain, sets, target
from tests.upstreams.step import SCENARIOS

ANSWER = SCENARIOS["text"].words()
DECLARED = {409, 503}
"""What a caller may hear besides an answer while processes and databases die: another turn holds the branch; try again."""
_PATIENCE = 120.0
"""Seconds after which a server that neither answers nor dies hangs."""


def counting(origin: str) -> Json:
    """A pipeline that counts turns in the branch, and tells floor and page of it."""
    count = sets(
        ("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"),
        ("floor", "gold_then", "json", "{{ gold|default(0)|add(1) }}"),
        ("page", "said", "string", "{{ chat.last_user }}"),
    )
    return chain(count, target("caller", origin))


class Tables(Protocol):
    """A database, read beside the server."""

    async def rows(self, query: str) -> list[Sequence[Any]]:
        """What a query finds."""


@dataclass(frozen=True)
class File:
    """SQLite's."""

    path: Path

    async def rows(self, query: str) -> list[Sequence[Any]]:
        """What a query finds."""
        return await asyncio.to_thread(self._rows, query)

    def _rows(self, query: str) -> list[Sequence[Any]]:
        with closing(sqlite3.connect(self.path, timeout=60)) as db:
            return list(db.execute(query).fetchall())


@dataclass
class Told:
    """What one caller was told: the words of each floor that was kept, and the last number that was."""

    session: str
    id: str = ""
    words: dict[str, str] = field(default_factory=dict)
    number: int = 0


@dataclass
class Witness:
    """Callers of one server, one after the other incarnation of it."""

    random: random.Random
    told: dict[str, Told] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    surprises: list[str] = field(default_factory=list)
    acknowledged: int = 0
    _said: int = 0

    async def talk(self, origin: str, session: str) -> None:
        """Take turns and write variables in a session until the server is gone."""
        told = self.told.setdefault(session, Told(session))
        while True:
            try:
                async with asyncio.timeout(_PATIENCE):
                    if told.id and self.random.random() < 0.2:
                        await self.write(origin, told)
                    else:
                        await self.turn(origin, told)
            except (aiohttp.ClientError, OSError) as error:
                if isinstance(error, TimeoutError):
                    self.surprises.append(f"{session}: no answer came in {_PATIENCE:g} seconds.")
                return

    async def turn(self, origin: str, told: Told) -> None:
        """A turn in a random dialect, streamed or not."""
        self._said += 1
        words, dialect, stream = f"{told.session}.{self._said}", self.random.choice(DIALECTS), self.random.random() < 0.5
        caller = Caller(dialect, origin, prefix="/p/count", headers={"x-agentui-session": told.session})
        got = await caller.ask(words, stream=stream)
        if got.status != 200:
            await self._refused(got.status, f"turn {words}: {got.body[:300]!r}")
        elif got.headers.get("x-agentui-not-saved"):
            self.counts["turns not saved"] += 1
        elif stream and not is_whole(dialect, got.events):
            self.counts["streams cut"] += 1
        else:
            self.acknowledged += 1
            told.id = got.headers["x-agentui-session"]
            told.words[got.headers["x-agentui-floor"]] = words

    async def write(self, origin: str, told: Told) -> None:
        """A batch of two variables that must always be equal."""
        number = self._said = self._said + 1
        items = [{"scope": "chat", "scope_id": told.id, "key": key, "value": number} for key in ("left", "right")]
        got = await _put(origin, "/variables/batch", {"items": items})
        if got != 200:
            await self._refused(got, f"batch {number} of {told.session}")
        else:
            told.number = number
            self.acknowledged += 1
            self.counts["acknowledged batches"] += 1

    async def _refused(self, status: int, what: str) -> None:
        self.counts[f"answers {status}"] += 1
        if status not in DECLARED:
            self.surprises.append(f"An answer {status} to {what}")
        await asyncio.sleep(0.02)

    async def heard_more(self, wanted: int, seconds: float) -> bool:
        """Wait until so much more was acknowledged; False when it takes too long."""
        wanted, end = self.acknowledged + wanted, time.monotonic() + seconds
        while self.acknowledged < wanted and time.monotonic() < end:  # noqa: ASYNC110  # who counts tells nobody
            await asyncio.sleep(0.005)
        return self.acknowledged >= wanted


async def _put(origin: str, path: str, body: Json) -> int:
    async with aiohttp.ClientSession() as http, http.put(origin + path, json=body) as answer:
        await answer.read()
        return answer.status


async def found_wrong(tables: Tables, witness: Witness, names: str = "%") -> list[str]:
    """Everything that is wrong with the sessions of these names (a pattern of LIKE), in words; the server may be running, but
    nobody may be talking to those sessions. Nothing may be generating."""
    mine = f"SELECT id FROM sessions WHERE name LIKE '{names}'"
    floors = await tables.rows(
        "SELECT f.id, s.name, f.session_id, f.state, r.status, f.floor_no FROM floors f JOIN sessions s ON s.id = f.session_id "
        f"LEFT JOIN runs r ON r.floor_id = f.id WHERE s.id IN ({mine}) ORDER BY f.floor_no"
    )
    said: dict[str, list[tuple[str, str, str]]] = {}
    pages: dict[str, str] = {}
    for floor, page, kind, role, content in await tables.rows(
        "SELECT p.floor_id, p.id, p.page_kind, m.role, m.content FROM pages p LEFT JOIN messages m ON m.page_id = p.id "
        f"JOIN floors f ON f.id = p.floor_id WHERE f.session_id IN ({mine}) ORDER BY p.page_no"
    ):
        said.setdefault(floor, []).append((kind, role, content))
        pages[floor] = page  # the output page comes last
    values: dict[str, dict[str, Json]] = {}
    for host, key, text in await tables.rows("SELECT scope_id, key, value_json FROM variables"):
        values.setdefault(host, {})[key] = json.loads(text)
    snapshots = dict(await tables.rows("SELECT floor_id, values_json FROM branch_snapshots"))
    locks = await tables.rows(f"SELECT floor_id FROM generations WHERE session_id IN ({mine})")
    found = [f"floor {floor} is still generating" for (floor,) in locks]
    by_session: dict[tuple[str, str], list[Sequence[Any]]] = {}
    for row in floors:
        by_session.setdefault((row[1], row[2]), []).append(row)
    kept: dict[str, str] = {}
    for (name, id), rows in by_session.items():
        gold = 0
        for number, (floor, _, _, state, run, floor_no) in enumerate(rows):
            where = f"floor {floor_no} ({floor}) of {name}"
            if floor_no != number:
                found.append(f"{where} should have the number {number}")
            if state == "failed":
                found += [f"{where} failed, yet {wrong}" for wrong in _wrong_with_failed(floor, run, said, values, pages)]
                continue
            if (state, run) != ("committed", "completed"):
                found.append(f"{where} is {state}, its run {run}")
                continue
            gold += 1
            words = said[floor][0][2]
            kept[floor] = words
            if said[floor] != [("input", "user", words), ("output", "assistant", ANSWER)]:
                found.append(f"{where} is half: {said[floor]}")
            if values.get(floor) != {"gold_then": gold} or values.get(pages[floor]) != {"gold_then": gold, "said": words}:
                found.append(f"{where} has {values.get(floor)} and {values.get(pages[floor])}, not of turn {gold}")
            if json.loads(snapshots.get(floor, "null")) != {"gold": gold}:
                found.append(f"{where} has the snapshot {snapshots.get(floor)}, not of turn {gold}")
        if values.get(f"branch:{id}:main", {}) != ({"gold": gold} if gold else {}):
            found.append(f"{name} counted {values.get(f'branch:{id}:main')}, of {gold} turns")
        chat = values.get(id, {})
        if chat.get("left") != chat.get("right"):
            found.append(f"{name} has half a batch: {chat}")
        told = witness.told.get(name)
        if told is not None and chat.get("left", 0) < told.number:
            found.append(f"{name} lost batch {told.number}: {chat}")
    found += _lost_and_doubled(kept, [told for told in witness.told.values() if _is_like(told.session, names)])
    return found


def _is_like(name: str, pattern: str) -> bool:
    return name.startswith(pattern.rstrip("%"))


def _wrong_with_failed(
    floor: str, run: str, said: dict[str, Any], values: dict[str, Any], pages: dict[str, str]
) -> Iterator[str]:
    if run not in ("failed", "cancelled"):
        yield f"its run is {run}"
    if [kind for kind, _, _ in said[floor]] != ["input"]:
        yield f"it holds {said[floor]}"
    if values.get(floor) or values.get(pages[floor]):
        yield f"it kept {values.get(floor)} and {values.get(pages[floor])}"


def _lost_and_doubled(kept: dict[str, str], every: Sequence[Told]) -> Iterator[str]:
    """``kept`` are the words of each committed floor."""
    for told in every:
        for floor, words in told.words.items():
            if kept.get(floor) != words:
                yield f"an acknowledged turn is lost: {words}, floor {floor}"
    for words, times in Counter(kept.values()).items():
        if times > 1:
            yield f"{words} was kept {times} times"
