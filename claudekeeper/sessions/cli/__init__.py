"""One process of the Claude Code CLI."""
