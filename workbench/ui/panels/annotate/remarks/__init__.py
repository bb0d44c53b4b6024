"""Notes and flags."""
