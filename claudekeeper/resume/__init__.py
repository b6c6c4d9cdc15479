"""Where a session stands."""
