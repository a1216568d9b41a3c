"""The proxied routes: a request in a vendor's dialect, through a pipeline, and back in the caller's dialect."""
