"""Folders of JSON documents that people edit while the server runs: followed, saved whole, and kept in versions."""
