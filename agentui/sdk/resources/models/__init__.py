"""Groups of calls: models. Made by ``python -m tests.sdk.generate``."""
