"""A chat in the terminal, on the Python client: what ``agentui chat`` does, and a small example of a whole client.

``commands`` reads what is typed, ``conversation`` asks the server, ``screen`` shows, and ``chat`` goes round in between.
"""
