"""Memories: their routes, the rule of sight, and what becomes of them with their chats."""
