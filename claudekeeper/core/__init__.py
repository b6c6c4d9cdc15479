"""Files, tasks, configuration and time: nothing here knows Claude Code."""
