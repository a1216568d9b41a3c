"""Groups of calls. Made by ``python -m tests.sdk.generate``."""
