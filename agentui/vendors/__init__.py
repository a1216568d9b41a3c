"""One folder per dialect: pure functions and two small stream machines each."""
