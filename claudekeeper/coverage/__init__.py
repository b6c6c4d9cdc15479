"""How far a conversation covers the checklist of its project."""
