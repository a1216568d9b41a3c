"""What the server speaks of: editor. Made by ``python -m tests.sdk.generate``."""
