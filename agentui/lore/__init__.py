"""Which entries of lorebooks join a prompt: SillyTavern's world info, as pure functions from data to data.

activate(LoreInput) -> LoreResult    what joins and where, why the rest does not, and the timed effects to keep

books ─▶ compiled: entries in order, keys as one table ─▶ sweeps over the chat: gates, keys, groups, chances, budget, and again
over what joined ─▶ places
"""
