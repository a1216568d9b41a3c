"""What the server speaks of: models. Made by ``python -m tests.sdk.generate``."""
