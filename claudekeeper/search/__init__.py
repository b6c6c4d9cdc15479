"""Full-text search over all messages."""
