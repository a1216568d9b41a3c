"""Chats as they are kept: sessions, their branches, floors, pages and messages."""
