"""Subword vocabularies: learned from text, compared, and applied step by step."""
