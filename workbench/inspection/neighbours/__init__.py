"""The nearest words of each word of a text."""
