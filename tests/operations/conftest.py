"""A server with accounts on each engine."""

from tests.accounts.conftest import start_team, team
from tests.turns.conftest import engine, store_settings

__all__ = ["engine", "start_team", "store_settings", "team"]
