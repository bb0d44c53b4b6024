"""Layer 2: an open project: editing through one door, undo, and word of every change."""
