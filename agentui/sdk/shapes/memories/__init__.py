"""What the server speaks of: memories. Made by ``python -m tests.sdk.generate``."""
