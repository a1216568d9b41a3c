"""Groups of calls: tools. Made by ``python -m tests.sdk.generate``."""
