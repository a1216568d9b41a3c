"""What the server speaks of: chats. Made by ``python -m tests.sdk.generate``."""
