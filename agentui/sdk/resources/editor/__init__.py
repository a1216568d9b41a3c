"""Groups of calls: editor. Made by ``python -m tests.sdk.generate``."""
