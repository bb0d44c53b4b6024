"""The scores of all spans of words that a span classifier considers."""
