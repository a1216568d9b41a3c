"""Nodes that make values of values."""
