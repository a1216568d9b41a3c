"""Which store the settings ask for."""

from pathlib import Path

from agentui.errors import Unsupported
from agentui.store.base import Store
from agentui.store.sqlite import SqliteStore

FILE = "agentui.db"


def open_store(database_url: str | None, data: Path) -> Store:
    """The store, not yet started: PostgreSQL where a URL names it, else the file ``agentui.db`` in the data folder.

    Raises ValueError for a URL that is not PostgreSQL's, and Unsupported when its driver is not installed.
    """
    if database_url is None:
        return SqliteStore(data / FILE)
    try:
        from agentui.store.postgres import PostgresStore  # an extra: only needed here
    except ImportError as error:
        raise Unsupported("PostgreSQL needs its driver: pip install 'agentui[postgres]'.") from error
    return PostgresStore(database_url)
