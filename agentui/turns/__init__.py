"""A turn of a chat while it happens: its service, its transactions, and requests that come twice."""
