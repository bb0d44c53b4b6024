"""Submitting and discarding a document."""
