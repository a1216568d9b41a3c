"""Turns: requests that belong to a chat, through a running server, on SQLite and on PostgreSQL."""
