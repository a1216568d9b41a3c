"""What starts a server: the wiring, one process that serves, and the supervisor of several."""
