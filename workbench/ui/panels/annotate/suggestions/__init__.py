"""Suggestions of labels, and where they come from."""
