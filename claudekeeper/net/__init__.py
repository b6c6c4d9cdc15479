"""What the keeper and Clarvis share at the door: where to listen, and who may speak at all."""
