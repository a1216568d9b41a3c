"""agentui: an LLM proxy with a visual pipeline editor and a memory."""

__version__ = "0.1.0"
