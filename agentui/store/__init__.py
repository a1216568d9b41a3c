"""The memory's engine: transactions as plain functions on SQLite or PostgreSQL, the schema, and its migrations."""
