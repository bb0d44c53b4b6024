"""Plain text, alone, with labels in its lines, or with annotations beside it."""
