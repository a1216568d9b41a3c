"""Clients that know only their history, and have it sent as a session's prompt."""
