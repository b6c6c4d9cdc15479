"""Which sessions there are, and what the list says about them."""
