"""A turn that the server makes itself: what it is asked for, its prompt, its run, its checks and what it tells meanwhile."""
