"""The words index holds what is said, whoever writes it, and finds it alike on both engines."""

from pathlib import Path
from random import Random

from sqlalchemy import Connection, func, select, text

from agentui.chats.conversations import remove_session
from agentui.chats.messages import NewMessage, create_message, remove_message, update_message
from agentui.search.index import Space, fill, find_space, index_floors, index_item, open_space, story
from agentui.search.query import _COUNT_POSTGRESQL, _NEWEST_POSTGRESQL, NEWEST, candidates
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import memory_items, messages, pages, search_texts
from tests.chats.conftest import Memory
from tests.postgres import PATIENCE
from tests.search.chat import everybody, found, furnish, ranked
from tests.sqlite import RESERVE

TURNS = [
    ("Where did you put the silver key?", "Under the third stone of the well, Mira says."),
    ("我把银钥匙藏在哪里？", "在水井的第三块石头下面。"),
    ("Куда ты спрятал серебряный ключ?", "Под третьим камнем колодца."),
    ("<think>the silver key again</think>And the horse?", "It is called <b>Storm</b>."),
]


def filled(db: Connection, account: str, session_id: str) -> Space:
    """The space of a chat with all that it held."""
    open_space(db, account, session_id)
    while fill(db, account, session_id):
        pass
    space = find_space(db, account, session_id)
    assert space is not None and space.filled_to is None
    return space


def entries(db: Connection) -> int:
    """How many texts the engine's own index knows; SQLite's is checked as a whole first."""
    if db.dialect.name == "sqlite":
        db.exec_driver_sql("INSERT INTO search_words (search_words) VALUES ('integrity-check')")
    return int(db.execute(select(func.count()).select_from(search_texts)).scalar_one())


async def test_what_a_chat_held_is_found_in_every_language(memory: Memory) -> None:
    def look(db: Connection, account: str) -> None:
        furnish(db, account, "s", TURNS)
        space = filled(db, account, "s")
        assert ranked(db, account, [space], "silver keys")[0] == "s-00000-q"
        assert ranked(db, account, [space], "钥匙呢")[0] == "s-00001-q"
        assert ranked(db, account, [space], "где серебряные ключи")[0] == "s-00002-q"
        assert ranked(db, account, [space], "the stone of a well")[0] == "s-00000-a"
        assert ranked(db, account, [space], "storms") == ["s-00003-a"]
        assert ranked(db, account, [space], "again the of and 的") == []

    await memory.write(look)


async def test_a_chat_is_filled_in_parts_and_goes_on_where_it_stopped(memory: Memory) -> None:
    count = 90
    await memory.write(lambda db, account: furnish(db, account, "s", [("dragon", f"knight{n}") for n in range(count)]))
    await memory.write(open_space, "s")
    parts = 0
    while await memory.write(fill, "s"):
        parts += 1
        assert 0 < await memory.store.write(entries) < 2 * count
    assert parts > 3 and not await memory.write(fill, "s")
    assert await memory.store.write(entries) == 2 * count
    space = await memory.read(find_space, "s")
    assert (space.texts, space.filled_to) == (2 * count, None)
    assert not await memory.write(fill, "no such chat")


async def test_what_is_written_changed_and_removed_later_is_found_as_it_is(memory: Memory) -> None:
    joined = await memory.join("tale")
    opened = await memory.open(joined, "Hello?")
    await memory.write(open_space, joined.session_id)

    async def hits(question: str) -> list[str]:
        def look(db: Connection, account: str) -> list[str]:
            return ranked(db, account, [filled(db, account, joined.session_id)], question)

        return await memory.write(look)

    await memory.commit(opened.floor_id, "The dragon sleeps.")
    assert len(await hits("dragons")) == 1
    page = (await memory.rows(select(pages.c.id).where(pages.c.page_kind == "output")))[0].id
    await memory.write(lambda db, account: db.execute(text("UPDATE floors SET state = 'draft'")) and None)
    made = await memory.write(create_message, NewMessage(page, 7, "assistant", "A griffin flies by."), memory.now)
    assert await hits("griffins") == [made.id]
    await memory.write(update_message, made.id, {"content": "A phoenix flies by."}, memory.now)
    assert (await hits("griffin"), await hits("phoenix")) == ([], [made.id])
    await memory.write(remove_message, made.id, memory.now)
    assert await hits("phoenix") == []
    await memory.write(lambda db, account: db.execute(text("UPDATE floors SET state = 'committed'")) and None)
    await memory.write(remove_session, joined.session_id, memory.now)
    assert await memory.store.write(entries) == 0


