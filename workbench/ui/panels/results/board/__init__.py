"""The board: every system of a layer side by side, and those that are compared."""
