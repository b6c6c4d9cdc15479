"""What the keeper and Clarvis share: listening, the check of hosts, errors and answers."""
