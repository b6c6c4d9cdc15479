"""Claude Code without an account: a scripted Messages API on loopback, and sample sessions."""
