"""The API of the operation log: what is told (``actions.py``), how it gets there (``recording.py``), and its routes."""
