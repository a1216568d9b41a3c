"""The engine of the memory, on SQLite and on PostgreSQL."""
