"""Nodes that decide what runs and who answers."""
