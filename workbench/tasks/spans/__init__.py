"""Span classification: every span of words up to a length is a candidate."""
