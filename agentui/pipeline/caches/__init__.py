"""What one process keeps between runs, bounded in entries and bytes."""
