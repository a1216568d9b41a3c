"""Tools that this server runs for a model: what they are, who may call them, and what became of each call."""
