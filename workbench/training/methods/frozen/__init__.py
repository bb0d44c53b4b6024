"""Feature extraction: only the head is trained."""
