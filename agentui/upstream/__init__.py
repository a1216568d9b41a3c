"""The one door outside: every connection that agentui opens is opened here."""
