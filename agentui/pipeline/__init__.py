"""The pipeline engine: what a file says, how it is understood once, and how it is executed many times."""
