"""Masking of contiguous spans, and the span boundary objective."""
