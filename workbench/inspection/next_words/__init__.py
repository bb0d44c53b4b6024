"""The next word of a text, step by step."""
