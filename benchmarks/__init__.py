"""What the keeper costs, measured side by side with what else there is: `python -m benchmarks`."""
