"""The branches of sessions."""
