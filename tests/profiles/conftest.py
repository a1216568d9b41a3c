"""Servers with profiles: every test on SQLite and on PostgreSQL."""

from tests.accounts.conftest import start_team, team
from tests.turns.conftest import engine, house, start_house, store_settings

__all__ = ["engine", "house", "start_house", "start_team", "store_settings", "team"]
