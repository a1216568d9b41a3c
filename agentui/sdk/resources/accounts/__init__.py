"""Groups of calls: accounts. Made by ``python -m tests.sdk.generate``."""
