"""Nodes that call an upstream, and what they are made of."""
