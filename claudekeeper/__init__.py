"""Claudekeeper: the daemon that keeps every Claude Code session within reach."""

__version__ = "0.2.0"
