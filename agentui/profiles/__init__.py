"""LLM profiles: providers, addresses, keys and models that an account names, and which of them serves which slot of a turn."""
