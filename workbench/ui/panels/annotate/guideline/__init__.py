"""The guideline beside the text, and examples for it."""
