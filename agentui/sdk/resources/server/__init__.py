"""Groups of calls: server. Made by ``python -m tests.sdk.generate``."""
