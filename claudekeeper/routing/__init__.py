"""Which conversation a command belongs to."""
