"""The conversations of work items: /conversations/{key}."""
