"""Masked words and what a masked language model expects there."""
