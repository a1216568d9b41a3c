"""What operators ask for: health, readiness, metrics, traces, and the other workers of a server."""
