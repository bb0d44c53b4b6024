"""Labelling documents, by hand and with suggestions, and the queue."""
