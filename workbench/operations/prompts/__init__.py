"""Prompts: filled, rendered, scored."""
