"""SillyTavern as a client of the memory: what it sent, sent again, and the real one where it is installed."""
