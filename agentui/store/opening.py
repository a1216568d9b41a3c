"""Which store the settings ask for."""

from importlib.util import find_spec
from pathlib import Path

from agentui.errors import Unsupported
from agentui.store.address import place_of
from agentui.store.base import NoStore, Store
from agentui.store.sqlite import SqliteStore

FILE = "agentui.db"


def make_store(database_url: str | None, data: Path, *, patience: float, is_shared: bool = False) -> Store:
    """PostgreSQL where a URL names it, else the file ``agentui.db`` in the data folder; several processes of one server
    (``is_shared``) cannot have the file. ``patience`` is how many seconds PostgreSQL is waited for. Nothing is opened yet.

    Raises ValueError for a URL that is not PostgreSQL's, and Unsupported when its driver is not installed.
    """
    if database_url is None:
        return NoStore() if is_shared else SqliteStore(data / FILE)
    place_of(database_url)  # A URL that is none is said before a driver is asked for.
    if find_spec("asyncpg") is None:
        raise Unsupported("PostgreSQL needs its driver: pip install -e '.[postgres]' in agentui's folder.")
    from agentui.store.postgres import PostgresStore  # the driver is an extra, which few have installed

    return PostgresStore(database_url, patience=patience)
