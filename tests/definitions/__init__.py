"""Tools that users define."""
