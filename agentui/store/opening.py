"""Which store the settings ask for."""

from pathlib import Path

from agentui.errors import Unsupported
from agentui.store.address import place_of
from agentui.store.base import Store
from agentui.store.sqlite import SqliteStore

FILE = "agentui.db"


def open_store(database_url: str | None, data: Path) -> Store:
    """The store, not yet started: PostgreSQL where a URL names it, else the file ``agentui.db`` in the data folder.

    Raises ValueError for a URL that is not PostgreSQL's, and Unsupported when its driver is not installed.
    """
    if database_url is None:
        return SqliteStore(data / FILE)
    place_of(database_url)  # A URL that is none is said before a driver is asked for.
    try:
        from agentui.store.postgres import PostgresStore  # an extra: only needed here
    except ImportError as error:
        raise Unsupported("PostgreSQL needs its driver: pip install -e '.[postgres]' in agentui's folder.") from error
    return PostgresStore(database_url)
