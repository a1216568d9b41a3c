"""What SillyTavern sends for the same files, as data: cases, what it sent for each of them, and the comparison with ours.

``case.py`` is one case, ``cases/`` and ``recorded/`` hold them and what was sent, ``stage.py`` plays them in SillyTavern with
``page.js``, ``replay.py`` plays them here.
"""
