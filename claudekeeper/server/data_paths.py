"""The files that a keeper works with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DataPaths:
    """Claude Code's projects, the keeper's state file and its cache; the others lie beside them."""

    projects: Path
    state: Path
    cache: Path

    @property
    def home(self) -> Path:
        """The keeper's home."""
        return self.state.parent

    @property
    def presence(self) -> Path:
        """The folder in which each Claude Code says that it runs."""
        return self.projects.parent / "sessions"

    @property
    def search_index(self) -> Path:
        """The full-text index; a cache too."""
        return self.cache.with_name(f"words-{self.cache.name}")

    @property
    def conversations(self) -> Path:
        """The conversations of work items."""
        return self.state.with_name("conversations.db")

    @property
    def routing_log(self) -> Path:
        """Why messages were routed where they were."""
        return self.state.with_name("routings.jsonl")

    @property
    def turn_journal(self) -> Path:
        """What is under way, for the next keeper."""
        return self.state.with_name("turns.json")

    @property
    def failed_turns(self) -> Path:
        """What failed turns left, for every client and every later keeper."""
        return self.state.with_name("failed-turns.json")
