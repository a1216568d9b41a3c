"""Coding agents through agentui: the real packages where they are installed, and what they sent, replayed in every run."""