async def test_a_message_of_a_chat_outside_of_the_index_is_not_put_in(memory: Memory) -> None:
    await memory.write(lambda db, account: furnish(db, account, "s", TURNS))
    await memory.write(lambda db, account: db.execute(text("UPDATE floors SET state = 'draft'")) and None)
    await memory.write(create_message, NewMessage("s-00000-q", 3, "user", "A griffin."), memory.now)
    assert await memory.store.write(entries) == 0
    await memory.write(filled, "s")
    assert await memory.store.write(entries) == 9
    await memory.write(remove_session, "s", memory.now)
    assert await memory.store.write(entries) == 0


async def test_nobody_finds_texts_of_another_chat_or_account(memory: Memory) -> None:
    def look(db: Connection, account: str) -> None:
        furnish(db, account, "s", TURNS)
        furnish(db, "somebody", "t", TURNS)
        mine, theirs = filled(db, account, "s"), filled(db, "somebody", "t")
        assert all(id.startswith("s-") for id in ranked(db, account, [mine], "silver key stone"))
        assert find_space(db, account, "t") is None
        # Not even who got hold of the space.
        assert ranked(db, account, [theirs], "silver key") == []
        assert not fill(db, account, "t")
        # What they say has no weight here.
        alone = found(db, account, [mine], "silver").rarities
        for number in range(30):
            furnish(db, "somebody", f"u{number}", [("silver", "silver")])
            filled(db, "somebody", f"u{number}")
        assert found(db, account, [mine], "silver").rarities == alone

    await memory.write(look)


async def test_memories_stand_in_the_same_order_as_messages(memory: Memory) -> None:
    def look(db: Connection, account: str) -> None:
        furnish(db, account, "s", TURNS)
        put_item(db, account, "m1", "s")
        put_item(db, account, "m2", None)
        index_item(db, account, "s", "m1", "silver key: under the well")
        index_item(db, account, None, "m2", "Mira's horse is called Storm")
        spaces = [filled(db, account, "s"), open_space(db, account, None)]
        assert set(ranked(db, account, spaces, "Is Storm a horse?")[:2]) == {"m2", "s-00003-q"}
        assert "m1" in ranked(db, account, spaces, "silver key")
        index_item(db, account, "s", "m1", "It was moved to the attic")
        assert "m1" not in ranked(db, account, spaces, "silver key")
        assert ranked(db, account, spaces, "attic") == ["m1"]
        db.execute(memory_items.delete())
        assert ranked(db, account, spaces, "attic") == []

    await memory.write(look)


def put_item(db: Connection, account: str, id: str, session_id: str | None) -> None:
    values = {"content": "", "content_form": "text", "folded": "", "importance": 0.5, "confidence": 1.0, "author": "user"}
    scope = {"scope": "global", "scope_id": account, "type": "fact", "status": "active", "lifecycle_status": "active"}
    times = {"keys_json": "[]", "entities_json": "[]", "revision": 1, "created_at": 1, "updated_at": 1}
    db.execute(memory_items.insert(), {"id": id, "account_id": account, "session_id": session_id, **scope, **values, **times})


async def test_both_engines_give_the_same_order(tmp_path: Path, database: str) -> None:
    random = Random(7)
    names = [f"{kind}{number}" for kind in ("sword", "Ёлка", "剑盾弓", "칼날") for number in range(60)]
    weights = [1 / (place + 1) for place in range(len(names))]

    def line() -> str:
        return " ".join(random.choices(names, weights, k=random.randint(1, 30)))

    turns = [(line(), line()) for _ in range(500)]
    questions = [line() for _ in range(25)]
    orders = []
    sqlite, postgres = SqliteStore(tmp_path / "agentui.db", reserve=RESERVE), PostgresStore(database, patience=PATIENCE)
    for store in (sqlite, postgres):
        await store.start()
        orders.append(await store.write(orders_of, turns, questions))
        await store.close()
    assert orders[0] == orders[1]
    assert all(len(order) > 20 for order in orders[0])


def orders_of(db: Connection, turns: list[tuple[str, str]], questions: list[str]) -> list[list[str]]:
    """What answers each of the questions in a chat of these turns."""
    furnish(db, "me", "s", turns)
    space = filled(db, "me", "s")
    return [ranked(db, "me", [space], question) for question in questions]


