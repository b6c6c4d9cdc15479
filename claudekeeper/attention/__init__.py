"""Open questions: ours and those of terminals."""
