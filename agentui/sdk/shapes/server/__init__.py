"""What the server speaks of: server. Made by ``python -m tests.sdk.generate``."""
