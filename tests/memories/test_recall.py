"""A turn is reminded of what is seen from it and answers what was said, and every text tells why it is there or not."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import Connection, text, update

from agentui.jobs.runner import JobRunner
from agentui.memories.edges import create_edge
from agentui.memories.indexing import ChatIndexing
from agentui.memories.items import NewItem, change_item, create_item, delete_item
from agentui.memories.keyed import MOST_HITS
from agentui.memories.ranking import Ranking, RecallSettings
from agentui.memories.reading import Spot
from agentui.memories.recall import Question, Recall
from agentui.memories.sights import Sights
from agentui.search.index import fill, find_space, open_space
from agentui.store.tables import messages, pages
from tests.accounts.conftest import eventually
from tests.chats.conftest import Memory, make_store, memory
from tests.search.chat import add_floors, furnish

__all__ = ["make_store", "memory"]

TURNS = [
    ("Where did you put the silver key?", "Under the third stone of the well."),
    ("What is your horse called?", "Storm, after the night on which it was born."),
    ("我的剑在哪里？", "你的剑在酒馆的地窖里。"),
    ("Где карта?", "Карту я спрятала под половицей."),
]


@dataclass
class Chat:
    """A chat in the index, and how it is asked."""

    memory: Memory
    recall: Recall

    async def ask(
        self, line: str, *, floor_id: str | None = None, settings: RecallSettings | None = None, **kwargs: Any
    ) -> Ranking:
        question = Question(line, kwargs.pop("answer", ""), kwargs.pop("before", ""))
        spot = Spot("s", "main", floor_id)
        return await self.recall.recall(self.memory.account, spot, question, settings, **kwargs)

    async def add(self, content: str, **kwargs: Any) -> str:
        kwargs = {"scope": "chat", "scope_id": "s", "type": "fact", **kwargs}
        self.memory.now += 1
        item = await self.memory.write(create_item, NewItem(content=content, **kwargs), self.memory.now)
        return str(item.id)


@pytest.fixture
async def chat(memory: Memory) -> AsyncIterator[Chat]:
    """A chat of four floors."""

    def make(db: Connection, account: str) -> None:
        furnish(db, account, "s", TURNS)
        open_space(db, account, "s")
        fill(db, account, "s")

    await memory.write(make)
    yield Chat(memory, recall_on(memory))


def recall_on(memory: Memory) -> Recall:
    jobs = JobRunner(memory.store, "me")
    return Recall(memory.store, Sights(memory.store), ChatIndexing(memory.store, jobs))


def ids(ranking: Ranking) -> list[str]:
    return [one.id for one in ranking.recalled]


def reasons(ranking: Ranking) -> dict[str, str]:
    return {one.id: one.reason for one in ranking.left_out}


async def test_what_was_said_and_what_is_known_is_recalled_by_a_line_in_its_language(chat: Chat) -> None:
    fact = await chat.add("Mira hides silver things in wells")
    found = await chat.ask("Do you still have that silver key, Mira?")
    assert ids(found)[0] in (fact, "s-00000-q") and {fact, "s-00000-q"} <= {*ids(found)}
    assert {one.kind for one in found.recalled} == {"fact", "turn"}
    assert all(one.reason == "words" and one.tokens > 0 and 0 < one.score <= 1 for one in found.recalled)
    assert found.tokens == sum(one.tokens for one in found.recalled)
    assert "s-00002-a" in ids(await chat.ask("我们去酒馆拿剑吧"))
    assert "s-00003-a" in ids(await chat.ask("Посмотри, что под половицами!"))


async def test_nothing_is_recalled_by_what_nobody_said(chat: Chat) -> None:
    for line in ("", "the of and 的了", "Hello there, lovely weather!", "…!"):
        assert ids(await chat.ask(line)) == []


async def test_where_a_common_word_is_all_that_matches_it_is_left_out_and_said_so(chat: Chat) -> None:
    for number in range(40):
        await chat.add(f"Mira bought a hat of colour{number} at shop{number}")
    found = await chat.ask("Mira smiles and dances")
    assert ids(found) == [] and set(reasons(found).values()) == {"threshold"}
    assert len(ids(await chat.ask("Mira looks for shop7"))) == 1
    assert ids(await chat.ask("Mira smiles", settings=RecallSettings(threshold=0.0, nearest=0.0))) != []


async def test_the_last_answer_and_the_line_before_count_less(chat: Chat) -> None:
    key, horse = await chat.add("The key opens the attic"), await chat.add("The horse fears geese")
    settings = RecallSettings(with_turns=False)
    assert ids(await chat.ask("geese!", answer="The attic...", settings=settings)) == [horse, key]
    assert ids(await chat.ask("attic!", answer="The geese...", settings=settings)) == [key, horse]
    assert ids(await chat.ask("Go on.", answer="The geese...", settings=settings)) == [horse]
    assert ids(await chat.ask("Go on.", before="The geese...", settings=settings)) == [horse]


async def test_what_the_window_shows_and_what_stands_in_the_prompt_is_left_out(chat: Chat) -> None:
    fact = await chat.add("The silver key is under a stone", sources=[("s-00000-a", None)])
    found = await chat.ask("silver key", shown={"s-00000-q", "s-00000-a"})
    assert ids(found) == []
    assert reasons(found) == {fact: "shown", "s-00000-q": "shown"}
    assert fact not in ids(await chat.ask("silver key stone", not_items={fact}))
    assert fact in ids(await chat.ask("silver key stone", shown={"s-00001-a"}))


async def test_what_is_not_seen_from_the_place_is_not_recalled(chat: Chat) -> None:
    late = await chat.add("The silver key was sold", sources=[("s-00003-a", None)])
    assert late in ids(await chat.ask("silver key sold"))
    assert late not in ids(await chat.ask("silver key sold", floor_id="s-00002"))
    assert "s-00003-a" not in ids(await chat.ask("карта под половицей", floor_id="s-00002"))
    assert "s-00003-a" in ids(await chat.ask("карта под половицей"))

    def swipe(db: Connection, account: str) -> None:
        db.execute(update(pages).where(pages.c.id == "s-00003-a").values(is_active=False))
        db.execute(text("UPDATE sessions SET shape = shape + 1"))

    await chat.memory.write(swipe)
    found = await chat.ask("silver key sold, карта под половицей")
    assert late not in ids(found) and "s-00003-a" not in ids(found)

    def hide(db: Connection, account: str) -> None:
        db.execute(update(messages).where(messages.c.id == "s-00000-q").values(is_hidden=True))

    await chat.memory.write(hide)
    assert "s-00000-q" not in ids(await chat.ask("silver key"))


async def test_a_superseded_fact_brings_up_what_holds_now(chat: Chat) -> None:
    old, new = await chat.add("Anna lives in Prague"), await chat.add("Her home is Lisbon now")
    await chat.memory.write(create_edge, new, old, "updates", chat.memory.now)
    found = await chat.ask("How is life in Prague, Anna?")
    assert old not in ids(found)
    [one] = [one for one in found.recalled if one.id == new]
    assert (one.reason, one.detail) == ("edge", old)


async def test_an_open_loop_comes_with_the_fact_that_it_hangs_on(chat: Chat) -> None:
    fact, loop = await chat.add("The silver key is cursed"), await chat.add("Find somebody who breaks spells", type="open_loop")
    await chat.memory.write(create_edge, loop, fact, "supports", chat.memory.now)
    found = await chat.ask("Is the silver key cursed?")
    [one] = [one for one in found.recalled if one.id == loop]
    assert (one.kind, one.reason, one.detail) == ("open_loop", "edge", fact)
    shown = await chat.ask("Is the silver key cursed?", not_items={fact})
    assert loop not in ids(shown)
    for number in range(40):
        await chat.add(f"cursed thing{number} of hoard{number}")
    weak = await chat.ask("a cursed day")
    assert reasons(weak)[fact] == reasons(weak)[loop] == "threshold"


async def test_a_key_brings_its_memory_up_and_is_told(chat: Chat) -> None:
    fact = await chat.add("Deploys with Helm charts", keys=["k8s", "kube"])
    [one] = [one for one in (await chat.ask("what's my k8s story?")).recalled if one.id == fact]
    assert (one.reason, one.detail) == ("keys", "k8s")
    assert fact not in ids(await chat.ask("what's my story?"))


async def test_keys_find_what_words_do_not_from_where_it_is_seen_and_as_it_is_now(chat: Chat) -> None:
    for number in range(130):
        await chat.add(f"The who of thing{number}", entities=["dragon"])
    first = await chat.add("Rosa plays the cello", keys=["the who", "/dra+gon/"])
    world = await chat.add("Winters are long", keys=["snow"], scope="global", scope_id="global")
    late = await chat.add("The sword was sold", keys=["the who"], sources=[("s-00003-a", None)])

    async def by_keys(line: str, **kwargs: Any) -> dict[str, str]:
        return {one.id: one.detail for one in (await chat.ask(line, **kwargs)).recalled if one.reason == "keys"}

    # Function words alone; an expression; a word that more texts hold than are looked at.
    assert await by_keys("The Who!") == {first: "the who", late: "the who"}
    assert await by_keys("The who?", floor_id="s-00002") == {first: "the who"}
    assert await by_keys("a dragon, snow") == {first: "/dra+gon/", world: "snow"}
    assert await by_keys("Who is snowy?") == {}
    assert first not in ids(await chat.ask("The Who!", not_items={first}))
    # What comes and what changes after keys were read.
    second = await chat.add("Rosa plays the harp", keys=["the why"])
    assert await by_keys("The who, the why") == {first: "the who", late: "the who", second: "the why"}
    await chat.memory.write(create_edge, second, first, "updates", chat.memory.now)
    assert await by_keys("The who?") == {second: "the who", late: "the who"}
    await chat.memory.write(change_item, late, {"keys": []}, chat.memory.now)
    await chat.memory.write(delete_item, second, chat.memory.now)
    assert await by_keys("The who, the why") == {first: "the who"}


async def test_a_key_that_very_many_have_brings_up_the_newest_of_them(chat: Chat) -> None:
    every = [await chat.add(f"of{number}", keys=["the who"]) for number in range(MOST_HITS + 40)]
    settings = RecallSettings(most=1000, budget=10_000)
    assert {*ids(await chat.ask("the who", settings=settings))} == {*every[-MOST_HITS:]}


async def test_what_is_said_twice_is_recalled_once(chat: Chat) -> None:
    first, second = await chat.add("Rosa plays the cello in Vienna"), await chat.add("rosa plays the cello in Vienna!")
    found = await chat.ask("Rosa, play the cello", settings=RecallSettings(with_turns=False))
    assert len(ids(found)) == 1 and {*ids(found), *reasons(found)} == {first, second}
    assert [(one.reason, one.detail) for one in found.left_out] == [("duplicate", ids(found)[0])]


async def test_a_budget_holds_and_what_finds_no_room_is_told(chat: Chat) -> None:
    for number in range(12):
        await chat.add(f"The dragon of mountain{number} guards hoard{number} with fire and a long, long tail")
    settings = RecallSettings(budget=60, threshold=0.0, nearest=0.0, with_turns=False)
    found = await chat.ask("dragon hoard3 hoard4", settings=settings)
    assert 0 < found.tokens <= 60 and len(found.recalled) < 12
    assert set(reasons(found).values()) == {"budget"}
    few = await chat.ask("dragon", settings=RecallSettings(most=2, threshold=0.0, nearest=0.0, with_turns=False))
    assert len(few.recalled) == 2 and set(reasons(few).values()) == {"most"}
    assert (await chat.ask("dragon", settings=RecallSettings(budget=0))).recalled == ()


async def test_kinds_have_shares_of_the_budget_and_others_take_what_is_left(chat: Chat) -> None:
    for number in range(8):
        await chat.add(f"fact{number}: the dragon of mountain{number} guards a very large hoard")
    await chat.add("Kill the dragon before winter", type="open_loop")
    settings = RecallSettings(budget=80, threshold=0.0, nearest=0.0, with_turns=False, shares={"fact": 0.3, "open_loop": 0.3})
    found = await chat.ask("fact1 fact2 dragon", settings=settings)
    assert {one.kind for one in found.recalled} == {"fact", "open_loop"}
    assert found.tokens > 60


async def test_of_a_long_message_the_part_that_answers_is_recalled(memory: Memory) -> None:
    long = "It rains. " * 300 + "The lantern hangs in the crypt. " + "It snows. " * 300

    def make(db: Connection, account: str) -> None:
        furnish(db, account, "s", [("Go on.", long)])
        open_space(db, account, "s")
        fill(db, account, "s")

    await memory.write(make)
    chat = Chat(memory, recall_on(memory))
    [one] = (await chat.ask("Where is the lantern?")).recalled
    assert "The lantern hangs in the crypt." in one.text and one.tokens <= 130


async def test_a_changed_memory_is_found_by_its_new_words(chat: Chat) -> None:
    fact = await chat.add("The lantern is in the crypt")
    await chat.memory.write(change_item, fact, {"content": "The torch is in the attic"}, chat.memory.now)
    assert fact not in ids(await chat.ask("lantern crypt"))
    assert ids(await chat.ask("torch attic")) == [fact]


async def test_a_chat_comes_into_the_index_when_it_is_first_asked_and_grows_with_it(memory: Memory) -> None:
    await memory.write(lambda db, account: furnish(db, account, "s", [(f"dragon{n}", "It flies.") for n in range(100)]))
    jobs = JobRunner(memory.store, "me")
    recall = Recall(memory.store, Sights(memory.store), ChatIndexing(memory.store, jobs))
    jobs.start()
    chat = Chat(memory, recall)
    try:
        assert ids(await chat.ask("dragon7")) == []
        await eventually(lambda: space_is_full(memory))
        assert ids(await chat.ask("dragon7")) == ["s-00007-q"]
        # Turns that come later, one by one, and then more than a recall looks at.
        for number in (100, 101):
            await memory.write(go_on, number, number + 1)
            await chat.ask("dragon7")
            assert ids(await chat.ask(f"dragon{number}")) == [f"s-{number:05}-q"]
        await memory.write(go_on, 102, 140)
        await chat.ask("dragon7")
        await eventually(lambda: space_is_full(memory))
        assert ids(await chat.ask("dragon110")) == ["s-00110-q"]
    finally:
        await jobs.close()


async def space_is_full(memory: Memory) -> bool:
    space = await memory.read(find_space, "s")
    rows = await memory.rows(text("SELECT 1 FROM jobs WHERE kind = 'memories.index'"))
    return space is not None and space.filled_to is None and rows == []


def go_on(db: Connection, account: str, first: int, last: int) -> None:
    add_floors(db, account, "s", [(f"dragon{n}", "It flies.") for n in range(first, last)], first)
