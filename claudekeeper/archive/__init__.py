"""Deleted transcripts, kept."""
