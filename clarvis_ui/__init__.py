"""Clarvis: the page of Claudekeeper, and its server."""
