"""What the server speaks of: tools. Made by ``python -m tests.sdk.generate``."""
