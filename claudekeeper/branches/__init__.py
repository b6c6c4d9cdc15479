"""Branches inside a session, and forks of it."""
