"""Which session a prompt belongs to, or that it begins a new one."""
