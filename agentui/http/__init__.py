"""The HTTP application under every route: the guard, error shapes, reading requests, limits, OpenAPI and static pages."""
