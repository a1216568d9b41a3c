"""A memory on each engine, as the tests of chats have it."""

from tests.chats.conftest import make_store, memory

__all__ = ["make_store", "memory"]