async def test_of_a_common_word_the_newest_texts_are_looked_at_and_of_those_that_are_seen_enough(memory: Memory) -> None:
    def look(db: Connection, account: str) -> None:
        furnish(db, account, "s", [("dragon", "dragon")] * NEWEST)
        space = filled(db, account, "s")
        some = candidates(db, account, [space], {"dragon": 1.0}, everybody)
        assert {one.text.floor_id for one in some.candidates} <= {f"s-{n:05}" for n in range(NEWEST // 2, NEWEST)}
        old = candidates(db, account, [space], {"dragon": 1.0}, lambda _, floor_id: (floor_id or "") < "s-00010")
        assert len(old.candidates) == 20
        assert some.rarities == old.rarities

    await memory.write(look)


def test_a_message_is_found_by_its_story() -> None:
    assert story("<think>no</think>a <b>bold</b> <UpdateVariable>x</UpdateVariable>word").split() == ["a", "bold", "word"]
    assert story("<think>never <i>closed").split() == ["never", "closed"]
    assert story("1 < 2 and 3 > 2") == "1 < 2 and 3 > 2"
    assert story("</think>a<StatusPlaceHolderImpl/>b").split() == ["a", "b"]


async def test_a_text_of_a_megabyte_is_put_in_and_its_beginning_found(memory: Memory) -> None:
    def look(db: Connection, account: str) -> None:
        long = " ".join(f"слово{n}" for n in range(100_000))
        wide = "剑" * 64 + " ".join(chr(0x4E00 + n % 20_000) for n in range(300_000))
        furnish(db, account, "s", [(long, wide)])
        space = filled(db, account, "s")
        assert ranked(db, account, [space], "слово7") == ["s-00000-q"]
        assert ranked(db, account, [space], "剑剑") == ["s-00000-a"]

    await memory.write(look)


async def test_no_part_holds_others_up_however_long_messages_are_and_many_versions(memory: Memory) -> None:
    def make(db: Connection, account: str) -> None:
        furnish(db, account, "s", [("short", "dragon " * 2500)] * 12)
        versions = [("s-00003", f"v{number}", f"griffin{number} " * 1500) for number in range(30)]
        times = {"account_id": account, "created_at": 1}
        for floor, id, said in versions:
            kinds = {"page_no": 1, "page_kind": "output", "is_active": False, "version": int(id[1:]) + 2, "updated_at": 1}
            db.execute(pages.insert().values(id=id, floor_id=floor, **kinds, **times))
            db.execute(messages.insert().values(id=id, page_id=id, seq=0, role="assistant", content=said, **times))
        open_space(db, account, "s")

    await memory.write(make)
    known = 0
    while await memory.write(fill, "s"):
        now = await memory.store.write(entries)
        assert 0 <= now - known <= 4
        known = now
    assert await memory.store.write(entries) == 54

    def look(db: Connection, account: str) -> None:
        space = find_space(db, account, "s")
        assert space is not None
        assert ranked(db, account, [space], "griffin29") == ["v29"]

    await memory.write(look)


async def test_a_message_of_another_session_is_not_put_into_a_space(memory: Memory) -> None:
    def look(db: Connection, account: str) -> None:
        furnish(db, account, "s", TURNS)
        furnish(db, account, "t", TURNS)
        space = open_space(db, account, "s")
        index_floors(db, account, space, ["t-00000"])
        assert ranked(db, account, [space], "silver") == []

    await memory.write(look)


async def test_postgresql_finds_words_by_its_index(database: str) -> None:
    random = Random(3)
    store = PostgresStore(database, patience=PATIENCE)
    await store.start()

    def make(db: Connection) -> None:
        turns = [(" ".join(f"word{random.randrange(5000)}" for _ in range(150)), "Yes.") for _ in range(300)]
        furnish(db, "me", "s", turns)
        filled(db, "me", "s")

    await store.write(make)

    def plans(db: Connection) -> list[str]:
        given = {"tokens": "[\"'1xword7'\"]", "account": "me", "most": 256}
        every = [(_NEWEST_POSTGRESQL, given), (_COUNT_POSTGRESQL, given)]
        found = []
        for statement, values in every:
            explained = text(f"EXPLAIN {statement._statement.text}").bindparams(**values)
            found.append("\n".join(row[0] for row in db.execute(explained)))
        return found

    assert all("Bitmap Index Scan on search_words" in plan for plan in await store.read(plans))
    await store.close()
