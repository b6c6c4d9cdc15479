"""Tokens, cost and the timeline."""
