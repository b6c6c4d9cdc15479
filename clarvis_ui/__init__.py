"""Clarvis: the page of Claudekeeper, and the small server that gives it to a browser."""
