"""Tools that users define: what each does when it is called, and which of them models are offered."""
