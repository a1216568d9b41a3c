"""Groups of calls: memories. Made by ``python -m tests.sdk.generate``."""
