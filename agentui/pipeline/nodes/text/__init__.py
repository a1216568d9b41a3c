"""Nodes that work on texts."""
