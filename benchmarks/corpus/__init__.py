"""Sessions made up for measuring: the same numbers give the same bytes."""
