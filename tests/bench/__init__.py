"""Benchmarks: agentui against a bare aiohttp hop, in one run. Not tests; run ``python -m tests.bench``."""
