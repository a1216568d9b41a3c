"""The shapes of what goes in and out of the server's own API: plain data, which a client can share with the server."""
