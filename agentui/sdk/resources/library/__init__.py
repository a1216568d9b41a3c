"""Groups of calls: library. Made by ``python -m tests.sdk.generate``."""
