"""Calls that go out: every connection that agentui opens is opened here."""
