"""Tools that the server runs for models."""
