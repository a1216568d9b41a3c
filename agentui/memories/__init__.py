"""Memories: what chats know beyond their windows. Items with their sources (``items.py``), the edges between them
(``edges.py``), and the rule that says from where an item is seen (``sight.py``), which every reader asks."""
