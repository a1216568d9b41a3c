"""MCP servers (Model Context Protocol): how each is reached, what tools it has, and their calls."""
