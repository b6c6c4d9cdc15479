"""The cost of the keeper, measured side by side with alternatives: `python -m benchmarks`."""
