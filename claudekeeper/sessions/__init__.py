"""Sessions that run."""
