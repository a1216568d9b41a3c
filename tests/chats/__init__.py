"""Sessions, branches, floors and turns, on both engines."""
