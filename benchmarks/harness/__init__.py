"""What every measurement needs: processes, figures, the report."""
