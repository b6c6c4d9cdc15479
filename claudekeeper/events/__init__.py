"""The event bus, delivery exactly once, and transcripts that grow."""
