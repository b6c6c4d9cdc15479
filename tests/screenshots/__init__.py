"""Pictures of Clarvis in every state, taken in a real browser from the demo."""
