"""Turns that did not come to their end: what is kept of them, and how they go on."""
