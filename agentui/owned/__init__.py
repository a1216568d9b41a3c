"""What accounts have of their own beside what the server has: pipelines, provider presets and keys."""
