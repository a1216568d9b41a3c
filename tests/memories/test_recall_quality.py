"""The goals of recall, over the evaluation's own data, and that its work does not grow with the chat."""

from pathlib import Path

import pytest
from sqlalchemy import Connection

from agentui.jsonio import dumps
from agentui.search.index import fill, find_space, open_space
from agentui.search.query import candidates
from agentui.store.sqlite import SqliteStore
from tests.bench.recall import DATA, LANGUAGES, cases_of, measure, precision, quiet_of
from tests.search.chat import everybody, furnish
from tests.sqlite import RESERVE
from tests.unit.work import lines_run

GOALS = {"en": 0.70, "zh": 0.85, "ru": 0.75}
"""Of a hundred facts asked for by lines of a chat, how many are among the first three (words alone)."""


def test_the_data_are_whole() -> None:
    assert {path.name for path in DATA.iterdir()} == {"quiet.tsv", *(f"{language}.tsv" for language in LANGUAGES)}
    for language in LANGUAGES:
        cases = cases_of(language)
        assert len(cases) >= 150 and len({case.fact for case in cases}) == len(cases)
        assert all(case.fact and case.line and case.fact != case.before for case in cases)
        assert len(quiet_of(language)) >= 5


async def test_recall_by_words_reaches_its_goals_and_brings_up_nothing_that_is_stale(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "agentui.db", reserve=RESERVE)
    await store.start()
    for language, goal in GOALS.items():
        found = await measure(store, language)
        words = found["recall by words"]
        assert words.at[3] / words.cases >= goal
        assert words.within[500] / words.cases >= goal
        assert words.updated > 3 and words.stale == 0
        simple = [figures for way, figures in found.items() if way != "recall by words"]
        assert all(words.at[3] > figures.at[3] for figures in simple)
        assert all(words.right / words.given > figures.right / max(1, figures.given) for figures in simple)
    await store.close()


async def test_a_longer_chat_takes_no_more_work(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "agentui.db", reserve=RESERVE)
    await store.start()
    wanted = {word: 1.0 for number in range(8) for word in (f"common{number}", f"rare{number}")}

    def chat(db: Connection, session_id: str, floors: int) -> int:
        common = " ".join(f"common{number}" for number in range(8))
        furnish(db, "me", session_id, [(f"{common} rare{n % 400}", common) for n in range(floors)])
        open_space(db, "me", session_id)
        while fill(db, "me", session_id):
            pass
        space = find_space(db, "me", session_id)
        assert space is not None
        return lines_run(lambda: candidates(db, "me", [space], wanted, everybody))

    short, long = [await store.write(chat, f"s{floors}", floors) for floors in (400, 1600)]
    assert long <= 1.2 * short
    await store.close()


async def test_cases_of_another_benchmark_are_run_from_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    belief = {"user_id": "test-user", "type": "entity", "pinned": False, "superseded_by": None, "resolved_at": None}
    beliefs = [
        {
            **belief,
            "_id": "b1",
            "canonical_name": "old_boat",
            "aliases": ["skiff"],
            "content": "A boat of oak.",
            "scope": ["sea"],
        },
        {**belief, "_id": "b2", "canonical_name": "goat", "aliases": [], "content": "A goat named Bo.", "scope": ["land"]},
        {**belief, "_id": "b3", "canonical_name": "skiff", "aliases": [], "content": "Sold.", "scope": ["sea"], "pinned": True},
    ]
    cases = [
        {"caseId": name, "scope": scope, "query": query, "expect": {"relevantBeliefs": {"shouldOnlyInclude": ids}}}
        for name, scope, query, ids in (
            ("by a key", ["sea"], "Where is my skiff?", ["b1"]),
            ("in both", ["sea", "land"], "the goat in the boat", ["b1", "b2"]),
            ("not there", ["land"], "Where is my skiff?", ["b1"]),
            ("nothing", ["sea"], "hello", []),
        )
    ]
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "beliefs.seed.json").write_bytes(dumps(beliefs))
    (tmp_path / "fixtures" / "retrieval.cases.json").write_bytes(dumps(cases))
    store = SqliteStore(tmp_path / "agentui.db", reserve=RESERVE)
    await store.start()
    await precision(store, tmp_path)
    await store.close()
    assert capsys.readouterr().out.splitlines() == ["  not there: []", "PrecisionMemBench: 2 of 3 cases that expect a memory"]
