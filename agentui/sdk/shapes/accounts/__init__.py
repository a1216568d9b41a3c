"""What the server speaks of: accounts. Made by ``python -m tests.sdk.generate``."""
