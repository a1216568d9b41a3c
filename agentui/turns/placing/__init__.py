"""Where the turn of a client belongs that only sends its history."""
