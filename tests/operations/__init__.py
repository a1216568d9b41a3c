"""The operation log, and what it tells of."""
