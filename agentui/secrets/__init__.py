"""Provider keys: where they come from and where they may go."""
