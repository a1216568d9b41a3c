"""``python -m tests.bench.library``: what lists of a large library and large chats cost, on SQLite.

Ten thousand characters of 4 KB with tags: pages of 60, as the editor's library asks for them. Then a chat of 50,000 messages,
which is the most that is imported: read, kept, taken out and written.
"""

import asyncio
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time

from sqlalchemy import Connection

from agentui.assets.files.chat_lines import read_lines, write_lines
from agentui.assets.files.limits import FileLimits
from agentui.chats.listing import Paging
from agentui.jsonio import dumps
from agentui.library.assets import AssetFilter, create_asset, list_assets
from agentui.library.content import packed
from agentui.library.incoming import IncomingChat, keep_chat
from agentui.library.transfer import export_chat
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.sqlite import SqliteStore

ASSETS, MESSAGES, PAGE, ROUNDS = 10_000, 50_000, 60, 5


def fill(db: Connection, first: int, last: int) -> None:
    """Characters with these numbers, each with one of ten tags and one that all have."""
    for number in range(first, last):
        name = f"Character {number:05}"
        content = packed({"name": name, "description": "words " * 700, "first_mes": "Hello."})
        tags = ("all", f"tag {number % 10}")
        create_asset(db, DEFAULT_ACCOUNT, "character", name, content, number, tags=tags)


def lists(db: Connection) -> None:
    """Print what each kind of list takes."""
    asked: dict[str, tuple[Paging, AssetFilter]] = {
        "newest": (Paging(PAGE, 0, "updated_at", "desc"), AssetFilter()),
        "last page": (Paging(PAGE, ASSETS - PAGE, "updated_at", "desc"), AssetFilter()),
        "by name": (Paging(PAGE, 0, "name", "asc"), AssetFilter()),
        "part of a name": (Paging(PAGE, 0, "name", "asc"), AssetFilter(keyword="ter 0999")),
        "a tag of a tenth": (Paging(PAGE, 0, "updated_at", "desc"), AssetFilter(tag="tag 3")),
    }
    for name, (paging, wanted) in asked.items():
        look = partial(list_assets, db, DEFAULT_ACCOUNT, "character", paging, wanted)
        told(name, min(timed(look) for _ in range(ROUNDS)))


def chat_file() -> bytes:
    """A chat of SillyTavern's with so many messages."""
    header = {"user_name": "Ann", "character_name": "Mira", "chat_metadata": {}}
    pair = [{"name": name, "is_user": name == "Ann", "mes": "words " * 40} for name in ("Ann", "Mira")]
    return b"\n".join(map(dumps, [header, *pair * (MESSAGES // 2)]))


def timed(work: Callable[[], object]) -> float:
    """Seconds of processor time that it took."""
    began = process_time()
    work()
    return process_time() - began


def told(name: str, seconds: float) -> None:
    """A line of the table."""
    print(f"{name:24} {seconds * 1000:10.1f} ms")


async def chats(store: SqliteStore) -> None:
    """Print what a large chat takes in each step."""
    data = chat_file()
    print(f"a chat of {MESSAGES} messages, {len(data) / 1024**2:.1f} MiB")
    began = process_time()
    record = read_lines(data, FileLimits()).record
    told("read the file", process_time() - began)
    began = process_time()
    kept = await store.write(keep_chat, DEFAULT_ACCOUNT, IncomingChat(record), 1)
    told("keep it", process_time() - began)
    began = process_time()
    again = await store.read(export_chat, DEFAULT_ACCOUNT, kept.session.id, "main", include_variables=True)
    told("take it out", process_time() - began)
    told("write the file", timed(lambda: write_lines(again)))


async def main() -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "agentui.db", reserve=0)
        await store.start()
        for first in range(0, ASSETS, 500):
            await store.write(fill, first, first + 500)
        print(f"{ASSETS} characters")
        await store.read(lists)
        await chats(store)
        await store.close()


if __name__ == "__main__":
    asyncio.run(main())
