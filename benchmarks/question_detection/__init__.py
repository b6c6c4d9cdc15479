"""Labelled ends of sessions, and how often we read them as a person does."""
