"""The library: what prompts are made of, kept in versions - characters, users, prompt presets, worldbooks, regex profiles."""
