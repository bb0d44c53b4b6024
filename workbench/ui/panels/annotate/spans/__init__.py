"""Spans in the texts."""
