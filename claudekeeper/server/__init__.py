"""The HTTP server: the only place that knows HTTP."""
