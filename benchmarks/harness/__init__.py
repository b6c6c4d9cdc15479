"""The parts of every measurement: processes, figures, the report."""
