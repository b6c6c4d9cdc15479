"""What Claude Code wrote, read only."""
