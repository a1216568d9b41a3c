"""Background work as rows of the database: what is to be done, and the runner that does it."""
