"""Layer 2: an open project. Edits, undo and change notifications."""
