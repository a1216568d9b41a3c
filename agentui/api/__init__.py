"""HTTP: the proxied routes, the editor's API, and the guard in front of both."""
