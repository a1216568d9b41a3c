"""What the server speaks of. Made by ``python -m tests.sdk.generate``."""
