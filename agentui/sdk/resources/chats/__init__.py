"""Groups of calls: chats. Made by ``python -m tests.sdk.generate``."""
