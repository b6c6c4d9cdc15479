"""What goes over the wire: messages, events, sessions, attention, requests, errors."""
