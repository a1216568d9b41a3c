"""The memory's API over HTTP."""
