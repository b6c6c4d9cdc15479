"""How often routing is right: labelled sequences, and both scorers on them."""
