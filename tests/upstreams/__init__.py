"""Strict stand-ins for the vendors: real aiohttp servers on loopback that refuse what the vendors refuse."""
