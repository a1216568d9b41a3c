"""The files that people exchange: reading them into what is kept, and writing them again without losing a field.

    bytes ─▶ png.py · charx.py ─▶ JSON ─▶ cards.py · books.py · presets.py · scripts.py · chats.py ─▶ content, ImportReport

All of it is pure. What cannot be read raises ``InvalidFile``, which says what is wrong and where; what can be read but is not
used here stays in the content, and the report names it.
"""
