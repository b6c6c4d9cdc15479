"""What is typed in a terminal."""
