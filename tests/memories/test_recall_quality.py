"""The goals of recall, over the evaluation's own data, and that its work does not grow with the chat."""

from pathlib import Path

from sqlalchemy import Connection

from agentui.search.index import fill, find_space, open_space
from agentui.search.query import candidates
from agentui.store.sqlite import SqliteStore
from tests.bench.recall import DATA, LANGUAGES, cases_of, measure, quiet_of
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
