"""What the server speaks of: library. Made by ``python -m tests.sdk.generate``."""
